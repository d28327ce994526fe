"""Kept scenarios that seem to regress, asked again on servers where nothing else was asked before."""

from collections.abc import Callable
from dataclasses import replace

from harness_executor.evidence.differential import (
    Lab,
    Observed,
    Place,
    compare,
    observe,
    regressed,
    settle,
)
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import PREDEFINED, Meaning, Observation, Side
from harness_executor.kernel.scenario import Scenario


@frozen
class Trial:
    """A lab, and what was observed in it."""

    lab: Lab
    observed: tuple[Observed, ...]

    @property
    def is_sound(self) -> bool:
        """Did every server run to the end?"""
        return all(one.problem is None for one in self.observed)


def confirmed(
    trial: Trial, suite: tuple[Scenario, ...], more: Callable[[int], tuple[Place, ...]]
) -> tuple[Trial, ...]:
    """The trial, and one of the suite alone if a kept scenario regresses beside those of the task.

    Those of the task stop early on base, so a server of the change may hold what one of base does not.
    """
    shared = len(trial.lab.scenarios) > len(suite)
    worse = sorted({scenario.name for scenario in suite} & regressed(trial.lab, trial.observed))
    if not (shared and worse and trial.is_sound):
        return (trial,)
    trial.lab.notify(f"kept scenarios are asked again on servers of their own: {', '.join(worse)}")
    taken = max(one.place.run for one in trial.observed)
    lab = replace(trial.lab, scenarios=suite, controls=(), serves=trial.lab.needs_server)
    alone = Trial(lab, observe(lab, more(taken + 1)))
    if alone.is_sound:
        alone = Trial(lab, settle(lab, alone.observed, lambda first: more(taken + first)))
    if any(one.problem is not None and one.place.side is Side.BASE for one in alone.observed):
        return (trial,)
    return trial, alone


def views_of(trials: tuple[Trial, ...], sources: dict[str, str]) -> tuple[Observation, ...]:
    """What each scenario means; of a kept one that regresses, what it means alone."""
    views, *others = (compare(trial.lab, trial.observed, sources) for trial in trials)
    alone = {view.scenario.name: view for found in others for view in found}
    return tuple(_clearer(view, alone.get(view.scenario.name, view)) for view in views)


def _clearer(view: Observation, alone: Observation) -> Observation:
    is_in_doubt = view.finding.source == PREDEFINED and view.finding.meaning is Meaning.REGRESSES
    return alone if is_in_doubt and alone.finding.meaning is not Meaning.MISSING else view
