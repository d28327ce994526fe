"""Is a server up? What counts, and what only looks like it."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import ServerError, ServerExited, ServerNotReady
from harness_executor.evidence.server import Server, Stand, running_server
from harness_executor.sandbox.base import Sandbox
from harness_executor.workspace.project import Readiness, Start
from tests.evidence.apps import SOCKET_APP, json_app, write_app
from tests.patience import LateClock
from tests.rooms import PYTHON, room

REDIRECTS = (
    "answer(listen(), b'HTTP/1.1 302 Found\\r\\nlocation: /login\\r\\ncontent-length: 0\\r\\n\\r\\n')\n"
)
WARMS_UP = (
    "listener = listen()\n"
    "answer(listener, b'HTTP/1.1 503 Busy\\r\\ncontent-length: 0\\r\\n\\r\\n', 3)\nanswer(listener)\n"
)


def waits(tmp_path: Path, sandbox: Sandbox, code: str, **ready: Any) -> Server:
    """A program that was ready, and is ended again."""
    clock = ready.pop("clock", SystemClock())
    ready.setdefault("timeout_seconds", 20.0)
    how = Start(f"exec {PYTHON} app.py {{port}}", readiness=Readiness(**ready))
    tree = write_app(tmp_path / "tree", code)
    stand = Stand(room(tree), tmp_path / "server.log")
    with running_server(how, stand, sandbox, clock) as server:
        return server


def refuses(tmp_path: Path, sandbox: Sandbox, code: str, **ready: Any) -> ServerError:
    """The error of a program that is not ready in time, which begins with its first word."""
    clock = LateClock(tmp_path / "server.log")
    with pytest.raises(ServerNotReady) as caught:
        waits(tmp_path, sandbox, code, clock=clock, **{"timeout_seconds": 1.5, **ready})
    return caught.value


@pytest.mark.parametrize("endpoint", ["/", "/health"])
def test_a_redirect_is_not_ready(tmp_path: Path, sandbox: Sandbox, endpoint: str) -> None:
    """A server that only says where else to ask has not answered."""
    error = refuses(tmp_path, sandbox, SOCKET_APP + REDIRECTS, type="http", endpoint=endpoint)
    assert "it redirects with 302" in error.message


@pytest.mark.parametrize("endpoint", ["/", "/health"])
def test_one_answer_for_everything_is_not_ready(tmp_path: Path, sandbox: Sandbox, endpoint: str) -> None:
    """A path that is answered like any other says nothing about the server."""
    code = SOCKET_APP + "answer(listen())\n"
    error = refuses(tmp_path, sandbox, code, type="http", endpoint=endpoint)
    assert f"any other path is answered in the same way as {endpoint}" in error.message


@pytest.mark.parametrize("status", [404, 401, 500])
def test_an_endpoint_that_says_no_is_not_ready(tmp_path: Path, sandbox: Sandbox, status: int) -> None:
    """Only what is expected of an endpoint counts, and unsaid that is success."""
    code = json_app({"/health": (status, {})})
    error = refuses(tmp_path, sandbox, code, type="http", endpoint="/health")
    assert f"it answers {status}" in error.message


@pytest.mark.parametrize("status", [401, 404, 302])
def test_a_status_that_was_asked_for_is_ready(tmp_path: Path, sandbox: Sandbox, status: int) -> None:
    """Whoever knows that the endpoint says no can say so."""
    code = json_app({"/health": (status, {"h": 1})})
    ready = {"type": "http", "endpoint": "/health", "expected_status": status}
    assert waits(tmp_path, sandbox, code, **ready).ready_in > 0


@pytest.mark.parametrize("kind", ["", "http", "tcp"])
@pytest.mark.parametrize("status", [200, 302, 401, 404])
def test_a_server_of_which_nothing_is_known_is_not_refused(
    tmp_path: Path, sandbox: Sandbox, kind: str, status: int
) -> None:
    """Without an endpoint, no meaning is read into an answer: one that says no everywhere is up too."""
    code = json_app({}, otherwise=(status, {}))
    assert waits(tmp_path, sandbox, code, type=kind).ready_in > 0


def test_the_first_page_is_never_asked_for_unasked(tmp_path: Path, sandbox: Sandbox) -> None:
    """A server whose first page is broken or does something is up all the same, and was not asked for it."""
    more = "DO = Api.do_GET\ndef seen(self):\n    print('asked', self.path, flush=True)\n    DO(self)\n"
    code = json_app({"/": (500, {})}, more=more + "Api.do_GET = seen\n")
    server = waits(tmp_path, sandbox, code)
    asked = [line for line in server.log.read_text().splitlines() if line.startswith("asked")]
    assert asked
    assert "asked /" not in asked


@pytest.mark.parametrize("kind", ["", "http"])
def test_a_server_that_listens_before_it_is_up_is_waited_for(
    tmp_path: Path, sandbox: Sandbox, kind: str
) -> None:
    """Answers that say busy are waited out, also where nobody said what to wait for."""
    assert waits(tmp_path, sandbox, SOCKET_APP + WARMS_UP, type=kind).ready_in > 0


def test_a_server_that_fails_at_what_it_does_not_know_is_up_after_a_while(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    """Where nobody said what to wait for, a broken page for unknown paths is what this server has."""
    code = json_app({"/items": (200, [])}, otherwise=(500, {}))
    assert waits(tmp_path, sandbox, code, timeout_seconds=20.0).ready_in >= 5.0


def test_a_server_that_says_it_cannot_serve_is_not_up(tmp_path: Path, sandbox: Sandbox) -> None:
    """However long it says so, and also where nobody said what to wait for."""
    code = json_app({}, otherwise=(503, {}))
    error = refuses(tmp_path, sandbox, code, timeout_seconds=6.0)
    assert "it answers 503" in error.message
    assert "startup.readiness" in error.hint


def test_a_text_of_the_answer_is_waited_for(tmp_path: Path, sandbox: Sandbox) -> None:
    """A healthy page over a dead database is not ready."""
    code = json_app({"/health": (200, {"database": "down"})})
    ready = {"type": "http", "endpoint": "/health", "body_contains": '"up"'}
    assert "its answer does not hold" in refuses(tmp_path, sandbox, code, **ready).message
    code = json_app({"/health": (200, {"database": "up"})})
    assert waits(tmp_path, sandbox, code, **ready).ready_in > 0


def test_a_command_says_when_a_server_is_up(tmp_path: Path, sandbox: Sandbox) -> None:
    """A command in the same box, with the same port, is tried until it agrees."""
    code = SOCKET_APP + (
        "listener = listen()\nthreading.Thread(target=answer, args=(listener,), daemon=True).start()\n"
        "time.sleep(0.4)\nopen('up', 'w').write(str(port))\ntime.sleep(600)\n"
    )
    ready = {"type": "process", "command": 'test "$(cat up)" = {port} && test "$PORT" = {port}'}
    assert waits(tmp_path, sandbox, code, **ready).ready_in >= 0.3
    error = refuses(tmp_path, sandbox, code, type="process", command="echo not yet; exit 3")
    assert "`echo not yet; exit 3` ends with code 3: not yet" in error.message


def test_a_server_that_says_so_and_dies_is_not_ready(tmp_path: Path, sandbox: Sandbox) -> None:
    """A line in the log does not make a server that ends right after it."""
    code = SOCKET_APP + "listen()\nprint('ready', flush=True)\nos._exit(4)\n"
    with pytest.raises(ServerExited, match="ended with code 4"):
        waits(tmp_path, sandbox, code, type="log", pattern="ready")


@pytest.mark.parametrize("kind", ["", "http"])
def test_a_server_that_speaks_tls_is_diagnosed(tmp_path: Path, sandbox: Sandbox, kind: str) -> None:
    """The refusal says that it is TLS, and what to do."""
    certificate = "req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout k -out c -days 2"
    (tmp_path / "tree").mkdir()
    subprocess.run(["openssl", *certificate.split()], cwd=tmp_path / "tree", check=True, capture_output=True)
    code = (
        "import ssl, sys\nfrom http.server import HTTPServer, BaseHTTPRequestHandler\n"
        "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\ncontext.load_cert_chain('c', 'k')\n"
        "server = HTTPServer(('127.0.0.1', int(sys.argv[1])), BaseHTTPRequestHandler)\n"
        "server.socket = context.wrap_socket(server.socket, server_side=True)\n"
        "print('up', flush=True)\nserver.serve_forever()\n"
    )
    error = refuses(tmp_path, sandbox, code, type=kind, timeout_seconds=4.0)
    assert "it speaks TLS" in error.message
    assert "without TLS" in error.hint


def test_a_server_that_takes_its_time_is_waited_for(tmp_path: Path, sandbox: Sandbox) -> None:
    """A slow start is within its time, and what it took is told."""
    began = time.monotonic()
    server = waits(tmp_path, sandbox, SOCKET_APP + "time.sleep(1.2)\nanswer(listen())\n")
    assert 1.0 <= server.ready_in <= time.monotonic() - began


def test_a_command_that_leaves_its_server_is_told_what_to_do(tmp_path: Path, sandbox: Sandbox) -> None:
    """A server in the background ends with its command, and the hint says so."""
    code = (
        "import time\n"
        + SOCKET_APP
        # the command is over before its server listens; one that listens first is caught after the scenarios
        + "if os.fork():\n    os._exit(0)\nos.setsid()\ntime.sleep(1)\nanswer(listen())\n"
    )
    with pytest.raises(ServerExited) as caught:
        waits(tmp_path, sandbox, code)
    assert "in the foreground" in caught.value.hint


def test_another_answer_than_the_one_hoped_for_will_do_at_last(tmp_path: Path, sandbox: Sandbox) -> None:
    """Where nobody insists on a page, a server that answers otherwise is up; one that fails is not."""
    hoped: dict[str, Any] = {"type": "http", "endpoint": "/", "expected_status": 200, "lenient": True}
    assert waits(tmp_path, sandbox, SOCKET_APP + REDIRECTS, **hoped).ready_in > 0
    fails = "answer(listen(), b'HTTP/1.1 500 Broken\\r\\ncontent-length: 0\\r\\n\\r\\n')\n"
    refuses(tmp_path / "b", sandbox, SOCKET_APP + fails, **hoped, timeout_seconds=3.0)
