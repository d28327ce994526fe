"""Views: made from the log, never read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.task import replay
from harness_executor.store.views import list_row, publish, task_view
from tests.store.place import OPENED, Place

CHANGE = e.ChangeMade(1, 1, "t1", "", "counted", ("app.py",), ("count.py",))
PLAN = e.PlanProposed("count them", (e.Phase("count", ""), e.Phase("sum", "")), "GET /items/count")


def published(place: Place, *facts: e.Fact) -> dict[str, Any]:
    """The views after these facts, by name."""
    place.write(*facts)
    records = place.records()
    publish(place.layout, replay(record.fact for record in records), records)
    folder = place.folder.path
    found = [*place.folder.state.glob("*"), *place.folder.checkpoints.glob("*")]
    return {
        path.relative_to(folder).as_posix(): json.loads(path.read_text(encoding="utf-8")) for path in found
    }


def test_an_open_task_has_two_views(place: Place) -> None:
    """What the task is, and where it stands."""
    views = published(place, OPENED, PLAN)
    assert views == {
        "state/task.json": {
            "task_id": "task",
            "task": "count the items",
            "description": "count the items",
            "started_at": "2026-01-01T00:00:01+00:00",
            "phase": 1,
            "total_phases": 2,
            "status": "in_progress",
            "outcome": "in_progress",
            "base_commit": "b" * 40,
            "head": "b" * 40,
        },
        "state/context.json": {
            "completed": [],
            "current": "Phase 1: count",
            "remaining": ["Phase 2: sum"],
            "key_decisions": [],
            "files_modified": [],
            "files_created": [],
            "feedback": [],
        },
    }


def test_a_finished_phase_has_a_checkpoint(place: Place) -> None:
    """A view for each phase that is done, whoever did it."""
    executed = e.PhaseExecuted(1, "t1", "c1")
    views = published(place, OPENED, PLAN, CHANGE, executed, e.PhaseCheckpointed(2, "summed", ("kept",)))
    assert views["checkpoints/phase-1.json"] == {
        "phase": 1,
        "summary": "counted",
        "timestamp": "2026-01-01T00:00:04+00:00",
        "context_snapshot": {"completed": ["Phase 1"]},
    }
    assert views["checkpoints/phase-2.json"]["context_snapshot"] == {"completed": ["Phase 1", "Phase 2"]}
    assert views["state/task.json"]["head"] == "c1"
    context = views["state/context.json"]
    assert context["completed"] == ["Phase 1: counted", "Phase 2: summed"]
    assert (context["current"], context["remaining"], context["key_decisions"]) == ("", [], ["kept"])
    assert (context["files_modified"], context["files_created"]) == (["app.py"], ["count.py"])


def test_a_change_that_is_not_committed_is_no_checkpoint(place: Place) -> None:
    """A phase is done when it is committed."""
    assert set(published(place, OPENED, PLAN, CHANGE)) == {"state/task.json", "state/context.json"}


def test_phases_without_a_plan_have_numbers(place: Place) -> None:
    """A coding agent's task has no names for its phases."""
    opened = e.TaskOpened("task", "r", e.Mode.IMPLEMENT, e.Driver.SKILL, "b", "t", "n", 3, "docs/plan.md")
    views = published(place, opened)
    assert views["state/context.json"]["remaining"] == ["Phase 2", "Phase 3"]
    assert views["state/task.json"]["task"] == "n"
    assert views["state/task.json"]["plan_path"] == "docs/plan.md"


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (e.Status.COMPLETED, "completed"),
        (e.Status.COMPLETED_UNVERIFIED, "completed_unverified"),
        (e.Status.REFUSED, "failed"),
        (e.Status.FAILED, "failed"),
    ],
)
def test_a_closed_task_has_a_result(place: Place, status: e.Status, shown: str) -> None:
    """The result says how it ended in the words others know, and in ours."""
    judged = e.GateJudged(status is e.Status.COMPLETED, () if status is e.Status.COMPLETED else ("no proof",))
    closed = e.TaskClosed(status, "done", ("a.py",), ("b.py",), (), {"test": "pass"})
    reserved = e.CallReserved("job", 1, "m", 10, 10, 50, 3.0)
    charged = e.CallCharged("job", 1, "m", 6, 1, 25, 4)
    views = published(place, OPENED, reserved, charged, judged, closed)
    assert views["state/result.json"] == {
        "status": shown,
        "outcome": status.value,
        "summary": "done",
        "files_changed": ["a.py"],
        "files_created": ["b.py"],
        "completed_at": "2026-01-01T00:00:05+00:00",
        "validation": {"test": "pass"},
        "reasons": list(judged.reasons),
        "unverified": "",
        "blockers": [],
        "model_calls": 1,
        "spent": {
            "usd": 0.000025,
            "calls": 1,
            "input_tokens": 6,
            "output_tokens": 1,
            "cache_read_tokens": 4,
            "unsettled_calls": 0,
            "calls_of_unknown_price": 0,
            "seconds": 3.0,
        },
    }
    task = views["state/task.json"]
    assert (task["status"], task["summary"], task["files_created"]) == (shown, "done", ["b.py"])
    assert views["state/context.json"]["current"] == ""


def test_a_price_nobody_knows_is_not_shown_as_nothing(place: Place) -> None:
    """One call of unknown price makes the sum unknown."""
    known = e.CallCharged("job", 1, "m", 6, 1, 25)
    unknown = e.CallCharged("job", 2, "m", 6, 1)
    views = published(place, OPENED, known, unknown, e.TaskClosed(e.Status.FAILED, "no"))
    assert views["state/result.json"]["spent"]["usd"] is None
    assert views["state/result.json"]["spent"]["calls_of_unknown_price"] == 1


def test_a_task_that_is_looked_at_later_was_completed_when_it_was(place: Place) -> None:
    """Opening a closed task again does not move its end."""
    views = published(place, OPENED, e.TaskClosed(e.Status.FAILED, "gave up"))
    assert published(place) == views


def test_a_paused_task_is_blocked(place: Place) -> None:
    """A task that waits for a person says so."""
    assert published(place, OPENED, e.TaskPaused("which?"))["state/task.json"]["status"] == "blocked"


@pytest.mark.parametrize("spoilt", [b"", b"garbage", b"\xff\xfe", b'{"status": "completed"}'])
def test_a_spoilt_view_is_made_anew_and_never_believed(place: Place, spoilt: bytes) -> None:
    """Views may be lost or forged; the log is what counts."""
    views = published(place, OPENED)
    (place.folder.state / "task.json").write_bytes(spoilt)
    (place.folder.state / "context.json").unlink()
    assert published(place) == views


def test_a_view_that_did_not_change_is_not_written(place: Place) -> None:
    """Publishing again touches nothing."""
    published(place, OPENED)
    before = (place.folder.state / "task.json").stat().st_ino
    published(place)
    assert (place.folder.state / "task.json").stat().st_ino == before


def test_half_a_surrogate_pair_does_not_stop_the_views(place: Place) -> None:
    """A broken emoji in a summary is shown as it was written."""
    views = published(place, OPENED, e.TaskClosed(e.Status.FAILED, "gave up \ud83d"))
    assert views["state/result.json"]["summary"] == "gave up \ud83d"


def test_current_points_to_the_task_until_it_is_closed(place: Place) -> None:
    """The link follows the task last published, and goes with it."""
    published(place, OPENED)
    assert place.layout.current_id() == "task"
    (place.layout.tasks / ".current-task").symlink_to("left by a crash")
    published(place, e.Presented("summary.md"))
    assert place.layout.current_id() == "task"
    published(place, e.TaskClosed(e.Status.FAILED, ""))
    assert not place.layout.current.is_symlink()


def test_closing_one_task_leaves_the_link_to_another(place: Place) -> None:
    """Only its own link is removed."""
    other = place.layout.task("other")
    other.path.mkdir(parents=True)
    other.log.touch()
    place.layout.current.symlink_to("other")
    published(place, OPENED, e.TaskClosed(e.Status.FAILED, ""))
    assert place.layout.current_id() == "other"


def test_a_row_of_the_list_says_it_in_short(place: Place) -> None:
    """One line for each task."""
    place.write(OPENED, PLAN)
    records = place.records()
    assert list_row(replay(record.fact for record in records), records, is_current=True) == {
        "id": "task",
        "task": "count the items",
        "status": "in_progress",
        "outcome": "in_progress",
        "phase": "1/2",
        "started": "2026-01-01",
        "is_current": True,
    }


def test_a_task_without_facts_has_empty_views(place: Place, tmp_path: Path) -> None:
    """A log that was opened and never written to breaks nothing."""
    assert list_row(replay([]), (), is_current=False)["started"] == ""
    assert task_view(replay([]), ())["task"] == ""
