"""Which ports a server gets, and that each of them is its own."""

import json
from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import PortTaken, ServerNotReady
from harness_executor.evidence.ports import Ports, filled, has_fixed
from harness_executor.evidence.server import Stand, running_server
from harness_executor.evidence.sockets import free_port
from harness_executor.sandbox.base import Sandbox
from harness_executor.workspace.project import Readiness, Start
from tests.evidence.apps import SOCKET_APP, write_app
from tests.rooms import NO_BOX, PYTHON, room, sandbox_named

TWO = SOCKET_APP + (
    "admin = listen(port=int(os.environ['ADMIN']))\n"
    "said = b'HTTP/1.1 200 OK\\r\\ncontent-length: 5\\r\\n\\r\\nadmin'\n"
    "threading.Thread(target=answer, args=(admin, said), daemon=True).start()\nanswer(listen())\n"
)


def two(port: int = 0) -> Start:
    """A server with a second port."""
    return Start(
        f"exec {PYTHON} app.py {{port}}",
        env={"ADMIN": "{port.admin}"},
        ports={"admin": port},
        readiness=Readiness("tcp", timeout_seconds=5.0),
    )


def test_every_port_is_filled_in_and_proved_ours(tmp_path: Path, sandbox: Sandbox) -> None:
    """A server with two ports answers on both, and both are gone with it."""
    stand = Stand(room(write_app(tmp_path / "tree", TWO)), tmp_path / "log")
    with running_server(two(), stand, sandbox, SystemClock()) as server:
        server.prove_ours()
        with server.box.dial(server.ports.named["admin"]) as line:
            line.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert b"admin" in line.recv(200)
    assert server.port_is_free()


def test_a_port_that_nobody_serves_is_not_ready(tmp_path: Path, sandbox: Sandbox) -> None:
    """Each port must be listened on."""
    stand = Stand(room(write_app(tmp_path / "tree", SOCKET_APP + "answer(listen())\n")), tmp_path / "log")
    start = Start(
        f"exec {PYTHON} app.py {{port}}",
        ports={"admin": 0},
        readiness=Readiness("tcp", "", None, "", None, 1.0),
    )
    with pytest.raises(ServerNotReady), running_server(start, stand, sandbox, SystemClock()):
        pytest.fail("it was taken as ready")


def test_a_named_port_can_be_taken(tmp_path: Path) -> None:
    """A further port that somebody else listens on is refused before the start."""
    port = free_port()
    stand = Stand(room(write_app(tmp_path / "tree", TWO)), tmp_path / "log")
    with running_server(two(port), stand, sandbox_named(NO_BOX), SystemClock()):
        other = Stand(stand.room, tmp_path / "other")
        with pytest.raises(PortTaken), running_server(two(port), other, sandbox_named(NO_BOX), SystemClock()):
            pytest.fail("it was started")


def test_only_a_number_that_was_named_is_fixed() -> None:
    """Two servers with a number in common cannot share a network."""
    assert has_fixed(two(9000))
    assert not has_fixed(two())


def test_only_known_placeholders_are_filled_in() -> None:
    """Other braces of a command stay as they are."""
    text = json.dumps({"a": "{port}", "b": "{port.admin}", "c": "{other}"})
    assert filled(text, Ports(1, {"admin": 2}).values()) == '{"a": "1", "b": "2", "c": "{other}"}'
