"""Whole runs with a scripted model, and what their logs say."""

import json
from typing import Any

from harness_executor.kernel.events import Fact
from harness_executor.store.record import read
from tests.claims.case import Outcome
from tests.claims.project import Project


def run_script(
    project: Project, request: str, lines: Any, verification: int, environment: dict[str, str]
) -> Outcome:
    """`harness run` with this script, and so many tries to mend what verification shows."""
    project.write("harness/config.toml", f"[caps]\nself_fix = 0\nverification = {verification}\n")
    path = project.place / "script.json"
    path.write_text(json.dumps(lines), encoding="utf-8")
    return project.outcome("run", request, "--model", f"scripted:{path}", **environment)


def facts(project: Project, kind: type[Fact]) -> list[Any]:
    """The facts of a kind in the log of the only task."""
    (log,) = {path.resolve() for path in project.state.glob("tasks/*/events.jsonl")}
    return [record.fact for record in read(log).records if isinstance(record.fact, kind)]
