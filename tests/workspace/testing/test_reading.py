"""Reports that a program under test wrote."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.reading import Shelf, merged, read_text

P, F, S = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED
CASE = '<testsuite><testcase classname="A" name="x"/></testsuite>'


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """An empty folder for reports, and a pattern of the project's."""
    (tmp_path / "ours").mkdir()
    return Shelf(tmp_path, tmp_path, "ours", "build/*.xml")


def test_every_report_counts(shelf: Shelf) -> None:
    """Several runners in one command report together."""
    (shelf.tree / "ours" / "pytest.xml").write_text(CASE)
    (shelf.tree / "ours" / "unittest-1.jsonl").write_text('{"names": ["b"], "outcome": "failed"}\n')
    assert shelf.collect("") == {"A::x": P, "b": F}


def test_the_worse_of_two_counts() -> None:
    """A test that is reported twice is as good as its worse outcome."""
    assert merged([{"a": P, "b": S}, {"a": F, "b": P}]) == {"a": F, "b": S}


def test_reports_of_the_project_count_but_not_old_ones(shelf: Shelf) -> None:
    """What was committed as a report is removed before the run."""
    place = shelf.tree / "build"
    place.mkdir()
    (place / "old.xml").write_text(CASE)
    shelf.clear()
    assert shelf.collect("") is None
    (place / "new.xml").write_text(CASE)
    assert shelf.collect("") == {"A::x": P}


@pytest.mark.parametrize("pattern", ["build/**.xml", "build/**/*.xml", "**.xml", "**nit/a*.xml", "build/***"])
def test_stars_stand_for_folders_wherever_they_are(pattern: str, shelf: Shelf) -> None:
    """`**` beside other letters finds reports in folders too."""
    place = shelf.tree / "build" / "unit"
    place.mkdir(parents=True)
    (place / "a.xml").write_text(CASE)
    assert replace(shelf, named=pattern).collect("") == {"A::x": P}


def test_nothing_readable_is_nothing_known(shelf: Shelf) -> None:
    """Damage, the wrong shape and silence are not an empty, green report."""
    for name, text in {
        "a.xml": "<",
        "b.json": "[1]",
        "c.jsonl": "{}",
        "d.json": '{"testResults": 1}',
    }.items():
        (shelf.tree / "ours" / name).write_text(text)
    assert shelf.collect("all good\n") is None


def test_a_link_a_pipe_or_a_giant_is_no_report(shelf: Shelf, tmp_path: Path) -> None:
    """Nothing outside is read, and nothing blocks."""
    secret = tmp_path / "secret.xml"
    secret.write_text(CASE)
    (shelf.tree / "ours" / "link.xml").symlink_to(secret)
    os.mkfifo(shelf.tree / "ours" / "pipe.xml")
    with (shelf.tree / "ours" / "giant.xml").open("wb") as giant:
        giant.truncate(100_000_000)
    assert shelf.collect("") is None
    with pytest.raises(OSError, match="link"):
        read_text(shelf.tree / "ours" / "link.xml")


def test_a_folder_that_became_a_link_leads_nowhere(tmp_path: Path) -> None:
    """Neither our own folder nor one of the project's is followed elsewhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.xml").write_text(CASE)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "ours").symlink_to(outside)
    (tree / "build").symlink_to(outside)
    shelf = Shelf(tree, tree, "ours", "build/*.xml")
    shelf.clear()
    assert (outside / "a.xml").exists()
    assert shelf.collect("") is None


def test_output_is_read_when_there_is_no_file(shelf: Shelf) -> None:
    """TAP in the output is a report too."""
    assert shelf.collect("TAP version 13\nok 1 - a\n") == {"a": P}
