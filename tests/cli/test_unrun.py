"""A change with nothing to run, from the outside."""

import json
from pathlib import Path

import pytest

from tests.cli.scripted import submit, use, work, write_script
from tests.conftest import Cli, commit_all, git

PLAN = {
    "summary": "Say how it is started.",
    "contract": "other routes stay as they are",
    "phases": [{"name": "Write it down", "objective": "Say it in README.md.", "files": ["README.md"]}],
}
UNCHANGED = {
    "name": "the list stays",
    "why": "other routes stay as they are",
    "kind": "unchanged",
    "steps": [{"request": {"path": "/todos"}, "expect": {"status": 200}}],
}
EXECUTOR = [use("write_file", path="README.md", content="# To-dos\n\nStart it.\n"), work(summary="Written.")]
LINES = {
    "planner": [{"replies": [submit(PLAN)]}],
    "verifier": [{"replies": [submit({"scenarios": [UNCHANGED]})]}],
    "executor": [{"replies": EXECUTOR}],
}
REQUEST = "say in the readme how it is started"
REASON = "no program reads what changed: README.md"


def test_a_run_ends_unverified_and_says_so_everywhere(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Exit 5 with the reason; list, show, status and report name it, and nothing is attested or kept."""
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, LINES), "--json")
    assert ran.code == 5, ran.err
    said = ran.json()
    assert (said["status"], said["unverified"], said["reasons"]) == ("completed_unverified", REASON, [])
    assert (said["kept_scenarios"], said["assurance"]) == (None, None)
    assert git(sample, "show", f"{said['branch']}:README.md").startswith("# To-dos")
    assert cli("list", "--repo", sample, "--json").json()[0]["outcome"] == "completed_unverified"
    assert cli("status", said["task_id"], "--repo", sample, "--json").json()["unverified"] == REASON
    shown = cli("show", said["task_id"], "--repo", sample).out
    assert f"Nothing was run: {REASON}" in shown
    assert "Completed, unverified: nothing speaks against the change, and nothing was run." in shown
    assert "ChangeSurveyed" in shown
    result = cli("show", said["task_id"], "--repo", sample, "--json").json()["result"]
    assert (result["status"], result["unverified"]) == ("completed_unverified", REASON)
    report = json.loads((sample / "harness" / "trace" / "verification-report.json").read_text())
    assert (report["overall_status"], report["skip_reason"], report["accepted"]) == ("skip", REASON, False)
    assert report["checks"][0]["name"] == "test"
    assert git(sample, "notes", "list") == ""


def test_a_run_says_the_reason_to_people(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """The last lines have the status, the exit code, why, and what is left to do."""
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, LINES))
    assert ran.code == 5
    assert "completed_unverified: " in ran.out
    assert f"because:  {REASON}" in ran.out
    assert "look at the change yourself" in ran.out
    assert f"not run: {REASON}" in ran.err


@pytest.mark.parametrize("place", ["report.written#1", "log.append.written#20", "views.published#6"])
def test_an_interrupted_skip_is_found_again(sample: Path, tmp_path: Path, cli: Cli, place: str) -> None:
    """Whatever is lost, the harness looks again and comes to the same end."""
    model = write_script(tmp_path, LINES)
    ran = cli("run", REQUEST, "--repo", sample, "--model", model, env={"HARNESS_FAULT": f"{place}=kill"})
    assert ran.code < 0
    resumed = cli("resume", "--repo", sample, "--json")
    assert resumed.code == 5, resumed.err
    assert resumed.json()["unverified"] == REASON


def test_reports_of_an_unrun_task(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """As text and as JSON; there is nothing for the other forms to show."""
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, LINES), "--json")
    task_id = ran.json()["task_id"]
    told = cli("report", task_id, "--repo", sample)
    assert told.code == 0
    assert told.out.splitlines()[0] == f"Nothing was run: {REASON}"
    assert "- README.md (added)" in told.out
    data = cli("report", task_id, "--repo", sample, "--format", "json").json()
    assert (data["overall_status"], data["unverified"]) == ("skip", True)
    refused = cli("report", task_id, "--repo", sample, "--format", "har")
    assert refused.code == 2
    assert "nothing was run, so there is no har report" in refused.err
    place = tmp_path / "report.md"
    assert cli("report", task_id, "--repo", sample, "--format", "markdown", "-o", place).code == 0
    assert REASON in place.read_text()


def test_verify_without_scenarios_finds_nothing_to_run(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Exit 5, with the files; --json has the report, and no other report is written."""
    (sample / "README.md").write_text("# To-dos\n")
    wanted = tmp_path / "report.html"
    summary = tmp_path / "summary.md"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    words = ("verify", "--base", "HEAD", "--report", f"html={wanted}", "--attest")
    ran = cli(*words, "--repo", sample, "--json", env=env)
    assert ran.code == 5, ran.err
    assert ran.json()["files"] == [
        {"path": "README.md", "before": "", "after": "100644", "comments": False},
    ]
    assert not wanted.exists()
    assert "no report is written and nothing is signed" in ran.err
    assert REASON in summary.read_text()


def test_control_files_are_shown_to_a_person(sample: Path, cli: Cli) -> None:
    """A document that agents follow, and what continuous integration runs, change nothing for a client."""
    (sample / "AGENTS.md").write_text("Be kind.\n")
    (sample / ".github" / "workflows").mkdir(parents=True)
    (sample / ".github" / "workflows" / "ci.yml").write_text("on: push\n")
    ran = cli("verify", "--base", "HEAD", "--repo", sample)
    assert ran.code == 5, ran.err
    assert "control files, for you to look at:" in ran.out
    assert "- AGENTS.md (created): a coding agent follows it as instructions" in ran.out
    report = json.loads((sample / "harness" / "trace" / "verification-report.json").read_text())
    assert [file["path"] for file in report["control_files"]] == [".github/workflows/ci.yml", "AGENTS.md"]


def test_a_run_with_control_files_waits_for_a_person_first(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Nothing is skipped before somebody looked; then it ends unverified."""
    write = use("write_file", path="AGENTS.md", content="Be kind.\n")
    lines = {**LINES, "executor": [{"replies": [write, work(summary="Written.")]}]}
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, lines), "--json")
    assert ran.code == 3, ran.err
    task_id = ran.json()["task_id"]
    assert cli("approve", task_id, "--repo", sample, "--yes").code == 0
    resumed = cli("resume", task_id, "--repo", sample, "--json")
    assert resumed.code == 5, resumed.err


def test_scenarios_that_are_given_are_run_and_decide(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Documentation does not excuse a scenario that fails."""
    (sample / "README.md").write_text("# To-dos\n")
    file = tmp_path / "scenarios.json"
    file.write_text(json.dumps([{**UNCHANGED, "kind": "new", "name": "something new"}]))
    ran = cli("verify", "--base", "HEAD", "--scenarios", file, "--repo", sample)
    assert ran.code == 4
    assert "no scenario failed before and passes now" in ran.out


def test_a_project_that_cannot_be_started_here_can_be_documented(tmp_path: Path, cli: Cli) -> None:
    """Nothing is started, so no way to start is tried; its checks are found from files and are run."""
    repo = tmp_path / "shop"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main", ".")
    (repo / "app.py").write_text("import flask_nobody_has\n\napp = flask_nobody_has.Flask(__name__)\n")
    (repo / "requirements.txt").write_text("flask\n")
    (repo / "README.md").write_text("# Shop\n")
    commit_all(repo, "start")
    (repo / "README.md").write_text("# The shop\n")
    ran = cli("verify", "--base", "HEAD", "--repo", repo)
    assert ran.code == 5, ran.err
    assert REASON in ran.out


def test_a_coding_agent_completes_documentation_unverified(sample: Path, cli: Cli) -> None:
    """`task-state complete` ends with 5 and says why, and only after the harness has looked."""
    task_id = cli("task-state", "init", "say more", "--repo", sample).out.strip()
    (sample / "README.md").write_text("# To-dos\n")
    early = cli("task-state", "complete", "--summary", "done", "--repo", sample)
    assert early.code == 4
    assert "`harness verify` alone finds out whether there is nothing to run" in early.err
    assert cli("verify", "--repo", sample).code == 5
    done = cli("task-state", "complete", "--summary", "done", "--repo", sample, "--json")
    assert done.code == 5
    wanted = {"task_id": task_id, "status": "completed_unverified", "unverified": REASON}
    assert done.json() == wanted
    assert not (sample / "harness" / "scenarios").exists()
