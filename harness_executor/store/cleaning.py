"""What is written down, without secrets."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from harness_executor.kernel.amending import Ruling, Shortfall
from harness_executor.kernel.events import Fact, PlanProposed, ScenariosFrozen, TaskOpened
from harness_executor.kernel.report import Finding
from harness_executor.kernel.revisions import ScenariosAdded, ScenariosAmended
from harness_executor.redaction import Redactor
from harness_executor.store.files import write_atomically

T = TypeVar("T")

_WORK = (TaskOpened, PlanProposed, ScenariosFrozen, ScenariosAdded, ScenariosAmended)
"""What is worked by: a token that a test makes up is part of it."""

_NAMES = {
    *("task_id", "run_id", "job_id", "record", "at", "kept_as", "model", "models"),
    *("base_commit", "base_tree", "tree", "tree_after", "commit"),
    *("digest", "scenario_digest", "exchange_digest", "kept", "seal"),
}
"""Fields that something is found by; the harness fills them, and a value of the user's is never in them."""
_TITLES = {Finding: "name", Shortfall: "scenario", Ruling: "scenario"}
"""Where a scenario is named; its name is clean since it was frozen, and stays the same everywhere."""


def clean_fact(fact: Fact, redactor: Redactor) -> Fact:
    """The fact as it may be written down."""
    return clean_value(fact, redactor.clean_work if isinstance(fact, _WORK) else redactor.clean)


def clean_value(value: T, clean: Callable[[str], str]) -> T:
    """The same value with every text in it clean; names by which something is found stay."""
    cleaned: Any = _cleaned(value, clean)
    return value if cleaned == value else cleaned


def clean_files(paths: Iterable[Path], redactor: Redactor) -> None:
    """Take the secrets out of files that programs wrote by themselves."""
    for path in paths:
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes().decode(errors="surrogateescape")
            cleaned = redactor.clean(text)
            if cleaned != text:
                write_atomically(path, cleaned.encode(errors="surrogateescape"))


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        kept = {*_NAMES, _TITLES.get(type(value), "")}
        held = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in kept}
        return replace(value, **{name: _cleaned(inner, clean) for name, inner in held.items()})
    match value:
        case StrEnum():
            return value
        case str():
            return clean(value)
        case Mapping():
            return {_cleaned(name, clean): _cleaned(inner, clean) for name, inner in value.items()}
        case list() | tuple():
            return type(value)(_cleaned(inner, clean) for inner in value)
    return value
