"""`harness verify` on a repository that never saw the harness."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli, Ran, commit_all, git

APP = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        routes = {"/": {"hello": "world"}}
        body = routes.get(self.path)
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write(json.dumps(body or {"error": "no"}).encode())

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), App).serve_forever()
"""

SCENARIOS = """
scenarios:
  - name: there is a version
    why: "add GET /version"
    steps:
      - request: {path: /version}
        expect:
          status: 200
          json: [{path: $.version, value: "1.2"}]
  - name: the greeting stays
    why: the rest stays as it is
    kind: unchanged
    steps:
      - request: {path: /}
        expect: {status: 200, json: [{path: $.hello, value: world}]}
"""

START = "python3 app.py {port}"


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A repository with a feature commit made by hand, and a scenario file elsewhere."""
    repo = tmp_path / "stranger"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main", ".")
    (repo / "app.py").write_text(APP)
    commit_all(repo, "start")
    (repo / "app.py").write_text(APP.replace('"world"}}', '"world"}, "/version": {"version": "1.2"}}'))
    commit_all(repo, "add /version")
    (tmp_path / "scenarios.yaml").write_text(SCENARIOS)
    return repo


def verify(cli: Cli, repo: Path, *words: str, env: dict[str, str] | None = None) -> Ran:
    """`harness verify` with the scenarios and the start command of this project."""
    given = ("--scenarios", "../scenarios.yaml", "--start", START)
    return cli("verify", *given, *words, cwd=repo, env=env)


def test_proves_a_commit_made_by_hand(stranger: Path, cli: Cli) -> None:
    """Given only a start command and a scenario file, the change is proved; no model, no state needed."""
    ran = verify(cli, stranger, "--base", "HEAD~1")
    assert ran.code == 0, ran.err
    assert "there is a version           | fail   | pass  | proves" in ran.out
    assert "proved" in ran.out
    assert git(stranger, "status", "--porcelain") == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_a_letter_changes_no_verdict(stranger: Path, cli: Cli, encoding: str) -> None:
    """What cannot be shown is shown by its number."""
    scenarios = stranger.parent / "scenarios.yaml"
    scenarios.write_text(SCENARIOS.replace("there is a version", "数える"), encoding="utf-8")
    words = ("verify", "--repo", stranger, "--start", START, "--scenarios", scenarios, "--base", "HEAD~1")
    ran = cli(*words, env={"PYTHONIOENCODING": encoding})
    assert ran.code == 0, ran.err
    assert r"\u6570\u3048\u308b" in ran.out


def test_refuses_the_same_commit_reverted(stranger: Path, cli: Cli) -> None:
    """The revert of the change is refused, with the request that failed."""
    base = git(stranger, "rev-parse", "HEAD~1")
    git(stranger, "-c", "user.name=T", "-c", "user.email=t@example.com", "revert", "--no-edit", "HEAD")
    ran = verify(cli, stranger, "--base", base, "--json")
    assert ran.code == 4
    report = ran.json()
    assert report["accepted"] is False
    assert "nothing changed: the tree equals the base" in report["reasons"]
    assert "no scenario failed before and passes now" in report["reasons"]


def test_names_head_and_compares_with_it(stranger: Path, cli: Cli) -> None:
    """With --head the working tree does not matter; a regression is refused as one."""
    (stranger / "app.py").write_text("broken")
    proved = verify(cli, stranger, "--base", "HEAD~1", "--head", "HEAD")
    assert proved.code == 0, proved.err
    back = verify(cli, stranger, "--base", "HEAD", "--head", "HEAD~1")
    assert back.code == 4
    assert "there is a version passed on base and fails now" in back.out


def test_a_change_that_does_not_start_is_refused(stranger: Path, cli: Cli) -> None:
    """A server that starts on base only is the change's fault: exit 4, with its last words."""
    (stranger / "app.py").write_text("raise SystemExit('no such luck')")
    ran = verify(cli, stranger, "--base", "HEAD")
    assert ran.code == 4
    assert "the server did not start on change" in ran.out
    assert "no such luck" in ran.out


def test_uses_no_model(stranger: Path, cli: Cli) -> None:
    """No provider is loaded and no key is needed."""
    trace = verify(cli, stranger, "--base", "HEAD~1", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert trace.code == 0
    assert "httpx2" in trace.err
    assert " anthropic" not in trace.err
    assert " openai" not in trace.err


def test_it_is_told_how_each_side_was_started(stranger: Path, cli: Cli) -> None:
    """The commands, and who said them, stand in the output and in the report."""
    ran = verify(cli, stranger, "--base", "HEAD~1", "--start-base", f"echo old; {START}")
    assert ran.code == 0, ran.err
    assert f"base started with `echo old; {START}`, as an option says" in ran.out
    assert f"change started with `{START}`, as an option says" in ran.out
    own = stranger.parent / "own.json"
    own.write_text(json.dumps({"startup": {"command": START, "base_command": f"echo older; {START}"}}))
    given = ("--scenarios", "../scenarios.yaml", "--environment", own, "--base", "HEAD~1", "--json")
    assert cli("verify", *given, cwd=stranger).json()["launches"] == [
        {"side": "base", "command": f"echo older; {START}", "origin": "file"},
        {"side": "change", "command": START, "origin": "file"},
    ]


def test_leaves_no_folder_behind(stranger: Path, cli: Cli, home: Path) -> None:
    """The exported trees are gone afterwards; the exchanges are kept."""
    verify(cli, stranger, "--base", "HEAD~1")
    assert not list((home / ".cache" / "harness-executor").glob("*/verify-*"))
    kept = list((stranger / "harness" / "trace" / "runs").glob("*/change-1.jsonl"))
    assert json.loads(kept[0].read_text().splitlines()[0])["answer"]["status"] == 200


def test_a34_control_files_are_reported_and_left_to_the_person_who_asks(stranger: Path, cli: Cli) -> None:
    """A proved commit with a new control file is proved; the file is named in the output and the report."""
    (stranger / ".mcp.json").write_text("{}\n")
    commit_all(stranger, "add servers")
    ran = verify(cli, stranger, "--base", "HEAD~2", "--head", "HEAD")
    assert ran.code == 0, ran.err
    assert "- .mcp.json (created): a coding agent starts" in ran.out
    report = verify(cli, stranger, "--base", "HEAD~2", "--head", "HEAD", "--json").json()
    assert [file["path"] for file in report["control_files"]] == [".mcp.json"]
    assert (
        verify(cli, stranger, "--base", "HEAD~2", "--head", "HEAD~1", "--json").json()["control_files"] == []
    )


WITH_MODULES = """
import json, sys
from harness_executor.cli.door import harness
code = harness(sys.argv[1:])
sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
sys.exit(code)
"""
"""`harness`, and then the names of all modules that were loaded for it."""


def test_no_model_is_called(stranger: Path) -> None:
    """With keys and addresses of models at hand, nobody connects to them, and no code for them is loaded."""
    given = ("verify", "--scenarios", "../scenarios.yaml", "--start", START, "--base", "HEAD~1")
    with socket.create_server(("127.0.0.1", 0)) as model:
        url = f"http://127.0.0.1:{model.getsockname()[1]}"
        keys = {f"{name}_API_KEY": "key-of-a-model" for name in ("ANTHROPIC", "OPENAI", "OPENROUTER")}
        addresses = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1", "OPENROUTER_BASE_URL": url}
        env = {**os.environ, **keys, **addresses, "HARNESS_MODEL": "anthropic:some-model"}
        words = [sys.executable, "-c", WITH_MODULES, *given]
        ran = subprocess.run(words, cwd=stranger, env=env, capture_output=True, text=True, check=False)
        model.setblocking(False)
        with pytest.raises(BlockingIOError):
            model.accept()
    assert ran.returncode == 0, ran.stderr
    loaded = json.loads(ran.stderr.splitlines()[-1])
    ours = ("harness_executor.providers", "harness_executor.subagents")
    assert "harness_executor.evidence.differential" in loaded
    assert [name for name in loaded if name.startswith((*ours, "anthropic", "openai"))] == []


def test_a_password_of_the_command_line_is_kept_nowhere(stranger: Path, cli: Cli) -> None:
    """However short it is, neither what the server said nor its answers nor the output hold it."""
    telling = "import os\nprint('the word is', os.environ['THING_WORD'], flush=True)\n"
    service = {"name": "thing", "type": "thing", "connection": {"password_env": "THING_WORD"}}
    (stranger / "harness").mkdir()
    (stranger / "harness/environment.json").write_text(json.dumps({"services": [service]}))
    (stranger / "app.py").write_text(telling + APP)
    base = commit_all(stranger, "tell")
    shown = APP.replace(
        '"world"}}', '"world"}, "/version": {"version": "1.2", "w": os.environ["THING_WORD"]}}'
    )
    (stranger / "app.py").write_text(telling + shown)
    given = ("--service", "thing=thing://me:hunt3r@127.0.0.1:9/x")
    ran = verify(cli, stranger, "--base", base, *given)
    assert ran.code == 0, ran.out + ran.err
    texts = {
        path: path.read_text(errors="replace") for path in stranger.glob("harness/**/*") if path.is_file()
    }
    assert any("the word is [redacted]" in text for text in texts.values())
    assert not [path for path, text in texts.items() if "hunt3r" in text]
    assert "hunt3r" not in ran.out + ran.err


def test_drawn_requests_alone_prove_nothing(stranger: Path, cli: Cli) -> None:
    """Without a scenario beside them it is said at once what is missing, and nothing is started."""
    ran = cli("verify", "--base", "HEAD^", "--start", START, "--fuzz", cwd=stranger)
    assert ran.code == 2, ran.out + ran.err
    assert "drawn requests can refuse a change and never prove one" in ran.err
    assert "--scenarios FILE" in ran.err
