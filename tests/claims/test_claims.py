"""Every forgery is refused for its own reason, and all honest work is accepted."""

from pathlib import Path

import pytest

from tests.claims.case import Case
from tests.claims.corpus import CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.row}: {case.name}")
def test_a_claim_gets_the_answer_it_deserves(case: Case, tmp_path: Path) -> None:
    """The harness answers this claim as it must, and says why."""
    outcome = case.act(tmp_path)
    assert not case.problem(outcome), outcome.said


def test_the_corpus_is_large_and_every_claim_has_a_name_of_its_own() -> None:
    """At least 60 forgeries and 60 pieces of honest work, no two with one name."""
    assert sum(case.forged for case in CASES) >= 60
    assert sum(not case.forged for case in CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


def test_everything_is_tried_from_inside() -> None:
    """At least 20 of the forgeries are tried by an executor from inside its box."""
    assert sum(case.name.startswith("from inside: ") for case in CASES) >= 20
