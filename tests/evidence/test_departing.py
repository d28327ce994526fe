"""Programs and modules that a scenario wants gone."""

from pathlib import Path

import pytest

from harness_executor.evidence.departing import departures, staying
from harness_executor.kernel.acts import Language, Probe, Program
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Execution, Finding, Meaning, Observation, ScenarioRun, StepRun
from harness_executor.kernel.scenario import NONZERO, Kind, Scenario, Step

FAILS = Expect(exit_code=NONZERO)
HELP = "`python old.py --help` works"
STRANGE = "`python old.py` turns an unknown option away"
DEPARTED = {HELP: frozenset({("gone", 0)}), STRANGE: frozenset({("gone", 0)})}


def trees(place: Path, *files: str, left: tuple[str, ...] = ()) -> tuple[Path, Path]:
    """A base with these files, and a change in which some are left."""
    for side, names in (("base", files), ("change", left)):
        for name in names:
            (place / side / name).parent.mkdir(parents=True, exist_ok=True)
            (place / side / name).touch()
    return place / "base", place / "change"


def wants(step: Step) -> tuple[Scenario, ...]:
    """A scenario of one step."""
    return (Scenario("gone", "why", (step,)),)


def seen(name: str, meaning: Meaning, source: str = "harness", steps: int = 1) -> Observation:
    """What a scenario meant, with as many steps as base came to."""
    step = StepRun("", Execution(("x",), "", {}, {}, Ended(0, (), "")), Expect(), ())
    run = ScenarioRun(name, (step,) * steps, complete=True)
    finding = Finding(name, Kind.NEW, source, meaning)
    return Observation(Scenario(name, "why", ()), (run, run), (run, run), finding)


@pytest.mark.parametrize(
    "step",
    [
        Step(run=Program(("python", "old.py")), expect=FAILS),
        Step(run=Program(("python", "-m", "old")), expect=FAILS),
        Step(probe=Probe(Language.PYTHON, "import old\nold.x"), expect=FAILS),
        Step(probe=Probe(Language.NODE, "require('./old.js')"), expect=FAILS),
    ],
)
def test_what_only_base_has_may_be_wanted_gone(step: Step, tmp_path: Path) -> None:
    """It is gone if a step expects it to fail and the change does not have it."""
    sides = trees(tmp_path, "old.py", "old.js", left=("new.py",))
    assert set(departures(wants(step), *sides, ".").values()) == {frozenset({("gone", 0)})}
    kept = trees(tmp_path, "old.py", "old.js", left=("old.py", "old.js"))
    assert not departures(wants(step), *kept, ".")


def test_what_shall_work_is_not_wanted_gone(tmp_path: Path) -> None:
    """A step that expects success does not ask for it."""
    sides = trees(tmp_path, "old.py", left=("new.py",))
    assert not departures(wants(Step(run=Program(("python", "old.py")))), *sides, ".")


def test_nothing_of_what_is_gone_has_to_work() -> None:
    """That it worked on base is remembered with the proof."""
    proof = seen("gone", Meaning.PROVES, "scenario_file")
    (left,) = staying((proof, seen(HELP, Meaning.REGRESSES), seen(STRANGE, Meaning.HOLDS)), DEPARTED)
    assert left.scenario.name == "gone"
    assert left.finding.worked_before


@pytest.mark.parametrize(
    "proof",
    [
        seen("gone", Meaning.HOLDS, "scenario_file"),
        seen("gone", Meaning.PROVES, "predefined"),
        seen("gone", Meaning.PROVES, "scenario_file", steps=2),
        seen("other", Meaning.PROVES, "scenario_file"),
    ],
)
def test_only_a_proof_excuses(proof: Observation) -> None:
    """Neither a scenario that holds, nor one that differs in another step, nor one that is kept."""
    views = (proof, seen(HELP, Meaning.REGRESSES))
    assert staying(views, DEPARTED) == views


def test_what_is_asked_for_late_excuses_nothing() -> None:
    """A scenario that was written when the change was there does not count."""
    views = (seen("gone", Meaning.PROVES, "scenario_file"), seen(HELP, Meaning.REGRESSES))
    assert staying(views, DEPARTED, ["gone"]) == views
