"""What a command could reach of the user's machine, each as a script that says `reached` when it did."""

import os
import socket
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REACHES = {
    "reads a file of the user": "print('reached', open(SECRET).read())",
    "lists the user's home": "print('reached', os.listdir(HOME))",
    "writes to the user's home": "open(HOME + '/planted', 'w').close(); print('reached')",
    "removes a file of the user": "os.remove(SPARE); print('reached')",
    "follows a link": "os.symlink(SECRET, 'link'); print('reached', open('link').read())",
    "links a file into the tree": "os.link(SECRET, 'hard'); print('reached', open('hard').read())",
    "reads the owner's environment": "print('reached', open(f'/proc/{OWNER}/environ', 'rb').read())",
    "reads the owner's words": "print('reached', open(f'/proc/{OWNER}/cmdline', 'rb').read())",
    "signals the owner": "os.kill(OWNER, 0); print('reached')",
    "reads the owner's memory": "os.open(f'/proc/{OWNER}/mem', os.O_RDONLY); print('reached')",
    "lowers a limit of the owner": (
        "import resource; resource.prlimit(OWNER, resource.RLIMIT_CORE, resource.prlimit(OWNER, "
        "resource.RLIMIT_CORE)); print('reached')"
    ),
    "slows the owner down": "os.setpriority(0, OWNER, os.getpriority(0, OWNER)); print('reached')",
    "connects to a server": "c = socket.create_connection(('127.0.0.1', PORT), 3); print('reached')",
    "connects by sending": (
        "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', PORT)); print('reached')"
    ),
    "sends a datagram": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'datagram', ('127.0.0.1', UDP))\n"
        "print('sent')"
    ),
    "connects to a socket among the files": (
        "socket.socket(socket.AF_UNIX).connect(SOCKET); print('reached')"
    ),
    "connects to a socket with a name": (
        "socket.socket(socket.AF_UNIX).connect('\\0' + NAME); print('reached')"
    ),
    "sends to a socket among the files": (
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "a.sendto(b'datagram', GRAMS); print('reached')"
    ),
    "sees the owner": "print('reached') if str(OWNER) in os.listdir('/proc') else print('not there')",
    "writes to the system": "open('/usr/planted-by-a-test', 'x'); print('reached')",
}
"""What is tried; the last one is tried in a box only."""


@dataclass(frozen=True)
class Outside:
    """What the user has, with servers that hear whoever comes."""

    home: Path
    names: dict[str, object]
    datagrams: list[socket.socket]

    def script(self, name: str) -> str:
        """A whole script for one of `REACHES`."""
        names = "".join(f"{key} = {value!r}\n" for key, value in self.names.items())
        return f"import socket\n{names}{textwrap.dedent(REACHES[name])}\n"

    def is_untouched(self) -> bool:
        """Is everything as it was, and did nobody come?"""
        kept = {path.name for path in self.home.iterdir() if path.name not in ("s", "g")}
        return kept == {"secret", "spare"} and not any(map(_heard, self.datagrams))


@contextmanager
def outside(home: Path) -> Iterator[Outside]:
    """A user with a secret, a spare file and servers of every kind."""
    (home / "secret").write_text("the user's own\n")
    (home / "spare").touch()
    name = f"harness-test-{os.getpid()}-{home.name}"
    addresses: list[tuple[socket.AddressFamily, tuple[str, int] | str]] = [
        (socket.AF_INET, ("127.0.0.1", 0)),
        (socket.AF_UNIX, str(home / "s")),
        (socket.AF_UNIX, f"\0{name}"),
    ]
    listening = [socket.socket(family) for family, _ in addresses]
    for server, (_, address) in zip(listening, addresses, strict=True):
        server.bind(address)
        server.listen()
    grams = [socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_UNIX)]
    grams[0].bind(("127.0.0.1", 0))
    grams[1].bind(str(home / "g"))
    names: dict[str, object] = {
        "HOME": str(home),
        "SECRET": str(home / "secret"),
        "SPARE": str(home / "spare"),
        "OWNER": os.getpid(),
        "PORT": listening[0].getsockname()[1],
        "UDP": grams[0].getsockname()[1],
        "SOCKET": str(home / "s"),
        "NAME": name,
        "GRAMS": str(home / "g"),
    }
    yield Outside(home, names, grams)
    for made in (*listening, *grams):
        made.close()
    for path in home.iterdir():
        path.unlink()


def _heard(server: socket.socket) -> bool:
    server.setblocking(False)
    try:
        return bool(server.recv(100))
    except BlockingIOError:
        return False
