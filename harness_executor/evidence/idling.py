"""Programs that take no notice of what they are told, so that their help says nothing."""

from collections.abc import Iterable, Sequence

from harness_executor.kernel.expect import Answer
from harness_executor.kernel.report import OWN, PREDEFINED, Meaning, Observation

_HELP = "--help"


def heeding(views: Sequence[Observation], late: Iterable[str] = ()) -> tuple[Observation, ...]:
    """The views, without the help of programs whose base has none, where a proof asks for how they end now.

    Such a base answers any option alike, so that its help is nothing but the work that a scenario changes.
    """
    unheard = (*OWN, PREDEFINED)
    heard = [view for view in views if view.finding.source not in unheard and view.scenario.name not in late]
    proofs = [view for view in heard if view.finding.meaning is Meaning.PROVES]
    return tuple(view for view in views if not _is_idle(view, views, proofs))


def _is_idle(view: Observation, views: Iterable[Observation], proofs: Iterable[Observation]) -> bool:
    words = _words(view)
    is_help = view.finding.source in OWN and words[-1:] == (_HELP,)
    if not is_help or view.finding.meaning is not Meaning.REGRESSES:
        return False
    strange = next((one for one in views if one is not view and _is_beside(one, words)), None)
    if strange is None or _said(view) != _said(strange):
        return False
    answers = [run.steps[-1].exchange.answer if run.steps else None for run in view.change]
    ends = {answer.status if answer else None for answer in answers}
    return ends <= {status for proof in proofs for status in _ends(proof, words[:-1])}


def _words(view: Observation) -> tuple[str, ...]:
    """The words of a scenario that runs one program."""
    runs = [step.run for step in view.scenario.steps]
    return runs[0].argv if len(runs) == 1 and runs[0] else ()


def _is_beside(view: Observation, words: tuple[str, ...]) -> bool:
    """Is it what was tried of the same program with an option that nobody knows?"""
    own = _words(view)
    return view.finding.source in OWN and own[:-1] == words[:-1] and own[-1:] != words[-1:]


def _said(view: Observation) -> list[tuple[int, str]]:
    """How it ended on base, and what it printed."""
    answers: list[Answer | None] = [step.exchange.answer for run in view.base for step in run.steps]
    return [(answer.status, answer.body) for answer in answers if answer]


def _ends(proof: Observation, words: tuple[str, ...]) -> Iterable[int]:
    """With which codes a program ended where a scenario proves."""
    for step, run in zip(proof.scenario.steps, proof.change[0].steps, strict=False):
        if step.run and step.run.argv[: len(words)] == words and run.exchange.answer:
            yield run.exchange.answer.status
