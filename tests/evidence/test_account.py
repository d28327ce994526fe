"""The account of a verification: read as it was written, or refused."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.errors import Refused
from harness_executor.evidence.account import EVIDENCE, checked_evidence, read_account, scenarios_of, sha256
from harness_executor.kernel.canonical import MAX_DEPTH, MAX_TEXT, parse
from harness_executor.kernel.expect import Assertion
from harness_executor.kernel.report import OWN, PREDEFINED, Meaning
from harness_executor.kernel.scenario import scenarios_digest
from harness_executor.store.seal import Seal
from tests.evidence.accounts import BAD, GOOD, account, asked, on_disk, ran, view


@pytest.mark.parametrize("told", [GOOD, BAD])
def test_an_account_is_read_as_it_was_told(told: object, tmp_path: Path) -> None:
    """Scenarios, exchanges, programs, checks, times and the verdict come back as they were."""
    seal = Seal(tmp_path / "key")
    place = on_disk(told, tmp_path, seal)  # type: ignore[arg-type]  # either of the two accounts
    found = read_account(place, seal)
    assert found.logs == {"change-1": "GET /stats\n"}
    assert set(found.evidence.kept) == {"account.json", "change-1.jsonl", "change-1.log"}
    assert replace(found, evidence=told.evidence, logs=told.logs) == told  # type: ignore[attr-defined]  # the same


def test_an_account_may_hold_much_of_what_may_be_said(tmp_path: Path) -> None:
    """Several large answers, and a value as deep as an answer may be, are no sign that it was altered."""
    seal = Seal(tmp_path / "key")
    step = asked("/large", 200, "x" * (MAX_TEXT - 1))
    deep = parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    step = replace(step, assertions=(Assertion("json_path", deep, deep, passed=True),))
    told = account(view("large", Meaning.HOLDS, ran("large", step), ran("large", step)))
    assert read_account(on_disk(told, tmp_path, seal), seal).observations == told.observations


def _flips(whole: bytes, step: int = 1) -> Iterator[bytes]:
    for at in range(0, len(whole) * 8, step):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        yield bytes(flipped)


def _is_read(content: bytes, place: Path, seal: Seal) -> bool:
    try:
        checked_evidence(content, place, seal)
    except Refused:
        return False
    return True


def test_every_single_bit_of_the_evidence_counts(tmp_path: Path) -> None:
    """A flip of any one bit of any file is noticed, by the seal or by the digest."""
    seal = Seal(tmp_path / "key")
    place = on_disk(GOOD, tmp_path, seal)
    sealed = (place / EVIDENCE).read_bytes()
    assert _is_read(sealed, place, seal)
    assert not any(_is_read(flipped, place, seal) for flipped in _flips(sealed))
    for name, digest in read_account(place, seal).evidence.kept.items():
        assert all(sha256(flipped) != digest for flipped in _flips((place / name).read_bytes()))


def test_a_file_that_was_altered_is_named(tmp_path: Path) -> None:
    """A run with a flipped bit anywhere on disk, or with a file missing, is refused."""
    seal = Seal(tmp_path / "key")
    place = on_disk(GOOD, tmp_path, seal)
    for path in sorted(place.iterdir()):
        whole = path.read_bytes()
        for flipped in _flips(whole, max(1, len(whole) * 8 // 20)):
            path.write_bytes(flipped)
            with pytest.raises(Refused, match="altered"):
                read_account(place, seal)
        path.unlink()
        with pytest.raises(Refused, match="missing"):
            read_account(place, seal)
        path.write_bytes(whole)
    assert read_account(place, seal).verdict.accepted


def test_an_account_of_another_machine_is_refused(tmp_path: Path) -> None:
    """A folder that was sealed with another key is not read."""
    place = on_disk(GOOD, tmp_path, Seal(tmp_path / "key"))
    with pytest.raises(Refused, match="recorded elsewhere"):
        read_account(place, Seal(tmp_path / "another"))


def test_scenarios_are_those_of_the_task_whatever_was_drawn_beside_them(tmp_path: Path) -> None:
    """What the project keeps, what the harness tries and what was drawn are none of the task."""
    aside = (PREDEFINED, *OWN)
    others = [
        replace(GOOD.observations[1], finding=replace(GOOD.observations[1].finding, source=one))
        for one in aside
    ]
    own = GOOD.observations[:1]
    digest = scenarios_digest(tuple(view.scenario for view in own))
    told = account(*own, *others)
    told = replace(told, evidence=replace(told.evidence, scenario_digest=digest))
    assert scenarios_of(told) == (own[0].scenario,)
