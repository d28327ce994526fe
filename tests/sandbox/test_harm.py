"""What a command does to the machine."""

from pathlib import Path

from harness_executor.sandbox.base import Cause
from harness_executor.sandbox.harm import Watch
from harness_executor.sandbox.limits import Limits


def test_a_tree_that_was_cleared_away_is_still_watched(tmp_path: Path) -> None:
    """A run that is stopped removes its trees while their watch goes on: the disk is what is looked at."""
    tree = tmp_path / "run" / "tree"
    tree.mkdir(parents=True)
    watch = Watch.begin(tree, None, Limits())
    tree.rmdir()
    tree.parent.rmdir()
    assert watch.harm() is Cause.NONE
