"""Programs that are to take options that nobody knows."""

import pytest

from harness_executor.evidence.welcoming import refusing
from harness_executor.kernel.acts import Program
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Finding, Meaning, Observation
from harness_executor.kernel.scenario import Kind, Scenario, Step

PROVES, REGRESSES = Meaning.PROVES, Meaning.REGRESSES
DRAWN = "--{{ random.word }}"


def seen(*told: str, meaning: Meaning = PROVES, source: str = "scenario_file", code: int = 0) -> Observation:
    """What it meant that `tool` was told something, and was to end with a code."""
    step = Step(run=Program(("tool", *told)), expect=Expect(exit_code=code))
    scenario = Scenario("asked", "why", (step,), let={"w": "{{ random.word }}", "fixed": "loud"})
    return Observation(scenario, (), (), Finding("asked", Kind.NEW, source, meaning))


STRANGE = seen("--{{ random.word }}-{{ random.word }}", meaning=REGRESSES, source="harness", code=1)


@pytest.mark.parametrize("told", [(DRAWN,), ("go", "--{{ w }}"), ("--{{ w }}=1",)])
def test_a_proof_may_ask_for_any_option(told: tuple[str, ...]) -> None:
    """It passes one that is drawn, and expects that it works."""
    assert refusing((seen(*told), STRANGE)) == (seen(*told),)


@pytest.mark.parametrize(
    "proof",
    [
        seen("--loud"),
        seen("--{{ fixed }}"),
        seen("--", DRAWN),
        seen(DRAWN, code=2),
        seen(DRAWN, meaning=Meaning.HOLDS),
        seen(DRAWN, source="predefined"),
    ],
)
def test_nothing_else_asks_for_it(proof: Observation) -> None:
    """The refusal says how to ask."""
    first, refused = refusing((proof, STRANGE))
    assert first == proof
    assert refused.finding.reason.endswith("and expect exit code 0")


def test_what_is_asked_for_late_excuses_nothing() -> None:
    """A scenario that was written when the change was there does not count."""
    assert len(refusing((seen(DRAWN), STRANGE), ["asked"])) == 2
