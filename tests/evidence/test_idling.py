"""Programs that take no notice of what they are told."""

import pytest

from harness_executor.evidence.idling import heeding
from harness_executor.kernel.acts import Program
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Execution, Finding, Meaning, Observation, ScenarioRun, StepRun
from harness_executor.kernel.scenario import Kind, Scenario, Step

PROVES, REGRESSES = Meaning.PROVES, Meaning.REGRESSES
Ends = tuple[int | None, str]


def seen(word: str, meaning: Meaning, base: Ends, change: Ends, source: str = "harness") -> Observation:
    """How `tool` ended with a word, on both sides."""
    scenario = Scenario(word, "why", (Step(run=Program(("tool", word))),))
    finding = Finding(word, Kind.NEW, source, meaning)
    return Observation(scenario, (_run(word, *base),), (_run(word, *change),), finding)


def _run(word: str, code: int | None, said: str) -> ScenarioRun:
    ended = None if code is None else Ended(code, (), said)
    step = StepRun("", Execution(("tool", word), "", {}, {}, ended), Expect(), ())
    return ScenarioRun(word, (step,), complete=True)


HELP = seen("--help", REGRESSES, (0, "3 found"), (1, "3 found"))
STRANGE = seen("--{{ random.word }}", PROVES, (0, "3 found"), (1, "3 found"))
ASKED = seen("in.txt", PROVES, (0, "3 found"), (1, "3 found"), "scenario_file")


def test_a_program_without_help_need_not_have_any() -> None:
    """It ends as a scenario wants it to, and its base answers any option alike."""
    assert heeding((ASKED, HELP, STRANGE)) == (ASKED, STRANGE)


@pytest.mark.parametrize(
    "views",
    [
        (HELP, STRANGE),
        (ASKED, HELP),
        (ASKED, HELP, seen("--{{ random.word }}", PROVES, (2, "what?"), (2, "what?"))),
        (ASKED, seen("--help", REGRESSES, (0, "usage"), (1, "usage")), STRANGE),
        (ASKED, seen("--help", REGRESSES, (0, "3 found"), (3, "")), STRANGE),
        (ASKED, seen("--help", REGRESSES, (0, "3 found"), (None, "")), STRANGE),
        (seen("in.txt", Meaning.HOLDS, (1, ""), (1, ""), "scenario_file"), HELP, STRANGE),
        (seen("in.txt", PROVES, (0, ""), (1, ""), "predefined"), HELP, STRANGE),
    ],
)
def test_the_help_of_others_has_to_stay(views: tuple[Observation, ...]) -> None:
    """Real help, another end, and an end that no scenario asks for are not excused."""
    assert heeding(views) == views


def test_what_is_asked_for_late_excuses_nothing() -> None:
    """A scenario that was written when the change was there does not count."""
    assert heeding((ASKED, HELP, STRANGE), ["in.txt"]) == (ASKED, HELP, STRANGE)
