"""Does a scenario ask with values that nobody can know beforehand?"""

from collections.abc import Collection
from typing import Any

from harness_executor.kernel.lean import lean
from harness_executor.kernel.scenario import Scenario
from harness_executor.kernel.values import DRAWN, names_in


def draws(scenario: Scenario) -> bool:
    """Does any step use a value that is drawn for each run?"""
    drawn: set[str] = set()
    for name, text in scenario.let.items():
        if _uses(text, drawn):
            drawn.add(name)
    return _uses(lean(scenario.steps), drawn)


def _uses(value: Any, drawn: Collection[str]) -> bool:
    return any(name.startswith(DRAWN) or name in drawn for name in names_in(value))
