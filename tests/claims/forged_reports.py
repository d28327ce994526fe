"""Reports that somebody other than the harness wrote or altered."""

import json
from pathlib import Path
from typing import Any

from tests.claims.app import COUNT
from tests.claims.asking import COUNTS
from tests.claims.case import Corpus, Outcome
from tests.claims.project import Project, make_project, verified_task

CORPUS = Corpus()
UNSEEN = "the harness recorded no verification of this task"


def _open_with_change(place: Path) -> tuple[Project, str]:
    project = make_project(place)
    task_id = project.open_task()
    project.append(COUNT)
    return project, task_id


def _complete_with(place: Path, report: Any) -> Outcome:
    project, _ = _open_with_change(place)
    project.write("harness/trace/verification-report.json", json.dumps(report))
    return project.complete()


def _steps(request: Any, response: Any) -> list[Any]:
    return [
        {"name": "items are counted", "status": "pass", "steps": [{"request": request, "response": response}]}
    ]


@CORPUS.forged("A58", "a report written by hand in the fields readers know", UNSEEN)
def hand_written(place: Path) -> Outcome:
    """Every field the first gates looked at, and all of them good."""
    asked = {"method": "GET", "url": "http://127.0.0.1:8000/items/count"}
    answered = {"status": 200, "headers": {"content-type": "application/json"}, "body": '{"count": 0}'}
    return _complete_with(
        place,
        {
            "overall_status": "pass",
            "server": {"started": True, "ready_in_seconds": 0.4, "stopped_cleanly": True},
            "task_specific_scenarios": _steps(asked, answered),
            "summary": {"task_specific_total": 1, "task_specific_passed": 1, "pass_rate": 1.0},
        },
    )


@CORPUS.forged("A58", "a report whose request and response are any words", UNSEEN)
def truthy_words(place: Path) -> Outcome:
    """Request and response are there, and mean nothing."""
    scenarios = _steps("x", "y")
    report = {"overall_status": "pass", "server": {"started": "yes"}, "task_specific_scenarios": scenarios}
    return _complete_with(place, report)


@CORPUS.forged("A69", "a skip with a reason", UNSEEN)
def skip_with_reason(place: Path) -> Outcome:
    """Whoever wrote the change also decided that it need not be verified."""
    return _complete_with(place, {"overall_status": "skip", "skip_reason": "the database is not available"})


@CORPUS.forged("A69", "a skip with no reason", UNSEEN)
def skip_without_reason(place: Path) -> Outcome:
    """The shortest report a gate was ever fooled by."""
    return _complete_with(place, {"overall_status": "skip"})


@CORPUS.forged("A58", "a real report of another project, fitted to this task", UNSEEN)
def fitted_copy(place: Path) -> Outcome:
    """A report the harness made elsewhere, with this task, this commit and this tree written in."""
    other, _ = verified_task(place, "other")
    project, task_id = _open_with_change(place)
    report = json.loads(other.report.read_text())
    project.git("add", "--all")
    bound = {"base_commit": project.git("rev-parse", "HEAD"), "tree": project.git("write-tree")}
    project.write(
        "harness/trace/verification-report.json", json.dumps({**report, "task_id": task_id, **bound})
    )
    return project.complete()


@CORPUS.forged(
    "A58", "the real report of a failed verification, edited to pass", "fails on the change too", "404"
)
def edited_to_pass(place: Path) -> Outcome:
    """The harness refused; the report was then made to say the opposite."""
    project = make_project(place)
    project.open_task()
    project.append("\n# counted\n")
    project.verify(COUNTS, words=())
    report = json.loads(project.report.read_text())
    report |= {"overall_status": "pass", "accepted": True, "reasons": []}
    for scenario in report["task_specific_scenarios"]:
        scenario |= {"status": "pass", "meaning": "proves", "after": "pass"}
    project.write("harness/trace/verification-report.json", json.dumps(report))
    return project.complete()


@CORPUS.forged("A61", "the good report of the task before, still in its place", UNSEEN)
def yesterdays_report(place: Path) -> Outcome:
    """An earlier task was proved; the next one leans on its report."""
    project, _ = verified_task(place)
    project.complete()
    project.open_task("count again")
    project.append("\n# something else\n")
    return project.complete()


@CORPUS.forged("A58", "the files of the task edited to say completed", "in_progress")
def edited_views(place: Path) -> Outcome:
    """State files are written for readers; nobody believes them back."""
    project, task_id = _open_with_change(place)
    folder = project.state / "tasks" / task_id / "state"
    view = json.loads((folder / "task.json").read_text()) | {"status": "completed", "outcome": "completed"}
    (folder / "task.json").write_text(json.dumps(view))
    (folder / "result.json").write_text(json.dumps({"status": "completed", "outcome": "completed"}))
    shown = project.outcome("task-state", "show", "--json").said
    return Outcome(json.loads(shown)["task"]["status"] == "completed", shown)
