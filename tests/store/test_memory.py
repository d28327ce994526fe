"""What earlier tasks taught."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.task import Task, replay
from harness_executor.store.layout import Layout
from harness_executor.store.memory import Memory
from tests.store.place import OPENED

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """The memory of a new project."""
    return Memory(Layout(tmp_path))


def closed(
    request: str, *lessons: str, status: e.Status = e.Status.COMPLETED, task_id: str = "", at: datetime = NOW
) -> tuple[Task, datetime]:
    """A closed task that taught something."""
    opened = replace(OPENED, task_id=task_id or request, request=request)
    return replay([opened, e.TaskClosed(status, "", lessons=lessons)]), at


def test_remembers_a_closed_task_once(memory: Memory) -> None:
    """A task that is published again after a crash adds no second episode."""
    task, now = closed("count the items", "counts are cheap")
    task = replay([OPENED, e.GateJudged(True, ()), e.TaskClosed(e.Status.COMPLETED, "", lessons=("a",))])
    memory.remember(task, now)
    memory.remember(task, now)
    assert memory.episodes() == [
        {
            "task": "count the items",
            "task_id": "task",
            "outcome": "success",
            "timestamp": "2026-01-02T03:04:05+00:00",
            "lessons": ["a"],
            "reasons": [],
        }
    ]
    assert [path.name for path in memory.layout.episodes.iterdir()] == ["2026-01-02.jsonl"]


def test_an_open_task_taught_nothing_yet(memory: Memory) -> None:
    """Only what is over is remembered."""
    memory.remember(replay([OPENED]), NOW)
    assert memory.episodes() == []


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (e.Status.COMPLETED, "success"),
        (e.Status.COMPLETED_UNVERIFIED, "partial"),
        (e.Status.REFUSED, "failure"),
        (e.Status.FAILED, "failure"),
    ],
)
def test_the_outcome_is_the_gates(memory: Memory, status: e.Status, outcome: str) -> None:
    """Only what was verified is a success."""
    memory.remember(*closed("count", status=status))
    assert memory.episodes()[0]["outcome"] == outcome


def test_a_refused_task_keeps_its_reasons(memory: Memory) -> None:
    """What the gate said can be read later."""
    facts = [OPENED, e.GateJudged(False, ("no proof",)), e.TaskClosed(e.Status.REFUSED, "")]
    memory.remember(replay(facts), NOW)
    assert memory.episodes()[0]["reasons"] == ["no proof"]


def test_gives_lessons_of_like_tasks_nearest_first(memory: Memory) -> None:
    """Shared words decide; each lesson is given once, and strangers are left out."""
    memory.remember(*closed("list all items", "paging is slow", "items have ids"))
    memory.remember(*closed("count all the items by status", "items have ids", "status is a word"))
    memory.remember(*closed("rename the logo", "logos are large"))
    memory.remember(*closed("count items", "never trust this", status=e.Status.REFUSED))
    assert memory.lessons_for("Count the ITEMS by status") == (
        "items have ids",
        "status is a word",
        "paging is slow",
        "logos are large",
    )
    assert memory.lessons_for("count the items by status", limit=1) == ("items have ids",)
    assert memory.lessons_for("paint a house") == ()


def test_lessons_with_odd_characters_are_kept_whole(memory: Memory) -> None:
    """Separators that only some readers take for the end of a line do not cut an episode in two."""
    lesson = "one\u2028two\x85three\x0cfour\r\nfive \ud83d"
    memory.remember(*closed("count items", lesson))
    memory.remember(*closed("count items", lesson))
    assert len(memory.episodes()) == 1
    assert memory.lessons_for("count items") == (lesson,)


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        "[]",
        '"text"',
        '{"outcome": "success", "task": "count items"}',
        '{"outcome": "success", "task": "count items", "lessons": null}',
        '{"outcome": "success", "task": "count items", "lessons": 7}',
        '{"outcome": "success", "task": "count items", "lessons": "text"}',
        '{"outcome": "success", "task": ["count"], "task": "items", "lessons": []}',
        '{"task": "count it',
        "\ufffd\x00",
    ],
)
def test_what_cannot_be_read_is_passed_over(memory: Memory, line: str) -> None:
    """A spoilt line costs itself, not the lessons around it."""
    memory.remember(*closed("count items", "counts are cheap"))
    path = memory.layout.episodes / "2026-01-02.jsonl"
    path.write_text(line + "\n" + path.read_text() + line)
    memory.remember(*closed("count items again", "still cheap"))
    assert set(memory.lessons_for("count items")) == {"counts are cheap", "still cheap"}


def test_bytes_that_are_no_text_are_passed_over(memory: Memory) -> None:
    """A file of somebody else's in the folder does no harm."""
    memory.remember(*closed("count items", "counts are cheap"))
    (memory.layout.episodes / "1999.jsonl").write_bytes(b"\xff\xfe\n\x80")
    assert memory.lessons_for("count items") == ("counts are cheap",)


def test_keeps_failures_for_later(memory: Memory) -> None:
    """One line a failure, one file a day."""
    memory.note_failure("verify", "no proof é", "task", NOW)
    memory.note_failure("verify", "no negative", "task", NOW)
    lines = (memory.layout.failures / "2026-01-02.jsonl").read_text(encoding="utf-8").splitlines()
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert [one["error_message"] for one in found] == ["no proof é", "no negative"]
    assert found[0] == {
        "timestamp": "2026-01-02T03:04:05+00:00",
        "failure_type": "verify",
        "error_message": "no proof é",
        "outcome": "still_failed",
        "context": {"task_id": "task"},
    }
