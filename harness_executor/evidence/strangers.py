"""What the harness asks every server by itself: a path that nobody has, which must be turned away."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from harness_executor.kernel.acts import Call
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.lean import lean
from harness_executor.kernel.report import OWN, PREDEFINED, Meaning, Observation, StepRun
from harness_executor.kernel.scenario import Kind, Scenario, Step
from harness_executor.kernel.values import DRAWN, names_in

_HOLE = "{{"
_WANTED = "; if it is wanted, let a scenario ask `{} /{{{{ random.word }}}}` and expect that answer"


def _control(name: str, method: str, status: str | tuple[int, ...]) -> Scenario:
    # a word and nothing else: of a path with a pattern of its own, a server could know who asks
    step = Step(Call("/{{ random.word }}", method=method), Expect(status))
    why = "a server that says yes to everything proves nothing"
    return Scenario(name=name, why=why, kind=Kind.NEGATIVE, steps=(step,))


CONTROL = _control("unknown route is turned away", "GET", "4xx")
CONTROLS = (
    CONTROL,
    _control("unknown route leads elsewhere", "GET", "3xx"),
    _control("unknown route takes no DELETE", "DELETE", (400, 401, 403, 404, 405, 501)),
)
"""The first that either side does counts: some servers have a page at every path, or lead to a login."""


def counting(views: Sequence[Observation], late: Iterable[str] = ()) -> tuple[Observation, ...]:
    """All views but those of controls after the first, and of those of which a scenario asks the opposite.

    One that shows a yes to what base turned away counts too. Scenarios that came late ask for nothing.
    """
    unheard = (*OWN, PREDEFINED)
    proofs = [view for view in views if view.finding.source not in unheard and _proves(view, late)]
    own = [view for view in views if view.scenario in CONTROLS and not _is_asked_for(view, proofs)]
    kept = [view.scenario for number, view in enumerate(own) if number == 0 or _now_says_yes(view)]
    others = (view for view in views if view.scenario not in CONTROLS or view.scenario in kept)
    return tuple(_told(view) if view.scenario in CONTROLS else view for view in others)


def _proves(view: Observation, late: Iterable[str]) -> bool:
    return view.finding.meaning is Meaning.PROVES and view.scenario.name not in late


def _told(view: Observation) -> Observation:
    """The view; if the change broke the rule, with what to do when that was the task."""
    if view.finding.meaning is not Meaning.REGRESSES or _wrong_answer(view) is None:
        return view
    reason = view.finding.reason + _WANTED.format(_method(view))
    return replace(view, finding=replace(view.finding, reason=reason))


def _now_says_yes(view: Observation) -> bool:
    answer = _wrong_answer(view)
    return view.finding.meaning is Meaning.REGRESSES and answer is not None and answer.status // 100 == 2


def _wrong_answer(view: Observation) -> Answer | None:
    """What the change answered that it should not."""
    failed = (run.steps[-1] for run in view.change if run.steps and not run.passed)
    return next((step.exchange.answer for step in failed), None)


def _method(view: Observation) -> str:
    call = view.scenario.steps[0].request
    return call.method if call else ""


def _is_asked_for(view: Observation, proofs: Iterable[Observation]) -> bool:
    """Does a scenario that proves ask for just what the control does not allow?"""
    answer = _wrong_answer(view)
    if view.finding.meaning is not Meaning.REGRESSES or answer is None:
        return False
    return any(_asks(proof, _method(view), answer) for proof in proofs)


def _asks(proof: Observation, method: str, answer: Answer) -> bool:
    done = proof.change[0].steps
    for number in _open_steps(proof.scenario, method):
        seen = done[number].exchange.answer
        if seen is not None and seen.status // 100 == answer.status // 100 < 4:
            return True
    return any(_leads_alike(step, answer) for step in done)


def _open_steps(scenario: Scenario, method: str) -> Iterator[int]:
    """The steps that ask for a path that nobody can have: drawn, and not made by a step before."""
    for number, step in enumerate(scenario.steps):
        call = step.request
        if call is None or call.method.upper() != method or not _is_open(call.path):
            continue
        names = set(names_in(call.path))
        met = set(names_in(lean(scenario.steps[:number])))
        if method != "GET" or (are_drawn(scenario, names) and not names & met):
            yield number


def _is_open(path: str) -> bool:
    """Is every part of a path filled in?"""
    first, *parts = path.partition("?")[0].split("/")
    return not first and bool(parts) and all(part.startswith(_HOLE) for part in parts)


def are_drawn(scenario: Scenario, names: Iterable[str]) -> bool:
    """Is every one of these names of a scenario drawn when it is run?"""
    captured = {name for step in scenario.steps for name in step.capture}
    return all(
        name.startswith(DRAWN) or (name not in captured and any(names_in(scenario.let.get(name, ""))))
        for name in names
    )


def _leads_alike(step: StepRun, answer: Answer) -> bool:
    """Is the client of a step led to the same place, and was that looked at?"""
    seen = step.exchange.answer
    if seen is None or seen.status // 100 != 3 or answer.status // 100 != 3:
        return False
    is_seen = any(name.lower() == "location" for name in step.expect.headers)
    return is_seen and _place(seen) == _place(answer) != ""


def _place(answer: Answer) -> str:
    return urlsplit(urljoin("/", answer.header("location") or "")).path
