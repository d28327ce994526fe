"""`harness init`: what it finds out, what it tries, and what it leaves alone."""

import json
from pathlib import Path

import pytest

from tests.conftest import Cli, commit_all, git

APP = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORD = os.environ["GREETING_WORD"]


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        routes = {"/items": [1, 2]}
        status = 200 if self.path in routes else 404
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(routes.get(self.path)).encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("APP_PORT", "8000"))), App).serve_forever()
"""
CATCH_ALL = APP.replace("200 if self.path in routes else 404", "200").replace(
    "routes.get(self.path)", '"welcome"'
)
BROKEN = APP.replace("200 if self.path in routes else 404", "500")
SCENARIOS = """
scenarios:
  - name: there is a version
    why: "add GET /version"
    steps:
      - request: {path: /version}
        expect:
          status: 200
          json: [{path: $.version, value: "1.2"}]
"""


def repository(place: Path, files: dict[str, str]) -> Path:
    """A repository with one commit."""
    place.mkdir()
    git(place, "init", "-q", "-b", "main", ".")
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    commit_all(place, "start")
    return place


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A server that never saw the harness."""
    return repository(tmp_path / "stranger", {"server.py": APP})


def written(repo: Path) -> dict[str, dict[str, object]]:
    """The environment.json of a project."""
    data: dict[str, dict[str, object]] = json.loads((repo / "harness" / "environment.json").read_text())
    return data


def test_finds_tries_and_writes(stranger: Path, cli: Cli) -> None:
    """The start is confirmed by an answer, the variables are known, and the pages are a map."""
    ran = cli("init", cwd=stranger)
    assert ran.code == 0, ran.err
    assert "start:  python3 server.py  (it answered)" in ran.out
    data = written(stranger)
    assert data["startup"]["command"] == "python3 server.py"
    assert data["startup"]["env"] == {"APP_PORT": "{port}"}
    assert data["startup"]["readiness"]["config"]["endpoint"] == "/items"  # type: ignore[index]  # plain JSON
    assert "GREETING_WORD" in data["env_vars"]["required"]  # type: ignore[operator]  # plain JSON
    assert data["_meta"]["confirmed"] is True
    agents = (stranger / "AGENTS.md").read_text()
    assert "python3 server.py" in agents
    assert "server.py" in agents.split("## Map")[1]
    assert (stranger / "docs" / "ARCHITECTURE.md").exists()
    assert (stranger / "docs" / "DEVELOPMENT.md").exists()


def test_is_the_same_when_done_again(stranger: Path, cli: Cli) -> None:
    """A second time writes nothing."""
    cli("init", cwd=stranger)
    before = {
        path: path.read_bytes() for path in stranger.rglob("*") if path.is_file() and ".git" not in path.parts
    }
    again = cli("init", cwd=stranger)
    assert again.code == 0
    assert "written" not in again.out
    assert before == {path: path.read_bytes() for path in before}


def test_a_persons_text_is_never_written_over(stranger: Path, cli: Cli) -> None:
    """Pages and an environment.json that are there stay; --force keeps the keys a person added."""
    (stranger / "harness").mkdir()
    (stranger / "AGENTS.md").write_text("mine")
    own = {"startup": {"command": "mine", "mine_too": 1}, "auth": {"mine": True}}
    (stranger / "harness" / "environment.json").write_text(json.dumps(own))
    ran = cli("init", cwd=stranger)
    assert "kept: harness/environment.json (it is yours; --force writes it anew)" in ran.out
    assert (stranger / "AGENTS.md").read_text() == "mine"
    assert written(stranger) == own
    cli("init", "--force", cwd=stranger)
    data = written(stranger)
    assert data["startup"]["command"] == "python3 server.py"
    assert (data["startup"]["mine_too"], data["auth"]) == (1, {"mine": True})
    assert (stranger / "AGENTS.md").read_text() == "mine"


def test_force_loses_nothing_of_a_person(stranger: Path, cli: Cli) -> None:
    """What a person wrote where --force writes is kept beside it and named, each time."""
    place = stranger / "harness" / "environment.json"
    place.parent.mkdir()
    kept: list[str] = []
    for meta in ({"by": "me"}, ["me"]):
        own = {"env_vars": {"required": {"KEY": {"test_value": "1"}}}, "_meta": meta}
        place.write_text(json.dumps(own))
        ran = cli("init", "--no-try", "--force", "--json", cwd=stranger)
        assert ran.code == 0, ran.err
        kept += [file["before"] for file in ran.json()["files"] if file["before"]]
        assert json.loads((stranger / kept[-1]).read_text()) == own
    assert kept == ["harness/environment.old.json", "harness/environment.old-2.json"]
    again = cli("init", "--no-try", "--force", cwd=stranger)
    assert "kept: harness/environment.json (nothing changed)" in again.out
    assert len(list(place.parent.glob("environment*.json"))) == 3


def test_force_says_where_the_old_file_is(stranger: Path, cli: Cli) -> None:
    """The name is said before it is done, too."""
    (stranger / "harness").mkdir()
    (stranger / "harness" / "environment.json").write_text("{}")
    dry = cli("init", "--no-try", "--force", "--dry-run", cwd=stranger)
    assert "would write: harness/environment.json (as it was before: harness/environment.old.json)" in dry.out
    assert not (stranger / "harness" / "environment.old.json").exists()


def test_dry_run_writes_nothing(stranger: Path, cli: Cli) -> None:
    """What would be written is shown, and the project stays as it is."""
    ran = cli("init", "--dry-run", cwd=stranger)
    assert "would write: harness/environment.json" in ran.out
    assert '"command": "python3 server.py"' in ran.out
    assert git(stranger, "status", "--porcelain", "--ignored") == ""


def test_without_trying_nothing_is_confirmed(stranger: Path, cli: Cli) -> None:
    """--no-try reads files only, and says so."""
    ran = cli("init", "--no-try", "--json", cwd=stranger)
    told = ran.json()
    assert ran.code == 0
    assert (told["confirmed"], told["tried"]) == (False, [])
    assert written(stranger)["_meta"]["confirmed"] is False


def test_an_answer_to_anything_proves_nothing(tmp_path: Path, cli: Cli) -> None:
    """A server that says 200 to every path is waited for by its port, not by a path."""
    repo = repository(tmp_path / "catch", {"server.py": CATCH_ALL})
    ran = cli("init", "--json", cwd=repo)
    assert ran.code == 0
    assert ran.json()["tried"][0]["quality"] == "somehow"
    assert written(repo)["startup"]["readiness"]["type"] == "tcp"  # type: ignore[index]  # plain JSON


def test_a_start_that_fails_is_said_with_what_mends_it(tmp_path: Path, cli: Cli) -> None:
    """Packages that are missing are named with the one command that installs them; exit 3."""
    files = {"requirements.txt": "flask\nnot-there-at-all\n", "app.py": "import not_there_at_all\n" + APP}
    repo = repository(tmp_path / "lacking", files)
    ran = cli("init", cwd=repo)
    assert ran.code == 3
    assert "(unconfirmed)" in ran.out
    assert "not_there_at_all is not installed: `python3 -m venv .venv && .venv/bin/pip install" in ran.out
    assert written(repo)["_meta"]["confirmed"] is False


def test_a_variable_that_nobody_foresaw_is_named(tmp_path: Path, cli: Cli) -> None:
    """The program's own error names it, and the way to give it a value is said."""
    hidden = APP.replace('"GREETING_WORD"', '"GREETING_" + "WORD"')
    done = cli("init", cwd=repository(tmp_path / "hidden", {"app.py": hidden}))
    assert done.code == 3
    assert "next:   it asks for GREETING_WORD: give a value under env_vars.required" in done.out


def test_a_server_that_only_fails_is_not_confirmed(tmp_path: Path, cli: Cli) -> None:
    """An answer of 500 is no proof that a start works."""
    repo = repository(tmp_path / "broken", {"server.py": BROKEN})
    ran = cli("init", "--json", cwd=repo)
    assert ran.code == 3
    assert ran.json()["tried"][0]["quality"] == "badly"


def test_a_port_that_it_insists_on_is_found_by_trying(tmp_path: Path, cli: Cli) -> None:
    """Where the port comes from somewhere else, the port it was seen on is written down."""
    code = APP.replace('int(os.environ.get("APP_PORT", "8000"))', "int('18' + '765')")
    repo = repository(tmp_path / "insists", {"server.py": code})
    ran = cli("init", cwd=repo)
    assert ran.code == 0, ran.out
    assert written(repo)["startup"]["readiness"]["config"]["port"] == 18765  # type: ignore[index]  # plain JSON


def test_a_library_has_nothing_to_serve(tmp_path: Path, cli: Cli) -> None:
    """That there is no server is written down as a finding."""
    files = {"pyproject.toml": "[project]\nname='slugs'\n", "slugs/__init__.py": "def slug(): pass\n"}
    repo = repository(tmp_path / "slugs", files)
    ran = cli("init", cwd=repo)
    assert ran.code == 0
    assert "nothing to serve was found" in ran.out
    data = written(repo)
    assert data["project"]["type"] == "library"
    assert list(data["imports"]) == ["slugs"]
    assert "startup" not in data


def test_check_gives_a_score(stranger: Path, cli: Cli) -> None:
    """--check says what is missing: exit 1 before, 0 after."""
    before = cli("init", "--check", "--json", cwd=stranger)
    assert before.code == 1
    assert before.json()["bootstrap_needed"] is True
    assert "environment.json" in before.json()["missing"]
    cli("init", cwd=stranger)
    after = cli("init", "--check", "--json", cwd=stranger)
    assert after.code == 0
    assert after.json()["has_harness"] is True
    assert after.json()["score"] > before.json()["score"]
    assert "score:" in cli("init", "--check", cwd=stranger).out


def test_init_then_verify_without_a_commit(stranger: Path, tmp_path: Path, cli: Cli) -> None:
    """What init wrote is used for a base that says nothing; the revert of the feature is refused."""
    (tmp_path / "s.yaml").write_text(SCENARIOS)
    (stranger / "server.py").write_text(APP.replace("[1, 2]}", '[1, 2], "/version": {"version": "1.2"}}'))
    assert cli("init", cwd=stranger).code == 0
    words = ("verify", "--base", "HEAD", "--scenarios", "../s.yaml")
    proved = cli(*words, cwd=stranger)
    assert proved.code == 0, proved.err
    assert "harness/environment.json of your working tree is used" in proved.err
    (stranger / "server.py").write_text(APP)
    assert cli(*words, cwd=stranger).code == 4


def test_verify_tries_the_base_itself(stranger: Path, tmp_path: Path, cli: Cli) -> None:
    """Without init and without --start the base's own files are tried."""
    (tmp_path / "s.yaml").write_text(SCENARIOS)
    (stranger / "server.py").write_text(APP.replace("[1, 2]}", '[1, 2], "/version": {"version": "1.2"}}'))
    ran = cli("verify", "--base", "HEAD", "--scenarios", "../s.yaml", cwd=stranger)
    assert ran.code == 0, ran.err
    assert "`python3 server.py` was tried: it answered GET /items with 200" in ran.err


def test_an_environment_of_the_change_is_not_used(stranger: Path, tmp_path: Path, cli: Cli) -> None:
    """A file that init did not write cannot say how it is judged, unless the user names it."""
    (tmp_path / "s.yaml").write_text(SCENARIOS)
    liar = APP.replace("[1, 2]}", '[1, 2], "/version": {"version": "1.2"}}')
    (stranger / "liar.py").write_text(liar)
    (stranger / "harness").mkdir()
    data = {"startup": {"command": "python3 liar.py", "env": {"APP_PORT": "{port}", "GREETING_WORD": "hi"}}}
    (stranger / "harness" / "environment.json").write_text(json.dumps(data))
    words = ("verify", "--base", "HEAD", "--scenarios", "../s.yaml")
    ran = cli(*words, cwd=stranger)
    assert ran.code == 4
    assert "give --environment harness/environment.json" in ran.err
    named = cli(*words, "--environment", "harness/environment.json", cwd=stranger)
    assert named.code == 1
    assert "liar.py" in named.err


def test_links_are_not_written_through(stranger: Path, tmp_path: Path, cli: Cli) -> None:
    """A folder or page that leads elsewhere is left alone and named; the other pages are written."""
    (tmp_path / "elsewhere").mkdir()
    (stranger / "docs").symlink_to(tmp_path / "elsewhere")
    (stranger / "AGENTS.md").symlink_to(tmp_path / "nowhere.md")
    ran = cli("init", "--no-try", cwd=stranger)
    assert ran.code == 0, ran.err
    assert "kept: docs/ARCHITECTURE.md (docs is a link, and nothing is written through one)" in ran.out
    assert "kept: AGENTS.md (AGENTS.md is a link" in ran.out
    assert "written: harness/environment.json" in ran.out
    assert not list((tmp_path / "elsewhere").iterdir())
    assert not (tmp_path / "nowhere.md").exists()


def test_an_environment_that_leads_elsewhere_is_kept(stranger: Path, tmp_path: Path, cli: Cli) -> None:
    """A link in the place of environment.json stays what it is, also with --force."""
    (tmp_path / "theirs.json").write_text("{}")
    (stranger / "harness").mkdir()
    for target in (tmp_path / "theirs.json", tmp_path / "nowhere.json"):
        link = stranger / "harness" / "environment.json"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        ran = cli("init", "--no-try", "--force", cwd=stranger)
        assert "kept: harness/environment.json (harness/environment.json is a link" in ran.out
        assert link.readlink() == target
    assert (tmp_path / "theirs.json").read_text() == "{}"
    assert not (tmp_path / "nowhere.json").exists()


def test_a_file_where_a_folder_is_wanted_costs_its_pages_only(stranger: Path, cli: Cli) -> None:
    """A file named docs stays, and the other pages are written."""
    (stranger / "docs").write_text("mine")
    ran = cli("init", "--no-try", cwd=stranger)
    assert ran.code == 0, ran.err
    assert "kept: docs/DEVELOPMENT.md (docs is no folder)" in ran.out
    assert (stranger / "docs").read_text() == "mine"
    assert (stranger / "AGENTS.md").is_file()


def test_a_file_named_harness_is_said_before_anything_is_tried(stranger: Path, cli: Cli) -> None:
    """State needs a folder, and there is a name for it that is free."""
    (stranger / "harness").write_text("mine")
    ran = cli("init", cwd=stranger)
    assert ran.code == 2
    assert "harness is no folder" in ran.err
    assert "`mkdir .harness`" in ran.err
    (stranger / ".harness").mkdir()
    assert "written: .harness/environment.json" in cli("init", "--no-try", cwd=stranger).out


def test_what_takes_no_port_is_no_server(tmp_path: Path, cli: Cli) -> None:
    """A program that looks like a server and does not know the option is written down as something else."""
    code = "import argparse\nargparse.ArgumentParser().parse_args(['--port', '1'])\n"
    repo = repository(tmp_path / "tool", {"tool.py": code + APP})
    ran = cli("init", cwd=repo)
    assert ran.code == 0
    assert "takes no port" in ran.out
    assert "startup" not in written(repo)
