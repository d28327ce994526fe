"""Tests in the JSON of jest, vitest and mocha."""

import json

import pytest

from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.suites import read_suites

P, F, S = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED


def _case(title: str, status: str) -> dict[str, object]:
    return {"ancestorTitles": ["g"], "title": title, "status": status}


def test_jest_and_vitest_are_read() -> None:
    """Groups are part of the name; a file that could not be loaded is one failed test."""
    cases = [_case("a", "passed"), _case("b", "failed"), _case("c", "pending"), _case("d", "todo")]
    suites = [
        {"name": "/p/x.test.js", "status": "failed", "assertionResults": cases},
        {"name": "/p/y.test.js", "status": "failed", "assertionResults": []},
    ]
    found = read_suites(json.dumps({"testResults": suites}), "/p")
    names = {f"x.test.js::g::{name}": outcome for name, outcome in zip("abcd", (P, F, S, S), strict=True)}
    assert found == {**names, "y.test.js": F}


def test_mocha_is_read() -> None:
    """The full title is the name; a hook that fails is a failure of its own."""
    one = {"file": "/p/t.js", "fullTitle": "g a"}
    data = {
        "passes": [one],
        "pending": [{**one, "fullTitle": "g b"}],
        "failures": [{**one, "fullTitle": "g c"}],
    }
    assert read_suites(json.dumps(data), "/p") == {"t.js::g a": P, "t.js::g b": S, "t.js::g c": F}


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "1"])
def test_what_is_no_report_is_refused(text: str) -> None:
    """Another shape is an error, never an empty report."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_suites(text)
