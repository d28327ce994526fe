"""The project's own scenarios: kept when a task is complete, and run for every later change."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.evidence.documents import text_for
from harness_executor.evidence.logins import logins_of
from harness_executor.evidence.scenario_file import read_scenarios
from harness_executor.kernel.lean import is_default
from harness_executor.kernel.report import PREDEFINED
from harness_executor.kernel.scenario import Scenario
from harness_executor.store.files import write_atomically
from harness_executor.workspace.project import as_project, environment_file, load

PLACES = ("harness/scenarios", ".harness/scenarios")

__all__ = ["PREDEFINED", "kept", "load_suite", "place_of", "retired"]


def load_suite(tree: Path, beside: tuple[Scenario, ...] = ()) -> tuple[Scenario, ...]:
    """The scenarios of an exported tree, file by file, each with a name of its own."""
    return tuple(scenario for _, scenario in _filed(tree, beside))


def retired(
    base: Path, change: Path, beside: tuple[Scenario, ...], allowed: Callable[[str], str]
) -> dict[str, str]:
    """Scenarios that the change keeps no more, with the words by which a person allowed it of their file."""
    still = [replace(scenario, name="") for scenario in _known(change)]
    gone = {
        scenario.name: allowed(file)
        for file, scenario in _filed(base, beside)
        if not _is_alike(base / file, change / file) and replace(scenario, name="") not in still
    }
    return {name: words for name, words in gone.items() if words}


def _filed(tree: Path, beside: tuple[Scenario, ...]) -> Iterator[tuple[str, Scenario]]:
    names = {scenario.name for scenario in beside}
    said = environment_file(tree)
    logins = logins_of(as_project(load(said), said).auth) if said else {}
    for path in sorted(path for place in PLACES for path in (tree / place).glob("*.*")):
        if path.is_symlink() or path.suffix not in (".yaml", ".yml", ".json"):
            continue
        for scenario in read_scenarios(path).prepared(logins):
            name = scenario.name if scenario.name not in names else f"{scenario.name} ({path.stem})"
            if name not in names:
                names.add(name)
                yield path.relative_to(tree).as_posix(), replace(scenario, name=name)


def _is_alike(old: Path, new: Path) -> bool:
    return new.is_file() and not new.is_symlink() and new.read_bytes() == old.read_bytes()


def place_of(folder: Path, task_id: str) -> Path:
    """Where the scenarios of a task are kept."""
    return folder / "scenarios" / f"{task_id}.yaml"


def kept(folder: Path, task_id: str, commit: str, scenarios: tuple[Scenario, ...]) -> Path | None:
    """Write the scenarios of a complete task for later ones, but for those that are kept already.

    A file that is there stays as it is.
    """
    path = place_of(folder, task_id)
    scenarios = tuple(one for one in scenarios if one not in _known(folder.parent))
    if not scenarios or path.exists() or path.is_symlink() or path.parent.is_symlink():
        return None
    head = (
        f"# Kept from task {task_id}, proved on {commit[:12]}. Once committed, it is run for every change.\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, head + text_for([_brief(scenario) for scenario in scenarios]))
    return path


def _known(tree: Path) -> tuple[Scenario, ...]:
    """What a working tree keeps; nothing that could be compared, if a file of it cannot be read."""
    try:
        return load_suite(tree)
    except UsageError:
        return ()


def _brief(value: Any) -> Any:
    """A value as plain data, without the fields that have their default."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: _brief(inner) for field, inner in pairs if not is_default(field, inner)}
    match value:
        case StrEnum():
            return value.value
        case dict():
            return {key: _brief(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_brief(inner) for inner in value]
    return value
