"""Who listens on a port, as the kernel knows it."""

import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LISTEN = "0A"
_REACHABLE = {"0.0.0.0", "127.0.0.1", "::", "::ffff:127.0.0.1"}  # noqa: S104 - read from the kernel, not bound


@dataclass(frozen=True)
class Listener:
    """A listening socket."""

    address: str
    port: int
    inode: int

    @property
    def reachable(self) -> bool:
        """Can a client reach it at 127.0.0.1?"""
        return self.address in _REACHABLE


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listeners(port: int | None = None) -> list[Listener]:
    """Every listening socket, or those on one port."""
    found: list[Listener] = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(FileNotFoundError):
            rows = Path(table).read_text().splitlines()[1:]
            found += [_listener(row.split()) for row in rows if row.split()[3] == _LISTEN]
    return [listener for listener in found if port in (None, listener.port)]


def owned(pids: set[int]) -> set[int]:
    """The socket inodes these processes hold."""
    inodes: set[int] = set()
    for pid in pids:
        with suppress(OSError):
            inodes |= {_inode(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
    return inodes - {0}


def _inode(link: Path) -> int:
    with suppress(OSError):
        target = str(link.readlink())
        return int(target[8:-1]) if target.startswith("socket:[") else 0
    return 0


def _listener(words: list[str]) -> Listener:
    address, _, port = words[1].partition(":")
    return Listener(_address(address), int(port, 16), int(words[9]))


def _address(text: str) -> str:
    if len(text) == 8:
        return socket.inet_ntop(socket.AF_INET, bytes.fromhex(text)[::-1])
    words = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, 32, 8)]
    return socket.inet_ntop(socket.AF_INET6, b"".join(words))
