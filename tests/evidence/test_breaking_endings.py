"""Broken endings of programs, and what a scenario has to notice of them."""

from typing import Any

import pytest

from harness_executor.evidence.breaking_endings import ASIDE, CODE, CONTENT, GONE, LEFT, OTHER, SILENT, turned
from harness_executor.evidence.mutation import strength_of
from harness_executor.kernel.expect import Ended, check
from harness_executor.kernel.expectation import Expect, FileCheck, JsonCheck
from harness_executor.kernel.report import Execution, ScenarioRun, StepRun


def weakness(expect: Expect, ended: Ended) -> set[str]:
    """The classes that an expectation would not notice."""
    deed = Execution(("tool",), "", {}, {}, ended)
    step = StepRun("", deed, expect, check(expect, ended))
    assert step.passed
    return set(strength_of(ScenarioRun("s", (step,), complete=True)).survived)


def end(body: str = "", status: int = 0, **files: str) -> Ended:
    """An ending."""
    return Ended(status, (), body, files=files)


@pytest.mark.parametrize(
    ("expect", "ended", "missed"),
    [
        ({}, end("three\n"), {SILENT, OTHER}),
        ({"stdout_contains": ("three",)}, end("three\n"), set()),
        ({"stdout_contains": ("11",)}, end("a 11\n"), set()),
        ({"stdout_matches": (r"\d",)}, end("a 11\n"), {OTHER}),
        ({}, end(""), set()),
        ({"exit_code": (0, 1, 2)}, end(""), {CODE}),
        ({"exit_code": "nonzero"}, end("", 2), set()),
        ({"json": (JsonCheck("$.n", value=3),)}, end('{"n": 3}'), set()),
        ({"json": (JsonCheck("$", value=3),)}, end("3"), set()),
        ({"files": {"out": FileCheck()}}, end("done\n", out="text"), {CONTENT, SILENT, OTHER}),
        ({"files": {"out": FileCheck(contains=("text",))}}, end("done\n", out="text"), set()),
        ({"files": {"out": FileCheck(exists=False)}}, end(""), set()),
    ],
)
def test_each_class_must_be_noticed(expect: dict[str, Any], ended: Ended, missed: set[str]) -> None:
    """What is not looked at is named; what a program writes into a file may be all its answer."""
    assert weakness(Expect(**expect), ended) == missed


def test_the_classes_are_told_apart() -> None:
    """Files, output and code have names of their own."""
    assert len({ASIDE, CODE, CONTENT, GONE, LEFT, OTHER, SILENT}) == 7


def test_a_turned_text_shares_no_word_with_the_one_before() -> None:
    """Digits and letters change, and a text without any grows."""
    assert turned("11 ab\n") == "66 no\n"
    assert turned("...") == "...x"
