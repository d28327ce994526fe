"""The way out of a box to one address of the user's, and to no other."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_executor.evidence.sockets import free_port
from harness_executor.sandbox.base import Command, Room
from harness_executor.sandbox.relay import forwarding
from tests.rooms import BOX, NO_BOX, PYTHON, sandbox_named

ASK = (
    "import socket\n"
    "with socket.create_connection(('127.0.0.1', {port}), 5) as line:\n"
    "    line.sendall(b'who')\n    print(line.recv(100).decode())\n"
)


@pytest.fixture
def outside() -> Iterator[int]:
    """A server of the user's on this machine; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            with line:
                line.sendall(b"outside heard " + line.recv(100))

    threading.Thread(target=answer, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.mark.parametrize("kind", [NO_BOX, BOX])
def test_one_address_is_reached_while_it_is_open(tmp_path: Path, outside: int, kind: str) -> None:
    """A command meets the user's server at its own loopback, and only within the block."""
    (tmp_path / "tree").mkdir()
    box = sandbox_named(kind).open(Room(tmp_path / "tree", tmp_path / "tree"))
    port = free_port()
    words = ("sh", "-c", f'{PYTHON} -c "{ASK.format(port=port)}"')
    command = Command(words, box.root, box.environment(), tmp_path / "log")
    try:
        with box.leading(port, ("127.0.0.1", outside)):
            assert box.run(command, 20).output.strip() == "outside heard who"
        assert not box.run(command, 20).ok
    finally:
        box.close()


def test_an_address_where_nobody_is_hangs_up(tmp_path: Path) -> None:
    """A relay that leads to nobody ends the connection instead of letting it wait."""
    (tmp_path / "tree").mkdir()
    box = sandbox_named(NO_BOX).open(Room(tmp_path / "tree", tmp_path / "tree"))
    port = free_port()
    with box.leading(port, ("127.0.0.1", free_port())), box.dial(port) as line:
        line.settimeout(10)
        assert line.recv(10) == b""


def test_a_listener_of_this_machine_can_lead_to_what_is_dialed(outside: int) -> None:
    """Whoever connects meets the other end of what was dialed, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        at = listener.getsockname()
        with (
            forwarding(listener, lambda: socket.create_connection(("127.0.0.1", outside), 5)),
            socket.create_connection(at, 5) as line,
        ):
            line.sendall(b"me")
            assert line.recv(100) == b"outside heard me"
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(at, 5)
