"""Programs that are to take options that nobody knows, since a scenario passes them one."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from harness_executor.evidence.strangers import are_drawn
from harness_executor.kernel.report import OWN, PREDEFINED, Meaning, Observation
from harness_executor.kernel.scenario import Scenario, Step
from harness_executor.kernel.values import names_in

_OPTION = "--{{"
_WANTED = "; if it is wanted, let a scenario pass it `--{{ random.word }}` and expect exit code 0"


def refusing(views: Sequence[Observation], late: Collection[str] = ()) -> tuple[Observation, ...]:
    """The views, without programs that take an option nobody knows where a proof asks for just that."""
    unheard = (*OWN, PREDEFINED)
    heard = [view for view in views if view.finding.source not in unheard and view.scenario.name not in late]
    proofs = [view.scenario for view in heard if view.finding.meaning is Meaning.PROVES]
    kept = (view for view in views if not (_takes_any(view) and _is_asked_for(view, proofs)))
    return tuple(_told(view) if _takes_any(view) else view for view in kept)


def _takes_any(view: Observation) -> bool:
    is_ours = view.finding.source in OWN and view.finding.meaning is Meaning.REGRESSES
    return is_ours and _words(view)[-1:] != () and _words(view)[-1].startswith(_OPTION)


def _is_asked_for(view: Observation, proofs: Iterable[Scenario]) -> bool:
    words = _words(view)[:-1]
    return any(_passes_one(proof, step, words) for proof in proofs for step in proof.steps)


def _passes_one(proof: Scenario, step: Step, words: tuple[str, ...]) -> bool:
    """Does a step give a program a drawn option, and expect that it works?"""
    if (
        step.run is None
        or step.run.argv[: len(words)] != words
        or step.expect.exit_code not in (None, 0, (0,))
    ):
        return False
    told = step.run.argv[len(words) :]
    options = told[: told.index("--")] if "--" in told else told
    return any(word.startswith(_OPTION) and are_drawn(proof, names_in(word)) for word in options)


def _told(view: Observation) -> Observation:
    """The view, with what to do when that was the task."""
    return replace(view, finding=replace(view.finding, reason=view.finding.reason + _WANTED))


def _words(view: Observation) -> tuple[str, ...]:
    runs = [step.run for step in view.scenario.steps]
    return runs[0].argv if len(runs) == 1 and runs[0] else ()
