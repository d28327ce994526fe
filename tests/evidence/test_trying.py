"""Ways to start, tried on real servers in a box."""

import re
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.evidence import trying
from harness_executor.evidence.trying import Answered, Attempt, elsewhere, insisting, missing_in, try_all
from harness_executor.evidence.workbench import Bench
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.workspace.detect.detection import detect
from harness_executor.workspace.detect.environment import environment
from harness_executor.workspace.detect.remedies import PRISMA
from harness_executor.workspace.detect.values import Candidate, Kind, Place, Port
from tests.sandbox.tls import make_certificate
from tests.workspace.detect.trees import grow

SERVER = """
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        answers = {ANSWERS}
        status = answers.get(self.path, {OTHER})
        self.send_response(status)
        self.send_header("location", "/login")
        self.end_headers()
        self.wfile.write(self.path.encode())


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", {PORT}), App).serve_forever()
"""


def server(answers: str, other: int = 404, port: str = 'int(os.environ["PORT"])') -> dict[str, str]:
    """A server with these answers."""
    code = SERVER.replace("{ANSWERS}", answers).replace("{OTHER}", str(other)).replace("{PORT}", port)
    return {"serve.py": code}


def attempts(
    root: Path, files: dict[str, str], sandbox: Sandbox | None = None, given: Mapping[str, str] | None = None
) -> tuple[Attempt, ...]:
    """What comes of trying a project of these files."""
    tree = grow(root / "project", files)
    logs = root / "logs"
    logs.mkdir(exist_ok=True)
    bench = Bench(
        sandbox or PlainSandbox(), SystemClock(), lambda: Room(tree, tree), logs, addresses=given or {}
    )
    return try_all(detect(tree), bench)


def test_the_first_good_route_is_what_is_waited_for(tmp_path: Path) -> None:
    """A redirect and an error are passed over; the route that answers 2xx is taken."""
    best = attempts(tmp_path, server('{"/old": 302, "/items": 200}'))[0]
    assert (best.answered, best.endpoint, best.status) == (Answered.WELL, "/items", 200)
    config = best.choice().readiness["config"]
    assert (config["endpoint"], config["expected_status"]) == ("/items", 200)


def test_a_route_about_health_is_preferred(tmp_path: Path) -> None:
    """Even when it stands last in the code."""
    assert attempts(tmp_path, server('{"/items": 200, "/healthz": 204}'))[0].endpoint == "/healthz"


def test_what_a_strange_path_gets_too_proves_nothing(tmp_path: Path) -> None:
    """A server that answers everything alike is only waited for by its port."""
    files = server('{"/": 200}', other=200)
    files["serve.py"] = files["serve.py"].replace("self.path.encode()", 'b"welcome"')
    best = attempts(tmp_path, files)[0]
    assert (best.answered, best.endpoint) == (Answered.SOMEHOW, "")
    assert best.choice().readiness["type"] == "tcp"
    assert best.choice().confirmed


def test_a_failing_route_of_its_own_outweighs_a_page_for_people(tmp_path: Path) -> None:
    """A server whose health says 503 is not well because its documentation is served."""
    best = attempts(tmp_path, server('{"/health": 503, "/docs": 200}'))[0]
    assert (best.answered, best.choice().confirmed) == (Answered.BADLY, False)
    assert not attempts(tmp_path / "all", server('{"/health": 503}', other=500))[0].choice().confirmed


def test_what_ends_at_once_is_said_with_its_last_words(tmp_path: Path) -> None:
    """The package that is missing is named."""
    best = attempts(tmp_path, {"serve.py": "import nothing_like_it\n" + server("{}")["serve.py"]})[0]
    assert (best.answered, best.missing) == (Answered.NOT, "nothing_like_it")
    assert "nothing_like_it" in best.said


def test_what_ends_as_soon_as_it_is_asked_is_said_to_have_ended(tmp_path: Path) -> None:
    """A server that listened and died is not one that speaks no HTTP, and its error is told."""
    listening = 'HTTPServer(("127.0.0.1", int(os.environ["PORT"])), App)\n'
    dying = "__import__('time').sleep(0.5)\n    raise ValueError('no shop')\n"
    code = server("{}")["serve.py"].split("    HTTPServer(")[0] + f"    made = {listening}    {dying}"
    files = {"serve.py": code + "    made.serve_forever()\n"}
    best = attempts(tmp_path, files)[0]
    assert best.answered is Answered.NOT
    assert best.said.startswith("the server ended with code 1")
    assert "no shop" in best.said


def test_the_port_that_it_insists_on_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens elsewhere is found there, long before it is given up, and started there again."""
    monkeypatch.setattr(trying, "PATIENCE", 1.0)
    best, lost, *_ = attempts(tmp_path, server('{"/items": 200}', port='int("1" + "7613")'))
    assert (best.answered, best.candidate.fixed_port) == (Answered.WELL, 17613)
    waited = re.search(r"was not ready on port \d+ within ([\d.]+) s", lost.said)
    assert waited is not None
    assert trying.PATIENCE <= float(waited[1]) < trying.WAIT


def test_a_program_that_waits_to_be_mended_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What watches files stays, though the server that it started has ended."""
    monkeypatch.setattr(trying, "PATIENCE", 1.0)
    files = server("{}")
    said = "[nodemon] app crashed - waiting for file changes before starting..."
    files["serve.py"] = f"import time\nprint({said!r}, flush=True)\ntime.sleep(600)\n{files['serve.py']}"
    (lost, *_) = attempts(tmp_path, files)
    assert (lost.answered, "app crashed" in lost.said) == (Answered.NOT, True)
    assert "it ran and listened nowhere" in lost.said


def test_the_port_of_a_talkative_server_is_seen_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it listens is not lost behind what it prints."""
    monkeypatch.setattr(trying, "PATIENCE", 1.0)
    files = server('{"/items": 200}', port='int("1" + "7614")')
    files["serve.py"] = files["serve.py"].replace(
        "import os, sys\n", "import os, sys\nprint('talk ' * 2000)\n"
    )
    best = attempts(tmp_path, files)[0]
    assert (best.answered, best.candidate.fixed_port) == (Answered.WELL, 17614)


def test_a_page_says_which_server_beside_it_does_not_start() -> None:
    """A page that answers hides no server that does not; one of its own folder is another way to it."""
    page = Candidate("npm run dev", 52, folder="client", kind=Kind.FRONTEND)
    answers = Attempt(page, answered=Answered.WELL, said="it answered GET / with 200")
    server_ = Attempt(Candidate("node app.js", 84, folder="server"), said="it ended\nError: no such shop")
    (best, _) = trying.with_the_lost([answers, server_])
    assert best.said.startswith(
        "it answered GET / with 200; it is only a page for browsers, as `node app.js`"
    )
    assert best.said.endswith("in server does not start: Error: no such shop")
    beside = replace(server_, candidate=replace(server_.candidate, folder="client"))
    assert trying.with_the_lost([answers, beside])[0].said == answers.said


def test_a_candidate_that_insists_takes_no_port() -> None:
    """Its variable for the port goes, its other variables stay."""
    env = {"PORT": "{port}", "DEBUG": "1"}
    made = insisting(Candidate("node x.js", 80, env=env, port=Port(Place.ENVIRONMENT, name="PORT")), 3001)
    assert (dict(made.env), made.fixed_port) == ({"DEBUG": "1"}, 3001)
    made = insisting(
        Candidate("python3 x.py --port {port}", 80, port=Port(Place.OPTION, name="--port")), 3001
    )
    assert (made.command, made.fixed_port) == ("python3 x.py", 3001)


def test_a_service_that_cannot_be_had_is_done_without_if_it_can_be(tmp_path: Path) -> None:
    """A server that answers without its search engine counts, and says so; the engine is not required."""
    files = {**server('{"/items": 200}'), "requirements.txt": "elasticsearch\n"}
    best = attempts(tmp_path, files)[0]
    assert best.answered is Answered.WELL
    assert "without elasticsearch" in best.said
    services = best.choice().services or ()
    assert [(one.type, one.required) for one in services] == [("elasticsearch", False)]


def test_a_step_that_fails_and_is_left_out_is_said(tmp_path: Path) -> None:
    """The server counts without it, and whoever reads the outcome knows that its tables may be missing."""
    files = {**server('{"/items": 200}'), "alembic.ini": "", "alembic.py": "exit('error: two heads')"}
    best = attempts(tmp_path, files)[0]
    assert (best.answered, best.steps) == (Answered.WELL, ())
    assert best.said.startswith(
        "it answered GET /items with 200, without what should come first: the setup step"
    )
    assert "alembic upgrade heads` failed" in best.said


def test_a_file_of_sql_that_cannot_be_run_is_left_out_and_said(tmp_path: Path) -> None:
    """A file that is not meant to be run, as one for another program, does not stop a server."""
    files = {**server('{"/items": 200}'), "requirements.txt": "psycopg2\n", "schema.sql": "\\connect shop\n"}
    best = attempts(tmp_path, files)[0]
    assert best.answered is Answered.WELL
    assert "200, without what should come first: the file of SQL schema.sql cannot be run" in best.said
    assert [one.type for one in best.company.services] == ["postgresql"]
    made = environment(detect(tmp_path / "project"), best.choice())
    assert "setup" not in made["services"][0]


def test_a_step_that_failed_is_not_tried_before_every_command(tmp_path: Path) -> None:
    """Once is enough, and the command that answers in the end says what it does without."""
    files = {
        "package.json": '{"dependencies": {"express": "5"}, "scripts": {"migrate": "exit 3"}}',
        "a.js": "throw Error('no'); app.listen(process.env.PORT)",
        "b.js": "require('http').createServer((q, r) => r.end(q.url)).listen(process.env.PORT, '127.0.0.1')",
    }
    seen = attempts(tmp_path, files)
    assert len([one for one in seen if one.said.startswith("the setup step")]) == 1
    assert (seen[0].candidate.command, seen[0].answered) == ("node b.js", Answered.WELL)
    assert "without what should come first: the setup step" in seen[0].said


def test_a_server_that_needs_what_cannot_be_had_says_so(tmp_path: Path) -> None:
    """The service is named as the cause, with how it could be provided."""
    code = 'import os\nraise ConnectionRefusedError("Connection refused " + os.environ["MONGO_URL"])\n'
    files = {"serve.py": code + server("{}")["serve.py"], "requirements.txt": "pymongo\n"}
    best = attempts(tmp_path, files)[0]
    assert best.said.startswith("the service mongodb needs MongoDB")
    assert "refused mongodb://127.0.0.1:27017/app" in best.said
    assert "--service mongodb=" in best.hint


def test_the_port_of_a_service_is_not_taken_for_the_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that listens nowhere beside a Redis that does is not started again at the port of Redis."""
    monkeypatch.setattr(trying, "WAIT", 2.0)
    files = {**server("{}"), "requirements.txt": "redis\n"}
    files["serve.py"] = files["serve.py"].replace(
        "HTTPServer((", "__import__('time').sleep(60); HTTPServer(("
    )
    seen = attempts(tmp_path, files)
    assert all("it listens nowhere" in one.said for one in seen)
    assert all(one.candidate.fixed_port is None for one in seen)


def test_a_page_that_is_not_about_health_is_hoped_for(tmp_path: Path) -> None:
    """A change may be about it; what says that all is well is insisted on."""
    hoped = attempts(tmp_path / "a", server('{"/items": 200}'))[0].choice().readiness["config"]
    insisted = attempts(tmp_path / "b", server('{"/health": 200}'))[0].choice().readiness["config"]
    assert (hoped.get("lenient"), insisted.get("lenient")) == (True, None)


def test_a_program_that_knows_no_port_is_no_server(tmp_path: Path) -> None:
    """It says so itself; one that fails otherwise is not called that."""
    code = "import argparse\nargparse.ArgumentParser().parse_args(['--port', '1'])\n"
    assert attempts(tmp_path / "a", {"serve.py": code + server("{}")["serve.py"]})[0].is_misused
    assert not attempts(tmp_path / "b", {"serve.py": "1 / 0\n" + server("{}")["serve.py"]})[0].is_misused


def test_a_port_that_is_drawn_anew_is_not_the_one_it_insists_on() -> None:
    """Of several ports the one that is the same for each start is meant."""
    assert elsewhere("not ready; it listens on 0.0.0.0 port 39755, :: port 3001\n") == 3001
    assert elsewhere("not ready; it listens on 0.0.0.0 port 39755\n") == 39755
    assert elsewhere("not ready; it listens nowhere\n") is None


def test_a_door_for_debuggers_is_not_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that only lets debuggers in does not serve there."""
    monkeypatch.setattr(trying, "WAIT", 8.0)
    files = {
        "package.json": '{"dependencies": {"express": "4"}, "scripts": {"start": "node --inspect=9237 s.js"}}'
    }
    files["s.js"] = (
        "setInterval(() => {}, 1000);\n// nothing\nconst late = (app) => app.listen(process.env.PORT);\n"
    )
    seen = attempts(tmp_path, files)
    assert any("port 9237" in one.said for one in seen)
    assert all(one.candidate.fixed_port is None and not one.answered for one in seen)


def test_a_package_is_named_in_every_way_it_is_missed() -> None:
    """By Python, by Node and by a shell; other errors name none."""
    assert missing_in("ModuleNotFoundError: No module named 'pydantic_settings'") == "pydantic_settings"
    assert missing_in("Error: Cannot find module 'express'") == "express"
    assert missing_in("sh: 1: vite: not found") == "vite"
    npx = "npm error request to https://packages.example/tsx failed: cache mode is 'only-if-cached'"
    assert missing_in(npx) == "tsx"
    assert missing_in('@prisma/client did not initialize yet. Please run "prisma generate"') == PRISMA
    assert missing_in("request to https://binaries.prisma.sh/all_commits/1 failed") == PRISMA
    assert missing_in("KeyError: 'SECRET_KEY'") == ""


def test_a_server_that_speaks_tls_is_told_from_one_that_is_silent(tmp_path: Path) -> None:
    """What is said names TLS, and what to do about it."""
    make_certificate(grow(tmp_path / "project", {"seen.txt": ""}))
    code = server("{}")["serve.py"].replace("import os, sys", "import os, ssl, sys")
    begin, serve = code.split("    HTTPServer(")
    veiled = (
        "    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
        "    context.load_cert_chain('certificate.pem', 'key.pem')\n"
        f"    served = HTTPServer({serve.replace('.serve_forever()', '').rstrip()}\n"
        "    served.socket = context.wrap_socket(served.socket, server_side=True)\n"
        "    served.serve_forever()\n"
    )
    best = attempts(tmp_path, {"serve.py": begin + veiled})[0]
    assert best.answered is Answered.NOT
    assert "speaks TLS: start it without" in best.said


def test_a_file_of_variables_that_a_server_insists_on_is_made(tmp_path: Path) -> None:
    """It is written down as a step, from the example that the project ships."""
    files = {**server('{"/items": 200}'), ".env.example": "COLOUR=red\n"}
    files["serve.py"] = "assert 'red' in open('.env').read()\n" + files["serve.py"]
    best = attempts(tmp_path, files)[0]
    assert best.answered is Answered.WELL
    assert [step.command for step in best.choice().steps] == ["cp .env.example .env"]


def test_a_build_that_a_server_turns_out_to_need_is_made(tmp_path: Path) -> None:
    """It is written down as what comes before the start."""
    code = "require('http').createServer((q, r) => r.end(page + q.url)).listen(process.env.PORT, '127.0.0.1')"
    files = {
        "package.json": '{"scripts": {"build": "mkdir -p dist && echo hi > dist/index.html"}}',
        "index.js": f"const page = require('fs').readFileSync('dist/index.html');\n{code}",
    }
    best = attempts(tmp_path, files)[0]
    assert (best.answered, best.candidate.build) == (Answered.WELL, "npm run build")
    assert best.candidate.reasons[-1] == "it ended for want of what `npm run build` makes"


def test_a_server_whose_own_route_fails_is_tried_with_more_services(tmp_path: Path) -> None:
    """What it seemed to do without may be what that route asks for; its documentation needs nothing."""
    answers = '{"/items": 200 if os.environ.get("MONGO_URL") else 500, "/openapi.json": 200}'
    compose = {"compose.yml": "services:\n  mongo: {image: 'mongo:7'}\n"}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        given = {"mongo": f"mongodb://127.0.0.1:{listener.getsockname()[1]}/app"}
        seen = attempts(tmp_path / "a", {**server(answers), **compose}, given=given)
    assert [one.answered for one in seen] == [Answered.WELL, Answered.PARTLY]
    assert [one.name for one in seen[0].company.services] == ["mongo"]
    alone = attempts(tmp_path / "b", server(answers))
    assert [(one.answered, one.endpoint) for one in alone] == [(Answered.PARTLY, "/openapi.json")]
    assert alone[0].choice().confirmed
    assert alone[0].said == "it answered GET /openapi.json with 200; GET /items is answered with 500"
