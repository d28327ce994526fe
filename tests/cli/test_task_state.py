"""The skill's door: a shell transcript as a coding agent would leave it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness_executor.evidence.suite import load_suite
from tests.conftest import Cli, Ran, git

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "task_state.py"
SCENARIOS = [
    {
        "name": "stats",
        "why": "add GET /todos/stats",
        "steps": [
            {
                "request": {"path": "/todos/stats"},
                "expect": {
                    "status": 200,
                    "json": [{"path": "$.total", "value": 0}, {"path": "$.open", "value": 0}],
                },
            }
        ],
    }
]


def state(repo: Path, *words: str) -> Ran:
    """scripts/task_state.py, run by its file name."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        cwd=repo,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def edit(repo: Path) -> None:
    """The change, made by hand."""
    app = repo / "app.py"
    first = '        if self.path == "/todos":\n            return self.answer(200, l'
    route = '        if self.path == "/todos/stats":\n            return self.answer(200, COUNTS)\n'
    counts = 'COUNTS = {"total": 0, "open": 0}\n\n\nclass Api('
    app.write_text(app.read_text().replace(first, route + first).replace("class Api(", counts))


@pytest.fixture
def scenarios(tmp_path: Path) -> Path:
    """A scenario file."""
    path = tmp_path / "scenarios.json"
    path.write_text(json.dumps(SCENARIOS))
    return path


def test_completes_with_evidence_the_harness_recorded(sample: Path, scenarios: Path, cli: Cli) -> None:
    """init, an edit by hand, harness verify, complete: accepted, and the views say so."""
    started = state(sample, "init", "stats", "--description", "add GET /todos/stats")
    task_id = started.out.strip()
    assert started.out == f"{task_id}\n"
    edit(sample)
    assert cli("verify", "--scenarios", scenarios, "--repo", sample).code == 0
    done = state(
        sample,
        "complete",
        "--summary",
        "added stats",
        "--files-changed",
        "app.py",
        "--lessons",
        '["routes are in order"]',
    )
    assert done.code == 0, done.err
    assert done.out.startswith(f"completed {task_id}\nkept: harness/scenarios/{task_id}.yaml  (commit it")
    (suite,) = load_suite(sample)
    assert (suite.name, suite.why) == ("stats", "add GET /todos/stats")
    assert suite.steps[0].expect.json[1].value == 0
    shown = json.loads(state(sample, "show", "--task-id", task_id, "--json").out)
    assert shown["task"]["status"] == "completed"
    assert shown["result"]["files_changed"] == ["app.py"]
    folder = sample / "harness" / "tasks" / task_id
    assert json.loads((folder / "state" / "result.json").read_text())["summary"] == "added stats"
    assert not (sample / "harness" / "tasks" / "current").is_symlink()
    episode = next((sample / "harness" / "memory" / "episodes").glob("*.jsonl")).read_text()
    assert json.loads(episode)["lessons"] == ["routes are in order"]


def test_refuses_a_report_written_by_hand(sample: Path, cli: Cli) -> None:
    """A verification-report.json that somebody wrote is not evidence."""
    state(sample, "init", "stats")
    edit(sample)
    report = sample / "harness" / "trace" / "verification-report.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    step = {"request": {"method": "GET"}, "response": {"status": 200}}
    report.write_text(
        json.dumps(
            {
                "overall_status": "pass",
                "server": {"started": True},
                "task_specific_scenarios": [{"steps": [step]}],
            }
        )
    )
    refused = state(sample, "complete", "--summary", "done")
    assert refused.code == 4
    assert "the harness recorded no verification of this task" in refused.err
    assert "harness verify" in refused.err


def test_refuses_the_report_of_another_task(sample: Path, scenarios: Path, cli: Cli) -> None:
    """Evidence belongs to the task it was recorded for, and to no other."""
    state(sample, "init", "first")
    edit(sample)
    assert cli("verify", "--scenarios", scenarios, "--repo", sample).code == 0
    state(sample, "init", "second")
    refused = state(sample, "complete", "--summary", "done")
    assert refused.code == 4
    assert "the harness recorded no verification of this task" in refused.err


def test_refuses_after_one_more_edit(sample: Path, scenarios: Path, cli: Cli) -> None:
    """What was verified is the tree as it was; one more edit needs one more verification."""
    state(sample, "init", "stats")
    edit(sample)
    assert cli("verify", "--scenarios", scenarios, "--repo", sample).code == 0
    (sample / "app.py").write_text((sample / "app.py").read_text() + "\n# one more thought\n")
    refused = state(sample, "complete", "--summary", "done")
    assert refused.code == 4
    assert "the code changed after it was verified" in refused.err
    assert cli("verify", "--scenarios", scenarios, "--repo", sample).code == 0
    assert state(sample, "complete", "--summary", "done").code == 0


def test_committing_the_verified_tree_changes_nothing(sample: Path, scenarios: Path, cli: Cli) -> None:
    """A commit of exactly what was verified is still what was verified."""
    state(sample, "init", "stats")
    edit(sample)
    assert cli("verify", "--scenarios", scenarios, "--repo", sample).code == 0
    git(sample, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qam", "stats")
    assert state(sample, "complete", "--summary", "done").code == 0


def test_there_is_no_way_round_the_gate(sample: Path) -> None:
    """--skip-gate does not exist."""
    state(sample, "init", "stats")
    ran = state(sample, "complete", "--summary", "done", "--skip-gate")
    assert ran.code == 2
    assert "--skip-gate" in ran.err


def test_phases_are_finished_in_order_and_completely(sample: Path, scenarios: Path, cli: Cli) -> None:
    """Out of order, past the end, or unfinished: each refused; remaining shrinks as phases end."""
    state(sample, "init", "stats", "--phases", "3")
    assert state(sample, "checkpoint", "--phase", "2", "--summary", "x").code == 2
    done = state(
        sample, "checkpoint", "--phase", "1", "--summary", "looked", "--decisions", '["keep it small"]'
    )
    assert done.code == 0, done.err
    context = json.loads(state(sample, "show", "--json").out)["context"]
    assert context["completed"] == ["Phase 1: looked"]
    assert context["current"] == "Phase 2"
    assert context["remaining"] == ["Phase 3"]
    assert context["key_decisions"] == ["keep it small"]
    edit(sample)
    assert cli("verify", "--scenarios", scenarios, "--repo", sample).code == 0
    refused = state(sample, "complete", "--summary", "done")
    assert refused.code == 4
    assert "phase 2 has no checkpoint" in refused.err
    assert state(sample, "checkpoint", "--phase", "2", "--summary", "edited").code == 0
    assert state(sample, "complete", "--summary", "done").code == 0


def test_list_is_always_json_when_asked(sample: Path) -> None:
    """No tasks is an empty list, and later ones have the fields readers know."""
    assert json.loads(state(sample, "list", "--json").out) == []
    first = state(sample, "init", "one").out.strip()
    state(sample, "fail", "--summary", "gave up", "--reason", "no time", "--lessons", "ask first")
    second = state(sample, "init", "two").out.strip()
    listed = json.loads(state(sample, "list", "--json").out)
    assert [row["id"] for row in listed] == [first, second]
    assert [row["status"] for row in listed] == ["failed", "in_progress"]
    assert [row["is_current"] for row in listed] == [False, True]
    assert listed[0]["phase"] == "1/1"
    assert state(sample, "complete", "--task-id", first, "--summary", "x").code == 2


def test_a_failed_task_teaches_too(sample: Path) -> None:
    """Failures become episodes as well, without any lesson given."""
    state(sample, "init", "one")
    state(sample, "fail", "--summary", "gave up")
    episode = json.loads(next((sample / "harness" / "memory" / "episodes").glob("*.jsonl")).read_text())
    assert episode["outcome"] == "failure"


def test_ids_never_collide(sample: Path) -> None:
    """The same name twice gives two ids, both readable."""
    ids = {state(sample, "init", "Add Stats!").out.strip() for _ in range(3)}
    assert len(ids) == 3
    assert all(task_id.startswith("add-stats-") for task_id in ids)


def test_validation_and_lessons_must_be_readable(sample: Path) -> None:
    """Broken JSON in an option is a usage error that names the option."""
    state(sample, "init", "one")
    assert "--validation is not JSON" in state(sample, "complete", "--summary", "x", "--validation", "{").err
    assert "--lessons is not JSON" in state(sample, "fail", "--summary", "x", "--lessons", "[1,").err


def test_a_report_is_not_written_into_the_change(sample: Path, scenarios: Path, cli: Cli) -> None:
    """It would be a change that nobody verified; a folder that git ignores, or one outside, is fine."""
    state(sample, "init", "stats", "--description", "add GET /todos/stats")
    edit(sample)
    words = ("verify", "--scenarios", scenarios, "--repo", sample, "--report")
    refused = cli(*words, f"html={sample / 'report.html'}")
    assert refused.code == 2, refused.err
    assert "report.html would become part of the change" in refused.err
    with (sample / ".git/info/exclude").open("a") as ignored:
        ignored.write("*.html\n")
    assert cli(*words, f"html={sample / 'report.html'}").code == 0
    done = state(sample, "complete", "--summary", "added stats", "--files-changed", "app.py")
    assert done.code == 0, done.err
