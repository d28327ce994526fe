"""Scenario files that people write: scenarios, logins they share, and steps before each of them."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from harness_executor.errors import ShapeError, UsageError
from harness_executor.evidence.documents import Where, data_of, located, text_of
from harness_executor.evidence.logins import Login, prepared
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.scenario import Scenario, Step, problem_of
from harness_executor.shapes import read

_KEYS = {"version", "scenarios", "logins", "before"}
_OWN = ("login", "before")
"""What a scenario of a file may say beside what a scenario is."""

T = TypeVar("T")


@frozen
class _Wish:
    """How a scenario wants to be prepared."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    login: str = ""
    before: bool = True


@frozen
class ScenarioFile:
    """A file that was read; its logins may still come from elsewhere."""

    name: str
    scenarios: tuple[Scenario, ...]
    wishes: tuple[_Wish, ...]
    logins: Mapping[str, Login] = field(default_factory=dict)
    before: tuple[Step, ...] = ()

    def prepared(self, logins: Mapping[str, Login] | None = None) -> tuple[Scenario, ...]:
        """Every scenario with the steps that come first, so that each stands for itself."""
        known = {**(logins or {}), **self.logins}
        found: list[Scenario] = []
        for scenario, wish in zip(self.scenarios, self.wishes, strict=True):
            if wish.login and wish.login not in known:
                raise UsageError(
                    f"{self.name}: {scenario.name}: there is no login {wish.login!r}",
                    hint="name it under logins in the file, or under auth in environment.json",
                )
            login = known[wish.login] if wish.login else None
            found.append(prepared(scenario, login, self.before if wish.before else ()))
        problem = problem_of(tuple(found))
        if problem:
            raise UsageError(
                f"{self.name}: {problem}", hint="docs/SCENARIOS.md shows how scenarios are written"
            )
        return tuple(found)


def load_scenarios(path: Path) -> tuple[Scenario, ...]:
    """The scenarios of a file, prepared with its own logins."""
    return read_scenarios(path).prepared()


def read_scenarios(path: Path) -> ScenarioFile:
    """A scenario file: a list of scenarios, or an object whose `scenarios` is one."""
    if not path.is_file():
        raise UsageError(f"there is no scenario file {path}", hint="name one with --scenarios FILE")
    text = text_of(path)
    data = data_of(path, text)

    def part(kind: type[T], value: Any, prefix: Where) -> T:
        try:
            return read(kind, value)
        except ShapeError as error:
            said = located(path, text, prefix, error)
            raise UsageError(said, hint="docs/SCENARIOS.md lists every key") from error

    prefix: Where = ()
    logins: dict[str, Login] = {}
    before: tuple[Step, ...] = ()
    if isinstance(data, dict) and set(data) <= _KEYS and "scenarios" in data:
        logins = part(dict[str, Login], data.get("logins", {}), ("logins",))
        before = part(tuple[Step, ...], data.get("before", []), ("before",))
        data, prefix = data["scenarios"], ("scenarios",)
    scenarios = part(tuple[Scenario, ...], _without_wishes(data), prefix)
    wishes = part(tuple[_Wish, ...], [_wish(one) for one in data], prefix)
    found = ScenarioFile(path.name, scenarios, wishes, logins, before)
    problem = problem_of(scenarios)
    if problem:
        raise UsageError(f"{path.name}: {problem}", hint="docs/SCENARIOS.md shows how scenarios are written")
    return found


def _without_wishes(data: Any) -> Any:
    if not isinstance(data, list):
        return data
    return [
        {key: value for key, value in one.items() if key not in _OWN} if isinstance(one, dict) else one
        for one in data
    ]


def _wish(one: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one[key] for key in _OWN if key in one}
