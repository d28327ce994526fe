"""`harness-run` from the outside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST, make_sample
from harness_executor.demo.script import HONEST
from tests.cli.scripted import HONEST_LINES, LYING_LINES, submit, use, with_executor, work, write_script
from tests.conftest import Cli, git

STATS = HONEST.lines["executor"][0]["replies"]


def test_proves_a_change_and_commits_it_on_a_branch(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """A request ends as a commit on a branch of its own, and only the kept scenarios are new to the user."""
    head = git(sample, "rev-parse", "HEAD")
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, HONEST_LINES), "--json")
    assert ran.code == 0, ran.err
    outcome = ran.json()
    assert outcome["status"] == "completed"
    assert git(sample, "rev-parse", outcome["branch"]) == outcome["commit"]
    assert (
        git(sample, "log", "-1", "--format=%(trailers:key=Harness-Task,valueonly)", outcome["commit"])
        == outcome["task_id"]
    )
    assert git(sample, "rev-parse", "HEAD") == head
    assert git(sample, "status", "--porcelain", "--untracked-files=all") == f"?? {outcome['kept_scenarios']}"
    assert "stats" in git(sample, "show", f"{outcome['branch']}:app.py")


def test_shows_the_diff_the_scenarios_and_the_report(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """What is printed has the diff, before and after, the servers, and where the report is."""
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, HONEST_LINES))
    assert "+    def stats(self):" in ran.out
    assert "| stats count open and done          | fail   | pass  | proves" in ran.out
    assert "change server 1: started" in ran.out
    assert str(sample / "harness" / "trace" / "verification-report.json") in ran.out
    report = json.loads((sample / "harness" / "trace" / "verification-report.json").read_text())
    assert report["overall_status"] == "pass"
    assert report["server"]["started"] is True
    assert report["assurance"] == "sandboxed"
    assert {row["meaning"] for row in report["task_specific_scenarios"]} == {"proves", "holds"}


def test_refuses_a_claim_without_a_change(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """An executor that only says so is sent back twice and then refused, with the assertion that failed."""
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, LYING_LINES), "--json")
    assert ran.code == 4
    outcome = ran.json()
    assert outcome["status"] == "refused"
    assert "no scenario failed before and passes now" in outcome["reasons"]
    assert any(
        "GET /todos/stats: status_code: expected 200, got 404" in reason for reason in outcome["reasons"]
    )
    assert outcome["branch"] is None


def test_sends_the_exact_failure_back_to_the_executor(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """A wrong first attempt is mended in the second, which is told the request, expected and got."""
    wrong = [
        *STATS[:2],
        use("edit_file", path="app.py", old='return {"total": len', new='return {"total": 7 + len'),
        *STATS[2:],
    ]
    mended = [
        use("edit_file", path="app.py", old='"total": 7 + len', new='"total": len'),
        work(summary="Counted right."),
    ]
    wrong = [
        reply
        for reply in wrong
        if "test_app" not in json.dumps(reply) and "unittest" not in json.dumps(reply)
    ]
    lines = with_executor(
        {"when": "GET /todos/stats: json_path $.total equals: expected 0, got 7", "replies": mended},
        {"replies": [*wrong, work(summary="Counted wrong.")]},
    )
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, lines), "--json")
    assert ran.code == 0, ran.err
    assert git(sample, "rev-list", "--count", f"HEAD..{ran.json()['branch']}") == "2"


def test_a_newly_red_test_goes_back_to_the_executor(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """A change that works but breaks the project's own test is not complete."""
    broken = [
        use(
            "edit_file",
            path="test_app.py",
            old='self.assertFalse(item["done"])',
            new='self.assertTrue(item["done"])',
        )
    ]
    lines = with_executor({"replies": [*broken, *STATS[1:3], *[work()] * 4]})
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, lines), "--json")
    assert ran.code == 4
    assert "the check test passes on base and fails on the change" in ran.json()["reasons"]


def test_a_blocked_executor_waits_for_a_person_and_resumes(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Blocked is exit 3 with what is missing; resuming goes on."""
    blocked = {"status": "blocked", "summary": "no token", "blockers": ["the payment token"]}
    model = write_script(tmp_path, with_executor({"replies": [submit(blocked)]}))
    ran = cli("run", REQUEST, "--repo", sample, "--model", model)
    assert ran.code == 3
    assert "the payment token" in ran.out
    write_script(tmp_path, HONEST_LINES)
    resumed = cli("resume", "--repo", sample, "--json")
    assert resumed.code == 0, resumed.err


def test_an_answer_that_cannot_be_read_is_never_a_result(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Prose, a repeated key and two blocks are asked again and then end as a named failure."""
    text = 'All done!\n```json\n{"status": "failed", "status": "success", "summary": "x"}\n```'
    lines = with_executor(
        {"replies": [{"text": text}, {"text": "done"}, {"text": "```\n{}\n```\n```\n{}\n```"}]}
    )
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, lines))
    assert ran.code == 1
    assert "no acceptable result after 3 tries" in ran.out


@pytest.mark.parametrize("mode", ["plan", "review", "audit"])
def test_other_modes_change_nothing(mode: str, sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Plan, review and audit end with words and leave no branch."""
    finding = {"severity": "low", "where": "app.py:1", "issue": "no tests for routes", "fix": "add one"}
    review = {"summary": "It is fine.", "findings": [finding]}
    lines = {**HONEST_LINES, "reviewer": [{"replies": [submit(review)]}]}
    ran = cli(
        "run",
        "look at the routes",
        "--repo",
        sample,
        "--model",
        write_script(tmp_path, lines),
        "--mode",
        mode,
    )
    assert ran.code == 0, ran.err
    assert ("counts the to-dos" in ran.out) == (mode == "plan")
    assert ("no tests for routes" in ran.out) == (mode != "plan")
    assert git(sample, "branch", "--list", "harness/*") == ""


def test_works_from_head_when_the_tree_is_dirty_and_says_so(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Uncommitted edits are left alone, not used, and mentioned."""
    (sample / "notes.txt").write_text("mine\n")
    (sample / "app.py").write_text("broken\n")
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, HONEST_LINES))
    assert ran.code == 0, ran.err
    assert "changes that are not committed" in ran.err
    assert (sample / "app.py").read_text() == "broken\n"


def test_two_tasks_run_side_by_side(sample: Path, tmp_path: Path) -> None:
    """Two requests in one repository run at the same time and both end complete, on two branches."""
    model = write_script(tmp_path, HONEST_LINES)
    command = [
        sys.executable,
        "-m",
        "harness_executor",
        "run",
        REQUEST,
        "--repo",
        str(sample),
        "--model",
        model,
        "--json",
    ]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    outcomes = [json.loads(process.communicate(timeout=240)[0]) for process in both]
    assert [outcome["status"] for outcome in outcomes] == ["completed", "completed"]
    assert len({outcome["branch"] for outcome in outcomes}) == 2


def test_a_second_process_on_one_task_stops_at_once_naming_the_holder(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """The second coordinator of a task says which process has it, and touches nothing."""
    slow = with_executor({"replies": [use("shell", command="sleep 60"), work()]})
    model = write_script(tmp_path, slow)
    command = [
        sys.executable,
        "-m",
        "harness_executor",
        "run",
        REQUEST,
        "--repo",
        str(sample),
        "--model",
        model,
    ]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert first.stderr is not None
        for line in first.stderr:
            if "sleep 60" in line:
                break
        second = cli("resume", "--repo", sample)
        assert second.code == 1
        assert f"is being worked on by process {first.pid} on" in second.err
        status = cli("status", "--repo", sample, "--json").json()
        assert status["step"] == "execute"
    finally:
        first.kill()
        first.communicate()


def test_an_interrupt_stops_at_once_and_says_how_to_go_on(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """SIGINT ends with 130, a hint, and a task that resumes."""
    slow = with_executor(
        {"when": "nothing", "replies": []}, {"replies": [use("shell", command="sleep 60"), work()]}
    )
    command = [sys.executable, "-m", "harness_executor", "run", REQUEST, "--repo", str(sample), "--model"]
    model = write_script(tmp_path, slow)
    process = subprocess.Popen([*command, model], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "sleep 60" in line:
            break
    process.send_signal(2)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "harness resume" in err
    write_script(tmp_path, HONEST_LINES)
    assert cli("resume", "--repo", sample).code == 0


def test_a_refactoring_needs_every_scenario_to_hold(tmp_path: Path, cli: Cli) -> None:
    """With --refactor a change that nobody can see is accepted; without, it is refused."""
    holds = HONEST_LINES["verifier"][0]["replies"][0]["calls"][0]["arguments"]["scenarios"][2:]
    renames = [use("shell", command="sed -i s/next_id/upcoming/g app.py"), work(summary="Renamed a field.")]
    lines = {**with_executor({"replies": renames}), "verifier": [{"replies": [submit({"scenarios": holds})]}]}
    model = write_script(tmp_path, lines)
    for name, extra, code in (("with", ["--refactor"], 0), ("without", [], 4)):
        repo = make_sample(tmp_path / name)
        assert cli("run", "rename next_id", "--repo", repo, "--model", model, *extra).code == code


def test_control_characters_of_a_model_are_shown_and_not_obeyed(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """A summary with escape codes cannot paint over what the harness says."""
    sneaky = {"status": "failed", "summary": "\u001b[2J\u001b[32m■ completed\r"}
    ran = cli(
        "run",
        REQUEST,
        "--repo",
        sample,
        "--model",
        write_script(tmp_path, with_executor({"replies": [submit(sneaky)]})),
    )
    assert ran.code == 1
    assert "\\x1b[2J" in ran.out
    assert "\u001b" not in ran.out + ran.err


def test_a_project_that_says_nothing_is_tried(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Without environment.json and without --start, what the files of the base show is started."""
    git(sample, "rm", "-q", "harness/environment.json")
    git(sample, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "say nothing")
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, HONEST_LINES), "--json")
    assert ran.code == 0, ran.err
    assert ran.json()["status"] == "completed"


def test_the_old_code_is_started_as_said_after_resuming_too(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """What was said of the start of base is written down with the task."""
    blocked = submit({"status": "blocked", "summary": "no token", "blockers": ["the payment token"]})
    model = write_script(tmp_path, with_executor({"replies": [blocked]}))
    start = "python3 app.py --port {port}"
    given = ("--start", start, "--start-base", f"echo the old way; {start}")
    assert cli("run", REQUEST, "--repo", sample, "--model", model, *given).code == 3
    write_script(tmp_path, HONEST_LINES)
    resumed = cli("resume", "--repo", sample, "--json")
    assert resumed.code == 0, resumed.err
    logs = {log.stem: log.read_text() for log in sample.glob("harness/tasks/*/evidence/*/*-1.log")}
    assert "the old way" in logs["base-1"]
    assert "the old way" not in logs["change-1"]
