"""What is written down, without secrets."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.acts import Call
from harness_executor.kernel.amending import Ruling, Shortfall
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.report import Side
from harness_executor.kernel.revisions import ScenariosAmended, ScenariosDisputed
from harness_executor.kernel.scenario import Scenario, Step
from harness_executor.kernel.task import replay
from harness_executor.redaction import MARK, Redactor
from harness_executor.store.cleaning import clean_fact, clean_files
from harness_executor.store.log import open_log
from harness_executor.store.seal import Seal
from tests.kernel.examples import EXAMPLES
from tests.store.place import OPENED, Place, Ticking

SECRET = "correct-horse-battery-staple"
TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
BEARER = "Authorization: Bearer made-up-token-1234567890"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A task that has no log yet."""
    return Place(tmp_path)


def test_a56_a_fact_is_clean_before_it_is_hashed_and_believed(place: Place) -> None:
    """What is believed is what is read back, the chain holds, and the line says how many were taken out."""
    change = e.ChangeMade(1, 1, "1" * 40, "now", f"used {SECRET} and {TOKEN}", (), (), (f"say {SECRET}",))
    with open_log(place.folder, Ticking(), place.witness, Redactor([SECRET])) as log:
        log.append(OPENED)
        believed = log.append(change)
    assert believed == replay(place.facts())
    assert believed.changes[0].summary == f"used {MARK} and {MARK}"
    assert believed.changes[0].lessons == (f"say {MARK}",)
    lines = [json.loads(line) for line in place.folder.log.read_text().splitlines()]
    assert [line.get("redacted") for line in lines] == [None, 3]
    assert [record.redacted for record in place.records()] == [0, 3]
    assert SECRET not in place.folder.log.read_text()


def test_a56_without_the_value_a_log_keeps_it(place: Place) -> None:
    """The control: a log that knows no values keeps the text, and takes out the token all the same."""
    place.write(OPENED, e.StepFailed(e.StepName.PLAN, FailureClass.AGENT, f"{SECRET} {TOKEN}"))
    assert SECRET in place.folder.log.read_text()
    assert TOKEN not in place.folder.log.read_text()


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
def test_a56_a_fact_without_secrets_stays_what_it_is(fact: e.Fact) -> None:
    """Every kind of fact passes unchanged, as the same object."""
    redactor = Redactor([SECRET])
    assert clean_fact(fact, redactor) is fact
    assert redactor.count == 0


def test_a56_names_that_something_is_found_by_stay() -> None:
    """A commit, tree or id that is also the value of some variable still leads to what it names."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    redactor = Redactor([commit, "the-id-of-a-task"])
    opened = replace(OPENED, task_id="the-id-of-a-task", base_commit=commit, request=f"undo {commit}")
    assert clean_fact(opened, redactor) == replace(opened, request=f"undo {MARK}")
    side = e.SideRecorded("run", Side.BASE, 1, 2, commit, 0.5)
    assert clean_fact(side, redactor) is side


def test_a56_what_is_worked_by_keeps_what_a_test_makes_up() -> None:
    """A scenario sends the token it was frozen with; the user's values and tokens of services go."""
    step = Step(Call("/", headers={"authorization": BEARER}), Expect(200))
    frozen = e.ScenariosFrozen((Scenario("x", BEARER, steps=(step,)),), "0" * 64)
    assert clean_fact(frozen, Redactor([SECRET])) is frozen
    opened = replace(OPENED, request=f"{BEARER} {SECRET} {TOKEN}")
    assert clean_fact(opened, Redactor([SECRET])) == replace(opened, request=f"{BEARER} {MARK} {MARK}")
    failed = e.StepFailed(e.StepName.PLAN, FailureClass.AGENT, BEARER)
    assert clean_fact(failed, Redactor()) == replace(failed, reason=f"Authorization: Bearer {MARK}")


def test_a56_evidence_that_was_cleaned_before_keeps_its_seal(place: Place, tmp_path: Path) -> None:
    """Cleaning what is clean changes nothing, so that a seal put on it fits when the log is read."""
    seal, redactor = Seal(tmp_path / "key"), Redactor([SECRET])
    verified = next(fact for fact in EXAMPLES if isinstance(fact, e.Verified))
    finding = replace(verified.evidence.findings[0], reason=redactor.clean(f"got {SECRET} {TOKEN} {BEARER}"))
    evidence = seal.put(replace(verified.evidence, findings=(finding,)))
    with open_log(place.folder, Ticking(), place.witness, redactor) as log:
        log.append(OPENED)
        log.append(replace(verified, evidence=evidence))
    kept = place.facts()[-1]
    assert isinstance(kept, e.Verified)
    assert seal.fits(kept.evidence)


def test_a56_files_are_cleaned_byte_for_byte(tmp_path: Path) -> None:
    """Only the secret is replaced, whatever else the file holds; a link and a clean file are left alone."""
    dirty, clean, link = tmp_path / "dirty", tmp_path / "clean", tmp_path / "link"
    elsewhere = tmp_path / "elsewhere"
    for path in (dirty, elsewhere):
        path.write_bytes(b"\xff\x00" + SECRET.encode() + b"\r\n\xfe")
    clean.write_bytes(b"\xff clean")
    before = clean.stat().st_mtime_ns, clean.stat().st_ino
    link.symlink_to(elsewhere)
    clean_files((dirty, clean, link, tmp_path), Redactor([SECRET]))
    assert dirty.read_bytes() == b"\xff\x00" + MARK.encode() + b"\r\n\xfe"
    assert SECRET.encode() in elsewhere.read_bytes()
    assert (clean.stat().st_mtime_ns, clean.stat().st_ino) == before


def test_a56_a_scenario_is_called_the_same_wherever_it_is_named() -> None:
    """What a test makes up stays in a frozen name, so it stays in what is found and disputed of it."""
    redactor = Redactor([SECRET])
    name = f"GET /me with {BEARER} answers"
    verified = next(fact for fact in EXAMPLES if isinstance(fact, e.Verified))
    finding = replace(verified.evidence.findings[0], name=name, reason=f"{BEARER} was refused")
    kept = clean_fact(replace(verified, evidence=replace(verified.evidence, findings=(finding,))), redactor)
    assert isinstance(kept, e.Verified)
    assert kept.evidence.findings[0].name == name
    assert BEARER not in kept.evidence.findings[0].reason
    disputed = ScenariosDisputed((Shortfall(name, 0, ("status_code",), BEARER),))
    assert clean_fact(disputed, redactor) == ScenariosDisputed(
        (Shortfall(name, 0, ("status_code",), f"Authorization: Bearer {MARK}"),)
    )
    amended = ScenariosAmended("0" * 64, "1" * 64, (Ruling(name, BEARER, "it stands"),))
    assert clean_fact(amended, redactor) is amended
