"""Which checks `harness verify` runs, and what it says of them."""

from argparse import Namespace
from dataclasses import replace

import pytest

from harness_executor.cli.checking import check_lines, chosen_checks
from harness_executor.errors import UsageError
from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.workspace.project import Project
from tests.kernel.examples import EVIDENCE

PROJECT = Project(None, {"lint": "make lint", "test": "make test"})


@pytest.mark.parametrize(
    ("asked", "names"),
    [("all", ("lint", "test")), ("none", ()), ("test", ("test",)), ("test, lint", ("test", "lint"))],
)
def test_checks_are_chosen_by_name(asked: str, names: tuple[str, ...]) -> None:
    """All of them, none, or those that are named."""
    assert chosen_checks(Namespace(checks=asked), PROJECT) == names


@pytest.mark.parametrize("asked", ["tests", "test,x", ",", ""])
def test_a_check_that_base_does_not_declare_is_refused(asked: str) -> None:
    """A misspelled name is an error, not a check that silently was not run."""
    with pytest.raises(UsageError, match="names no check of base") as caught:
        chosen_checks(Namespace(checks=asked), PROJECT)
    assert "lint, test" in caught.value.hint


def test_each_check_and_each_finding_has_a_line() -> None:
    """What was allowed is said with the words that allowed it, and what was not run is said too."""
    finding = CheckFinding(FindingKind.REMOVED, "a", allowed="*")
    result = CheckResult("test", "make", True, False, findings=(finding,), base_tests=3, change_tests=2)
    lines = list(check_lines(replace(EVIDENCE, checks=(result,), unchecked=("lint",))))
    assert lines == [
        "check test: pass → fail, 3 → 2 tests",
        "  - a was removed (allowed by '*')",
        "not checked: lint",
    ]
