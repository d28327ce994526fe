"""How a base is started: as it says itself, as its user wrote down, or as its own files show when tried."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from harness_executor.errors import HarnessError
from harness_executor.evidence.workbench import Bench
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Origin, Side
from harness_executor.store.written import Written
from harness_executor.workspace.project import (
    Project,
    Start,
    as_project,
    environment_file,
    load,
    read_project,
)


@frozen
class Knower:
    """Who finds out how a base is started."""

    root: Path
    """The project of the user, whose working tree may hold what `harness init` wrote."""
    written: Written
    bench: Callable[[], Bench]
    """Where ways are tried; asked for only if one has to be."""
    given: Path | None = None
    """An environment.json that the user names."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Services that the user runs, by name, with where they are."""


@frozen
class Words:
    """What the user says of the start, which wins over everything."""

    start: str = ""
    base_start: str = ""
    server: bool = True
    """Is a server wanted at all? If not, none is tried."""


def own_start(base: Path, knower: Knower) -> Start | None:
    """How a base is started by itself, whatever was said for the change; nothing if nobody knows."""
    try:
        start = know(base, knower).start
    except HarnessError:
        return None
    return start.on(Side.BASE) if start else None


def know(base: Path, knower: Knower, words: Words | None = None) -> Project:
    """The commands of an exported base; nothing of the change is asked."""
    said = words or Words()
    made = partial(as_project, start=said.start, base_start=said.base_start)
    if knower.given:
        project = made(load(knower.given), knower.given, origin=Origin.FILE)
        dropped = tuple(name for name, how in _declared(base).items() if project.checks.get(name) != how)
        return replace(project, notes=(f"commands come from {knower.given}, as you asked",), dropped=dropped)
    if environment_file(base) or said.start:
        return read_project(base, start=said.start, base_start=said.base_start)
    from harness_executor.evidence.inferring import infer  # noqa: PLC0415 - most bases say it themselves

    data, notes = infer(base, knower, server=said.server)
    return replace(made(data, knower.root), notes=notes)


def _declared(base: Path) -> Mapping[str, str]:
    """The checks that base itself declares, if what it says can be read."""
    try:
        return read_project(base).checks
    except HarnessError:
        return {}


def glance(base: Path, knower: Knower, words: Words | None = None) -> Project:
    """The same from files alone, for a base of which nothing is to be started: no way is tried."""
    if knower.given or environment_file(base) or (words and words.start):
        return know(base, knower, words)
    from harness_executor.evidence.inferring import guess  # noqa: PLC0415 - as above

    data, notes = guess(base, knower)
    return replace(as_project(data, knower.root), notes=notes)
