"""Verifications that were recorded, found by name."""

import os
from pathlib import Path

import pytest

from harness_executor.errors import UsageError
from harness_executor.store.layout import Layout
from harness_executor.store.runs import MARK, find_run, recorded


def record(place: Path, run_id: str, at: int) -> Path:
    """A folder of a run that ended at a second."""
    folder = place / run_id
    folder.mkdir(parents=True)
    (folder / MARK).write_text("{}\n")
    os.utime(folder / MARK, (at, at))
    return folder


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A project with two runs, and a task with two of its own."""
    found = Layout(tmp_path)
    record(found.runs, "aaaa1", 1)
    record(found.runs, "aaaa2", 4)
    record(found.task("a-task").evidence, "bbbb1", 2)
    record(found.task("a-task").evidence, "bbbb2", 3)
    (found.task("a-task").path / "events.jsonl").write_text("")
    return found


def test_runs_come_in_the_order_of_their_end(layout: Layout) -> None:
    """The last that ended is the last, wherever it lies; a folder without a record is none."""
    (layout.runs / "cccc1").mkdir()
    assert [run.name for run in recorded(layout)] == ["aaaa1", "bbbb1", "bbbb2", "aaaa2"]
    assert [run.name for run in recorded(layout, "a-task")] == ["bbbb1", "bbbb2"]


def test_a_run_is_found_by_its_task_or_the_beginning_of_its_id(layout: Layout) -> None:
    """Nothing means the last of all, a task its last one, and an id the one that it begins."""
    assert find_run(layout).name == "aaaa2"
    assert find_run(layout, "a-task").name == "bbbb2"
    assert find_run(layout, "aaaa1").name == "aaaa1"


def test_a_link_is_no_run(layout: Layout, tmp_path: Path) -> None:
    """A folder that only points to a record elsewhere is not looked at."""
    elsewhere = record(tmp_path / "elsewhere", "dddd1", 9)
    (layout.runs / "dddd1").symlink_to(elsewhere)
    assert find_run(layout).name == "aaaa2"


def test_what_is_not_one_run_is_refused(layout: Layout, tmp_path: Path) -> None:
    """Several, none, and a beginning too short to mean one are each said."""
    with pytest.raises(UsageError, match="2 verifications begin with 'aaaa'"):
        find_run(layout, "aaaa")
    with pytest.raises(UsageError, match="no verification of 'ffff'"):
        find_run(layout, "ffff")
    with pytest.raises(UsageError, match="no verification of 'x"):
        find_run(layout, "x")
    with pytest.raises(UsageError, match="no verification was recorded"):
        find_run(Layout(tmp_path / "empty"))
