"""What a reader is told beside a verdict."""

from dataclasses import replace

from harness_executor.kernel.caution import cautions
from harness_executor.kernel.report import Finding, Meaning
from harness_executor.kernel.scenario import Kind
from tests.kernel.examples import EVIDENCE

PROOF = Finding("stats", Kind.NEW, "scenario_file", Meaning.PROVES)


def test_proofs_that_hold_nothing_out_are_named() -> None:
    """Scenarios that ask the same in every run could be known beforehand."""
    (said,) = cautions(replace(EVIDENCE, findings=(PROOF, replace(PROOF, name="total"))))
    assert said.startswith("nothing was held out: stats, total asks the same in every run")


def test_one_proof_with_drawn_values_is_enough() -> None:
    """What one proof asks anew in each run cannot be known beforehand."""
    assert cautions(replace(EVIDENCE, findings=(PROOF, replace(PROOF, held_out=True)))) == ()


def test_what_was_held_out_or_proves_nothing_is_not() -> None:
    """Drawn values need no word, and neither does a scenario that only holds."""
    held = replace(PROOF, held_out=True)
    only_holds = replace(PROOF, name="list", meaning=Meaning.HOLDS)
    assert cautions(replace(EVIDENCE, findings=(held, only_holds))) == ()
