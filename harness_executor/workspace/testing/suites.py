"""Tests in the JSON of jest, vitest and mocha."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.naming import named

_OUTCOMES = {"passed": Outcome.PASSED, "failed": Outcome.FAILED}


def read_suites(text: str, root: str = "") -> dict[str, Outcome]:
    """Every test of a report; a file that could not be loaded is one test that failed."""
    data = json.loads(text)
    found: dict[str, Outcome] = {}
    for name, outcome in _jest(data, root) if "testResults" in data else _mocha(data, root):
        if found.get(name) is not Outcome.FAILED:
            found[name] = outcome
    return found


def _jest(data: Mapping[str, Any], root: str) -> Iterator[tuple[str, Outcome]]:
    for suite in data["testResults"]:
        file = str(suite["name"])
        for case in suite["assertionResults"]:
            names = (*map(str, case["ancestorTitles"]), str(case["title"]))
            yield named(file, names, root), _OUTCOMES.get(str(case["status"]), Outcome.SKIPPED)
        if not suite["assertionResults"] and suite["status"] == "failed":
            yield named(file, (), root), Outcome.FAILED


def _mocha(data: Mapping[str, Any], root: str) -> Iterator[tuple[str, Outcome]]:
    kinds = {"passes": Outcome.PASSED, "pending": Outcome.SKIPPED, "failures": Outcome.FAILED}
    for kind, outcome in kinds.items():
        for case in data[kind]:
            yield named(str(case.get("file") or ""), (str(case["fullTitle"]),), root), outcome
