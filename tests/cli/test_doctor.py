"""`harness doctor` on a machine that has a box, and on one that has none."""

import json
from pathlib import Path

from tests.cli.nameless import run_without_namespaces
from tests.cli.scripted import HONEST_LINES, write_script
from tests.conftest import Cli, commit_all, git


def test_says_what_a_run_would_have(sample: Path, cli: Cli) -> None:
    """Each layer is tried and named, for people and for programs."""
    ran = cli("doctor", "--repo", sample)
    assert ran.code == 0, ran.out
    assert ran.out.endswith("assurance of a run here: sandboxed\n")
    told = cli("doctor", "--repo", sample, "--json").json()
    assert told["assurance"] == "sandboxed"
    names = {row["name"] for row in told["rows"] if row["holds"]}
    assert {"start", "remounting", "capabilities", "network", "system call filter", "terminal"} <= names


def test_says_what_is_missing_and_what_mends_it(sample: Path) -> None:
    """Where no box can be made, the first layer fails with the reason and a command; exit 3."""
    ran = run_without_namespaces("doctor", "--repo", str(sample))
    assert ran.code == 3
    assert "FAIL  start" in ran.out
    assert "sysctl user.max_user_namespaces" in ran.out
    assert "a run is refused" in ran.out


def test_none_is_what_the_user_asked_for(sample: Path, cli: Cli) -> None:
    """Without a box on purpose, nothing fails and nothing is called sandboxed."""
    ran = cli("doctor", "--repo", sample, "--sandbox", "none")
    assert ran.code == 0
    assert ran.out.endswith("assurance of a run here: unsandboxed\n")


def test_a_run_is_refused_where_no_box_holds(sample: Path) -> None:
    """Nothing is opened, begun or written where commands could not be boxed; exit 3, and how to go on."""
    model = write_script(sample.parent, HONEST_LINES)
    ran = run_without_namespaces("run", "add it", "--repo", str(sample), "--model", model)
    assert ran.code == 3
    assert "does not hold" in ran.err
    assert "--sandbox none" in ran.err
    assert not list((sample / "harness").glob("tasks/*/events.jsonl"))


def test_says_whether_the_project_can_be_verified(sample: Path, cli: Cli) -> None:
    """The server of HEAD is started as a verification would, and what is committed is told apart."""
    rows = {row["name"]: row for row in cli("doctor", "--repo", sample, "--json").json()["rows"]}
    assert rows["environment.json"]["status"] == "pass"
    assert rows["start"]["status"] == "pass"
    assert "ready in" in rows["start"]["seen"]
    assert rows["start"]["category"] == "project"
    file = sample / "harness" / "environment.json"
    file.write_text(file.read_text() + "\n")
    changed = {row["name"]: row for row in cli("doctor", "--repo", sample, "--json").json()["rows"]}
    assert changed["environment.json"]["status"] == "warn"
    assert "git add harness/environment.json && git commit" in changed["environment.json"]["fix"]


def test_a_start_that_fails_is_shown_with_its_reason(sample: Path, cli: Cli) -> None:
    """What the server said last is the reason, and the exit code says that a person is needed; exit 3."""
    (sample / "app.py").write_text("raise SystemExit('no such luck')")
    commit_all(sample, "break it")
    ran = cli("doctor", "--repo", sample)
    assert ran.code == 3
    assert "FAIL  start" in ran.out
    assert "no such luck" in ran.out
    assert cli("doctor", "--repo", sample, "--no-try").code == 0


def test_names_what_is_missing_with_the_command_that_mends_it(tmp_path: Path, cli: Cli) -> None:
    """Packages, services and variables that are not there, each with what to do."""
    repo = tmp_path / "lacking"
    (repo / "harness").mkdir(parents=True)
    git(repo, "init", "-q", "-b", "main", ".")
    data = {
        "startup": {"command": "node server.js"},
        "services": [{"name": "queue", "type": "rabbitmq"}],
        "env_vars": {"required": {"API_TOKEN": {"purpose": "a credential"}}},
    }
    (repo / "harness" / "environment.json").write_text(json.dumps(data))
    (repo / "package.json").write_text('{"name": "x", "dependencies": {"express": "5"}}')
    (repo / "package-lock.json").write_text("{}")
    (repo / "server.js").write_text("require('express')().listen(process.env.PORT);")
    commit_all(repo, "start")
    rows = {row["name"]: row for row in cli("doctor", "--repo", repo, "--no-try", "--json").json()["rows"]}
    assert rows["packages"]["fix"] == "`npm ci`"
    assert "RabbitMQ" in rows["service queue"]["seen"]
    assert "env_vars.required.API_TOKEN" in rows["variable API_TOKEN"]["fix"]
    assert {rows[name]["status"] for name in ("packages", "service queue", "variable API_TOKEN")} == {"fail"}


def test_a_project_without_a_server_is_well(tmp_path: Path, cli: Cli) -> None:
    """A library needs no start; that nothing was written down is only weak."""
    repo = tmp_path / "slugs"
    (repo / "slugs").mkdir(parents=True)
    git(repo, "init", "-q", "-b", "main", ".")
    (repo / "slugs" / "__init__.py").write_text("def slug(): pass\n")
    (repo / "pyproject.toml").write_text("[project]\nname='slugs'\n")
    commit_all(repo, "start")
    ran = cli("doctor", "--repo", repo)
    assert ran.code == 0, ran.out
    assert "nothing in its files starts a server" in ran.out
    assert "→ `harness init`" in ran.out


def test_sections_of_another_shape_end_in_words(sample: Path, cli: Cli) -> None:
    """They count as absent, and every finding is told."""
    odd = {"project": ["web"], "env_vars": {"required": ["KEY"]}, "_meta": 1, "startup": {"command": "true"}}
    for data in (odd, {**odd, "env_vars": 3}):
        (sample / "harness" / "environment.json").write_text(json.dumps(data))
        commit_all(sample, "say little")
        ran = cli("doctor", "--no-try", "--repo", sample)
        assert "environment.json" in ran.out
        assert "defect" not in ran.err
        assert "defect" not in cli("init", "--check", cwd=sample).err
