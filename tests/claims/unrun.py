"""Changes that nobody wants to run, and what the harness says to that."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.claims.asking import STAYS, Data, at, scenario, step
from tests.claims.case import Outcome
from tests.claims.project import Project, make_project
from tests.claims.script import DONE, played

UNVERIFIED = 5
README = "# Items\n\nA list of items.\n"
DOCS = {"README.md": README, "docs/guide.md": "How to use it.\n"}
SAYS_SO = {
    **DONE,
    "summary": "Documentation only; there is nothing to verify.",
    "files_changed": ["README.md"],
}
"""What a model says of any change at all."""
UNCHANGED: Data = scenario("the list stays", step("/items", 200, at("$", [])), kind="unchanged", why=STAYS)


def documented(place: Path, **files: str) -> Project:
    """A project with documents."""
    named = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    return make_project(place, {**DOCS, **named})


def passed(outcome: Outcome) -> Outcome:
    """The outcome for a case in which completed, unverified, is what is wanted."""
    return replace(outcome, accepted=outcome.code == UNVERIFIED)


def let_through(outcome: Outcome) -> Outcome:
    """The outcome for a case in which neither completed nor unverified may come out."""
    return replace(outcome, accepted=outcome.code in (0, UNVERIFIED))


def skipped(project: Project) -> Outcome:
    """`harness verify` with no scenarios."""
    return project.outcome("verify", "--base", "HEAD")


def run(
    project: Project, *work: Data, scenarios: tuple[Data, ...] = (UNCHANGED,), result: Any = None
) -> Outcome:
    """A run in which the executor does this work, and says that it is only documentation."""
    return project.run_scripted(played(scenarios, *work, result=result or SAYS_SO))
