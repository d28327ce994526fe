"""A server under test: when it is ready, whose it is, and that it is gone."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness_executor.clock import Clock, SystemClock
from harness_executor.errors import ForeignListener, PortTaken, ServerError, ServerExited, ServerNotReady
from harness_executor.evidence.carrying import Dialed
from harness_executor.evidence.ports import fixed_port
from harness_executor.evidence.server import Server, Stand, running_server
from harness_executor.evidence.sockets import free_port, listeners
from harness_executor.sandbox.base import Sandbox
from harness_executor.workspace.project import Readiness, Start
from tests.evidence.apps import SOCKET_APP, json_app, start, write_app
from tests.patience import LateClock, until
from tests.rooms import BOX, NO_BOX, PYTHON, room, sandbox_named

IDLE = SOCKET_APP + "print('up', flush=True)\ntime.sleep(600)\n"
OK = json_app({"/": (200, {"ok": True}), "/busy": (503, {}), "/health": (204, {})})


class Ground:
    """A folder with one program, and the means to run it."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.tree = folder / "tree"
        self.log = folder / "server.log"
        self.patience = 0.0
        self.clock: Clock = SystemClock()

    def run(self, code: str, how: Start) -> AbstractContextManager[Server]:
        """The program, started and ready."""
        write_app(self.tree, code)
        stand = Stand(room(self.tree), self.log, patience=self.patience)
        return running_server(how, stand, self.sandbox, self.clock)

    def refuses(self, code: str, how: Start, kind: type[ServerError]) -> ServerError:
        """The error of a program that cannot be used; its time begins with its first word."""
        self.clock = LateClock(self.log)
        with pytest.raises(kind) as caught, self.run(code, how):
            pytest.fail("the server was taken as ready")
        return caught.value


@pytest.fixture
def ground(tmp_path: Path, sandbox: Sandbox) -> Ground:
    """Where a server of this test runs."""
    return Ground(tmp_path, sandbox)


@pytest.fixture
def shared(tmp_path: Path) -> Ground:
    """Where a server runs among strangers: on the machine itself."""
    return Ground(tmp_path, sandbox_named(NO_BOX))


@pytest.fixture
def boxed(tmp_path: Path) -> Ground:
    """Where a server has a network to itself."""
    return Ground(tmp_path, sandbox_named(BOX))


def status(server: Server, path: str = "/") -> int:
    """What the server answers."""
    with httpx2.Client(transport=Dialed(server.box.dial), trust_env=False) as client:
        return client.get(f"{server.url}{path}").status_code


def exists(pid: int) -> bool:
    """Is there such a process?"""
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    "ready",
    [
        {"type": "tcp"},
        {"type": "http", "endpoint": "/"},
        {"type": "http"},
        {"type": "http", "endpoint": "/health", "expected_status": 204},
    ],
    ids=["tcp", "http", "any answer below 500", "the expected status"],
)
def test_a_server_is_ready_when_it_answers(ground: Ground, ready: dict[str, Any]) -> None:
    """Each way of being ready lets the first request through, and the end takes everything away."""
    with ground.run(OK, start(**ready)) as server:
        assert status(server) == 200
        assert server.ready_in > 0
        server.prove_ours()
        pids = server.running.pids()
        assert pids
        assert not server.port_is_free()
    assert server.stopped
    assert server.port_is_free()
    assert not [pid for pid in pids if exists(pid)]


def test_a_server_is_ready_when_its_log_says_so(ground: Ground) -> None:
    """A pattern in the log is waited for, even though the port is open already."""
    code = SOCKET_APP + (
        "listener = listen()\nthreading.Thread(target=answer, args=(listener,), daemon=True).start()\n"
        "time.sleep(0.3)\nprint('all 7 workers ready', flush=True)\ntime.sleep(600)\n"
    )
    with ground.run(code, start(type="log", pattern=r"all \d workers")) as server:
        assert server.ready_in >= 0.2
        assert status(server) == 200


def test_a_server_that_warms_up_is_waited_for(ground: Ground) -> None:
    """A 503 at the beginning is not ready yet."""
    code = SOCKET_APP + (
        "listener = listen()\n"
        "answer(listener, b'HTTP/1.1 503 Busy\\r\\ncontent-length: 0\\r\\n\\r\\n', 3)\nanswer(listener)\n"
    )
    with ground.run(code, start(type="http")) as server:
        assert status(server) == 200


def test_a_server_is_ready_though_its_first_page_never_ends(ground: Ground) -> None:
    """Only the status of the readiness endpoint is waited for, not the end of its body."""
    code = SOCKET_APP + (
        "def tick(connection):\n    connection.recv(65536)\n"
        "    connection.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n')\n"
        "    while True:\n        connection.sendall(b'tick')\n        time.sleep(0.05)\n"
        "listener = listen()\n"
        "while True:\n    threading.Thread(target=tick, args=(listener.accept()[0],), daemon=True).start()\n"
    )
    began = time.monotonic()
    with ground.run(code, start(type="http", seconds=5.0)) as server:
        server.prove_ours()
    assert time.monotonic() - began < 15


def test_a_slow_server_on_its_own_port_is_not_given_up(ground: Ground) -> None:
    """However little is waited for those that listen elsewhere only."""
    code = SOCKET_APP + (
        "listener = listen()\nuntil = time.monotonic() + 3\nwhile True:\n"
        "    connection = listener.accept()[0]\n    connection.recv(65536)\n    time.sleep(0.6)\n"
        "    said = b'200 OK' if time.monotonic() > until else b'503 Busy'\n"
        "    connection.sendall(b'HTTP/1.1 ' + said + b'\\r\\ncontent-length: 0\\r\\n\\r\\n')\n"
        "    connection.close()\n"
    )
    ground.patience = 0.5
    with ground.run(code, start(type="http", seconds=20.0)) as server:
        server.prove_ours()


def test_a_server_that_never_listens_is_refused_with_its_log(ground: Ground) -> None:
    """The refusal says how long was waited, that it listens nowhere, and what it said last."""
    error = ground.refuses(
        SOCKET_APP + "print('waiting for the database', flush=True)\ntime.sleep(600)\n",
        start(seconds=1.5),
        ServerNotReady,
    )
    assert "within 1.5 s (tcp); it listens nowhere" in error.message
    assert error.message.endswith("waiting for the database")
    assert "{port}" in error.hint


def test_a_server_on_another_port_is_diagnosed(ground: Ground) -> None:
    """The refusal says where the server does listen."""
    other = free_port()
    error = ground.refuses(SOCKET_APP + f"answer(listen(port={other}))\n", start(seconds=1.5), ServerNotReady)
    assert f"it listens on 127.0.0.1 port {other}" in error.message


def test_a_server_on_ipv6_only_is_reached(ground: Ground) -> None:
    """A server that listens at ::1 alone is asked there."""
    code = SOCKET_APP + "answer(listen('::1', socket.AF_INET6))\n"
    with ground.run(code, start()) as server:
        assert status(server) == 200
        server.prove_ours()


def test_a_server_on_a_local_socket_is_diagnosed(ground: Ground) -> None:
    """The refusal names the socket of the file system that the server listens on."""
    code = SOCKET_APP + (
        "local = socket.socket(socket.AF_UNIX)\nlocal.bind('here.sock')\nlocal.listen()\n"
        "print('up', flush=True)\ntime.sleep(600)\n"
    )
    error = ground.refuses(code, start(seconds=1.5), ServerNotReady)
    assert "it listens on the local socket here.sock" in error.message


@pytest.mark.parametrize(
    ("ready", "said"),
    [
        ({"type": "http", "endpoint": "/busy"}, "(http /busy): it answers 503"),
        (
            {"type": "http", "endpoint": "/", "expected_status": 201},
            "(http /): it answers 200; if the change is about that page, `lenient: true`",
        ),
        ({"type": "log", "pattern": "never said"}, "(log)"),
    ],
    ids=["500s", "another status", "log"],
)
def test_a_server_that_listens_but_is_not_ready_is_refused(
    ground: Ground, ready: dict[str, Any], said: str
) -> None:
    """Listening is not enough when more was asked for."""
    error = ground.refuses(OK, start(seconds=1.5, **ready), ServerNotReady)
    assert said in error.message
    assert "it listens on 127.0.0.1 port" in error.message


def test_a_server_that_takes_requests_and_says_nothing_is_not_ready(ground: Ground) -> None:
    """A server that accepts and hangs is refused when its time is over."""
    error = ground.refuses(
        SOCKET_APP + "listener = listen()\ntime.sleep(600)\n", start(seconds=0.5, type="http"), ServerNotReady
    )
    assert "it listens on 127.0.0.1" in error.message


def test_a_server_that_never_comes_to_its_answer_is_not_ready(ground: Ground) -> None:
    """A server whose header trickles without end does not hold the harness."""
    code = SOCKET_APP + (
        "listener = listen()\nwhile True:\n    connection, _ = listener.accept()\n"
        "    connection.sendall(b'HTTP/1.1 200 OK\\r\\nX: ')\n"
        "    for _ in range(400):\n        connection.sendall(b'a')\n        time.sleep(0.05)\n"
    )
    began = time.monotonic()
    ground.refuses(code, start(seconds=0.5, type="http"), ServerNotReady)
    assert time.monotonic() - began < 15


def test_an_endpoint_that_is_no_address_is_not_ready(ground: Ground) -> None:
    """An endpoint from which no address can be made is a refusal, not a crash."""
    ground.refuses(OK, start(seconds=1.5, type="http", endpoint=":99999/"), ServerNotReady)


@pytest.mark.parametrize("code", [0, 1, 3])
def test_a_server_that_exits_at_once_is_told_with_its_code(ground: Ground, code: int) -> None:
    """An end is an end, also with code 0, and the log says why."""
    error = ground.refuses(
        SOCKET_APP + f"print('no config', flush=True)\nsys.exit({code})\n", start(), ServerExited
    )
    assert f"the server ended with code {code}: `exec" in error.message
    assert error.message.endswith("no config")


def test_a_command_that_goes_to_the_background_has_ended(ground: Ground) -> None:
    """A server that leaves its command is not kept, and leaves nothing behind."""
    port = free_port()
    how = replace(start(port=port), command=start(port=port).command.removeprefix("exec ") + " & exit 0")
    ground.refuses(OK, how, ServerExited)
    assert listeners(port) == []


def test_a_command_that_cannot_start_is_told(ground: Ground) -> None:
    """A missing program is named by the shell."""
    error = ground.refuses(OK, Start("no-such-program --port {port}"), ServerExited)
    assert "ended with code 127" in error.message
    assert "no-such-program" in error.message


def test_a_program_that_a_box_does_not_show_is_told(boxed: Ground, shared: Ground, tmp_path: Path) -> None:
    """What starts on the machine and not in a box is refused with the setting that shows more."""
    away = tmp_path / "away" / "serve"
    away.parent.mkdir()
    away.write_text(f"#!/bin/sh\nexec {PYTHON} app.py $1\n")
    away.chmod(0o755)
    with shared.run(OK, Start(f"{away} {{port}}")) as server:
        assert status(server) == 200
    error = boxed.refuses(OK, Start(f"{away} {{port}}"), ServerExited)
    assert "ended with code 127" in error.message
    assert "`[sandbox] read`" in error.hint


def test_a_missing_folder_is_told(ground: Ground) -> None:
    """A server whose folder is not in the tree is refused with the folder's name."""
    error = ground.refuses(OK, replace(start(), working_dir="gone"), ServerExited)
    assert "tree/gone: No such file or directory" in error.message


def test_a_server_runs_in_its_folder(ground: Ground) -> None:
    """The folder of the start command lies in the tree."""
    write_app(ground.tree / "sub", OK)
    with ground.run("raise SystemExit(9)", replace(start(), working_dir="sub")) as server:
        assert status(server) == 200


def test_a_server_that_dies_midway_is_told(ground: Ground) -> None:
    """After a server died nobody calls it ours, and its code and last words are given."""
    code = SOCKET_APP + "answer(listen(), times=1)\nprint('out of memory', flush=True)\nos._exit(7)\n"
    with ground.run(code, start()) as server:
        server.prove_ours()
        assert status(server) == 200
        assert server.running.wait(10.0) == 7
        with pytest.raises(ServerExited, match="ended with code 7") as caught:
            server.prove_ours()
        assert caught.value.message.endswith("out of memory")
    assert server.stopped


def test_a_server_that_closes_its_port_is_told(ground: Ground) -> None:
    """A server that runs on without listening is not one that answers."""
    code = SOCKET_APP + "listener = listen()\nanswer(listener, times=1)\nlistener.close()\ntime.sleep(600)\n"
    with ground.run(code, start()) as server:
        assert status(server) == 200
        assert until(lambda: not listeners(server.port, server.box.inquire))
        with pytest.raises(ServerExited, match=f"no longer listens on port {server.port}"):
            server.prove_ours()


def test_a_port_that_is_taken_is_refused_before_the_start(shared: Ground) -> None:
    """When somebody listens on the port a server insists on, it is not even started."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        error = shared.refuses(OK, start(port=port), PortTaken)
    assert f"port {port} is taken" in error.message
    assert not shared.log.exists()


def test_s04_a_port_that_is_taken_outside_is_free_in_a_box(boxed: Ground) -> None:
    """Somebody who listens on the machine's port is neither asked nor in the way."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with boxed.run(OK, start(port=port)) as server:
            assert server.port == port
            assert status(server, "/health") == 204
            server.prove_ours()
        other.settimeout(0)
        with pytest.raises(BlockingIOError):
            other.accept()
    assert server.port_is_free()


def test_two_servers_have_one_port_at_once_in_boxes(boxed: Ground, tmp_path: Path) -> None:
    """Each box answers for itself, whatever else has the same number."""
    port = free_port()
    other = Ground(tmp_path / "other", boxed.sandbox)
    with (
        boxed.run(OK, start(port=port)) as one,
        other.run(OK.replace("204", "202"), start(port=port)) as two,
    ):
        assert (status(one, "/health"), status(two, "/health")) == (204, 202)
        one.prove_ours()
        two.prove_ours()
        assert listeners(port) == []


def test_a_server_gets_the_port_it_insists_on(ground: Ground) -> None:
    """A port that is named and not left open is the one that is used."""
    port = free_port()
    with ground.run(OK, start(port=port)) as server:
        assert server.port == port
        assert status(server) == 200


def test_a_port_is_fixed_only_when_the_command_takes_no_other() -> None:
    """A start command or a variable with {port} in it may get any port."""
    named = Readiness(port=8000)
    assert fixed_port(Start("run", readiness=named)) == 8000
    assert fixed_port(Start("run --port {port}", readiness=named)) is None
    assert fixed_port(Start("run", env={"LISTEN": ":{port}"}, readiness=named)) is None
    assert fixed_port(Start("run")) is None


def test_a_listener_that_is_not_ours_is_refused(shared: Ground) -> None:
    """A process outside our tree that answers on our port proves nothing."""
    waiting = SOCKET_APP + "open('port', 'w').write(sys.argv[1])\ntime.sleep(600)\n"
    with ExitStack() as stack:
        threading.Thread(target=squat, args=(shared.tree / "port", stack)).start()
        error = shared.refuses(waiting, start(), ForeignListener)
    assert "is answered by a process the harness did not start" in error.message


def test_a_listener_outside_is_not_taken_for_the_boxed_server(boxed: Ground) -> None:
    """A box in which nobody listens is not ready, whoever answers on the same port of the machine."""
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        error = boxed.refuses(IDLE, start(port=port, seconds=1.5), ServerNotReady)
    assert "it listens nowhere" in error.message


def test_a_listener_beside_ours_is_refused(shared: Ground) -> None:
    """When a stranger shares our port, no answer can be told to be ours."""
    code = SOCKET_APP.replace("SO_REUSEADDR", "SO_REUSEPORT") + "answer(listen())\n"
    with shared.run(code, start()) as server, socket.socket() as stranger:
        server.prove_ours()
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        stranger.bind(("127.0.0.1", server.port))
        stranger.listen()
        with pytest.raises(ForeignListener):
            server.prove_ours()


def test_a_stranger_who_cannot_be_reached_does_no_harm(ground: Ground) -> None:
    """A listener on another address of the machine does not answer for ours."""
    with ground.run(OK, start()) as server, socket.socket() as stranger:
        stranger.bind(("127.0.0.2", server.port))
        stranger.listen()
        server.prove_ours()
        assert not server.port_is_free()


def test_a_server_in_a_child_process_is_ours(ground: Ground) -> None:
    """Workers that a server forks, even in sessions of their own, are ours and end with it."""
    code = SOCKET_APP + (
        "listener = listen()\n"
        "for _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        answer(listener)\n"
        "listener.close()\ntime.sleep(600)\n"
    )
    with ground.run(code, start()) as server:
        assert status(server) == 200
        server.prove_ours()
        assert until(lambda: len(server.running.pids()) >= 4)
        pids = server.running.pids()
    assert server.stopped
    assert server.port_is_free()
    assert not [pid for pid in pids if exists(pid)]


def test_a_server_that_ignores_sigterm_is_killed(ground: Ground) -> None:
    """A server that will not end is ended, after its grace."""
    code = SOCKET_APP + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nanswer(listen())\n"
    with ground.run(code, start()) as server:
        pids = server.running.pids()
        began = time.monotonic()
    assert time.monotonic() - began >= 5.0
    assert server.stopped
    assert server.port_is_free()
    assert not [pid for pid in pids if exists(pid)]


def test_a_flood_in_the_log_hangs_nothing(ground: Ground) -> None:
    """A server that writes without end still answers, and its log stays within its limit."""
    code = SOCKET_APP + (
        "threading.Thread(target=answer, args=(listen(),), daemon=True).start()\n"
        "while True:\n    os.write(1, b'x' * 65536)\n"
    )
    with ground.run(code, start(type="http")) as server:
        while ground.log.stat().st_size < 16_000_000:
            time.sleep(0.01)
        assert status(server) == 200
        assert len(server.tail()) <= 20_000
        server.prove_ours()
    assert server.stopped
    assert ground.log.stat().st_size == 16_000_000


def test_a_server_is_told_its_port_in_every_way(ground: Ground) -> None:
    """The port is in the command, in PORT and in any variable that asks for it."""
    code = SOCKET_APP + (
        "print(sys.argv[1], os.environ['PORT'], os.environ['HOST'], os.environ['LISTEN'], flush=True)\n"
        "answer(listen())\n"
    )
    with ground.run(code, replace(start(), env={"LISTEN": "at {port}!"})) as server:
        number = server.port
        assert until(lambda: "!" in ground.log.read_text())
        assert ground.log.read_text().startswith(f"{number} {number} 127.0.0.1 at {number}!\n")


def test_a_server_sees_no_secret_of_the_user(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and tokens of the user's environment do not reach the server."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    code = SOCKET_APP + "print(sorted(os.environ), flush=True)\nanswer(listen())\n"
    with ground.run(code, start()):
        assert until(lambda: "]" in ground.log.read_text())
        said = ground.log.read_text()
    assert "secret" not in said
    assert "TOKEN" not in said
    assert "PATH" in said


def test_a_server_is_ended_when_its_user_fails(ground: Ground) -> None:
    """Whatever goes wrong while a server runs, it does not stay."""
    with pytest.raises(ZeroDivisionError), ground.run(OK, start()) as server:
        _ = 1 / 0
    assert server.stopped
    assert server.port_is_free()


def test_a_server_may_be_ended_early(ground: Ground) -> None:
    """Ending a server twice is ending it once."""
    with ground.run(OK, start()) as server:
        server.stop()
        assert server.stopped
        assert server.port_is_free()
    assert server.stopped


def test_the_end_of_a_log_is_a_few_lines(ground: Ground) -> None:
    """Only the last lines of a log are shown, and the error they belong to; a missing log is empty."""
    with ground.run(OK, start()) as server:
        ground.log.write_text("".join(f"line {number}\n" for number in range(1000)))
        assert server.tail(2) == "line 998\nline 999"
        assert len(server.tail().splitlines()) == 30
        ground.log.write_text("error: no such role\n" + "  at a place\n" * 40 + "}\n")
        assert server.tail(2) == "error: no such role\n…\n  at a place\n}"
        ground.log.unlink()
        assert server.tail() == ""


def squat(note: Path, stack: ExitStack) -> None:
    """Listen, in the test's own process, on the port that is written down somewhere."""
    for _ in range(1000):
        if note.exists() and note.read_text():
            listener = socket.socket()
            listener.bind(("127.0.0.1", int(note.read_text())))
            listener.listen()
            stack.callback(listener.close)
            return
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def _no_server_left() -> Iterator[None]:
    """Every test ends with as many listeners as it began with in this process tree."""
    yield
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    left = [pid for pid in children if "keeper.py" in _words(pid)]
    assert left == []


def _words(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
