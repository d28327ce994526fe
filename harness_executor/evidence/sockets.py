"""Who listens on a port, as the kernel knows it."""

import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness_executor.clock import draw_number
from harness_executor.kernel.frozen import frozen

_LISTEN = 0x0A
_ACCEPTS = "00010000"
"""The flags of a local socket that listens."""
_SOCK_DIAG = 4
_QUESTION = struct.Struct("=LHHLLBBBBL48x")
_HEADER = struct.Struct("=LHHLL")
_DUMP, _DONE, _BY_FAMILY = 0x301, 3, 20
_REACHABLE = {"0.0.0.0", "127.0.0.1", "::", "::ffff:127.0.0.1"}  # noqa: S104 - read from the kernel, not bound

_PORTS = range(18_000, 32_000)


@frozen
class Listener:
    """A listening socket."""

    address: str
    port: int
    inode: int

    @property
    def reachable(self) -> bool:
        """Can a client reach it at 127.0.0.1?"""
        return self.address in _REACHABLE


def reached(found: Iterable[Listener]) -> list[Listener]:
    """Those that a client meets: at 127.0.0.1, and at ::1 only where nobody is there."""
    there = list(found)
    return [one for one in there if one.reachable] or [one for one in there if one.address == "::1"]


def local_sockets(tables: Path, inodes: set[int]) -> list[str]:
    """The names of listening sockets of the file system, of which these are held."""
    with suppress(OSError):
        rows = [row.split(None, 7) for row in (tables / "unix").read_text(errors="replace").splitlines()[1:]]
        named = [row for row in rows if len(row) == 8 and row[3] == _ACCEPTS]
        return [row[7] for row in named if int(row[6]) in inodes]
    return []


def free_port() -> int:
    """A port nobody listens on, drawn below the range from which the kernel gives ports away."""
    while True:
        port = _PORTS[draw_number(len(_PORTS))]
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def inquiry() -> socket.socket:
    """A socket on which the kernel answers who listens on this machine."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)


def listeners(
    port: int | None = None,
    inquire: Callable[[], socket.socket] = inquiry,
    tables: Path = Path("/proc/net"),
) -> list[Listener]:
    """Every listening socket of a network, or those on one port."""
    try:
        with inquire() as kernel:
            found = ask_kernel(kernel)
    except OSError:
        found = read_tables(tables)
    return [listener for listener in found if port in (None, listener.port)]


@dataclass
class Lookout:
    """Looks again and again who listens in one network; what it looks with keeps that until it is closed."""

    inquire: Callable[[], socket.socket]
    tables: Callable[[], Path]
    kernel: socket.socket | None = None

    def listeners(self) -> list[Listener]:
        """Every listening socket."""
        try:
            self.kernel = self.kernel or self.inquire()
            return ask_kernel(self.kernel)
        except OSError:
            self.close()
            return read_tables(self.tables())

    def close(self) -> None:
        """Let go of the network."""
        if self.kernel:
            self.kernel.close()
            self.kernel = None


def ask_kernel(kernel: socket.socket) -> list[Listener]:
    """Every listening socket, by a question that costs a hundredth of reading the tables."""
    return [*_asked(kernel, socket.AF_INET), *_asked(kernel, socket.AF_INET6)]


def read_tables(tables: Path = Path("/proc/net")) -> list[Listener]:
    """Every listening socket, where the question is not allowed."""
    found: list[Listener] = []
    for name in ("tcp", "tcp6"):
        with suppress(FileNotFoundError):
            rows = [row.split() for row in (tables / name).read_text().splitlines()[1:]]
            found += [_listener(words) for words in rows if int(words[3], 16) == _LISTEN]
    return found


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


def _asked(kernel: socket.socket, family: socket.AddressFamily) -> Iterator[Listener]:
    words = (_QUESTION.size, _BY_FAMILY, _DUMP, 0, 0, family, socket.IPPROTO_TCP, 0, 0, 1 << _LISTEN)
    kernel.send(_QUESTION.pack(*words))
    for kind, body in _messages(kernel):
        if kind == _DONE:
            return
        yield _described(family, kind, body)


def _messages(kernel: socket.socket) -> Iterator[tuple[int, bytes]]:
    while True:
        answer = kernel.recv(65_536)
        while answer:
            length, kind, *_ = _HEADER.unpack_from(answer)
            yield kind, answer[_HEADER.size : length]
            answer = answer[(length + 3) // 4 * 4 :]


def _described(family: socket.AddressFamily, kind: int, body: bytes) -> Listener:
    if kind != _BY_FAMILY:
        raise OSError("the kernel does not list its sockets")
    (port,), (inode,) = struct.unpack_from("!H", body, 4), struct.unpack_from("=L", body, 68)
    return Listener(socket.inet_ntop(family, body[8 : 12 if family == socket.AF_INET else 24]), port, inode)


def _listener(words: list[str]) -> Listener:
    address, _, port = words[1].partition(":")
    return Listener(_address(address), int(port, 16), int(words[9]))


def _address(text: str) -> str:
    if len(text) == 8:
        return socket.inet_ntop(socket.AF_INET, bytes.fromhex(text)[::-1])
    words = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, 32, 8)]
    return socket.inet_ntop(socket.AF_INET6, b"".join(words))
