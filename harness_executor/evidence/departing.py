"""Programs and modules that a scenario wants gone, of which nothing that is tried has to work any more."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness_executor.evidence.controls import is_there, tried_of
from harness_executor.kernel.report import OWN, PREDEFINED, Meaning, Observation
from harness_executor.kernel.scenario import Scenario, Step, turns_away

Spot = tuple[str, int]
"""A scenario by its name, and one of its steps by its number."""


def departures(
    scenarios: Iterable[Scenario], base: Path, change: Path, folder: str
) -> Mapping[str, frozenset[Spot]]:
    """What is tried of programs and modules that only base has, with the steps that expect them to fail."""
    found: dict[str, frozenset[Spot]] = {}
    for scenario in scenarios:
        for number, step in enumerate(scenario.steps):
            gone = _tried(step, base, folder) - _tried(step, change, folder) if turns_away(step) else set()
            found |= {name: found.get(name, frozenset()) | {(scenario.name, number)} for name in gone}
    return found


def staying(
    views: Sequence[Observation], departed: Mapping[str, frozenset[Spot]], late: Collection[str] = ()
) -> tuple[Observation, ...]:
    """The views, without what was tried of what is gone, where a proof expects just that.

    That it worked on base is said of the proof then.
    """
    proofs = [view for view in views if _proves(view) and view.scenario.name not in late]
    wanting = {
        name: {proof.scenario.name for proof in proofs if any(_differs(proof, *spot) for spot in spots)}
        for name, spots in departed.items()
    }
    gone = [view for view in views if view.finding.source in OWN and wanting.get(view.scenario.name)]
    worked = {
        name
        for view in gone
        if view.finding.meaning is Meaning.REGRESSES
        for name in wanting[view.scenario.name]
    }
    return tuple(_alive(view) if view.scenario.name in worked else view for view in views if view not in gone)


def _tried(step: Step, tree: Path, folder: str) -> set[str]:
    """The names of what is tried of that of a tree which a step uses."""
    has_it = step.run is None or is_there(tree, folder, step.run.argv)
    return {control.name for control in tried_of(step, tree, folder)} if has_it else set()


def _proves(view: Observation) -> bool:
    return view.finding.meaning is Meaning.PROVES and view.finding.source not in (*OWN, PREDEFINED)


def _differs(proof: Observation, name: str, number: int) -> bool:
    """Is it at this very step that base does not do what a scenario expects?"""
    reached = {len(run.steps) - 1 for run in proof.base}
    return proof.scenario.name == name and reached == {number}


def _alive(view: Observation) -> Observation:
    return replace(view, finding=replace(view.finding, worked_before=True))
