"""The keyed digest over evidence."""

import hashlib
import hmac
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import HarnessError
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.canonical import canonical
from harness_executor.kernel.events import ChangeApproved
from harness_executor.kernel.lean import lean
from harness_executor.kernel.report import Evidence, Meaning
from harness_executor.kernel.survey import ChangeSurveyed, Survey
from harness_executor.store.codec import build, plain
from harness_executor.store.seal import Seal
from tests.kernel.examples import EVIDENCE, SURVEYED
from tests.store.place import start

OTHERS: dict[str, Any] = {
    "assurance": Assurance.SANDBOXED,
    "servers": (replace(EVIDENCE.servers[0], owns_port=False),),
    "findings": (replace(EVIDENCE.findings[0], meaning=Meaning.HOLDS),),
}


@pytest.fixture
def seal(tmp_path: Path) -> Seal:
    """The seal of a new installation."""
    return Seal(tmp_path / "state" / "key")


def test_fits_what_it_was_put_on(seal: Seal) -> None:
    """Sealed evidence fits, also after it was written down and read."""
    sealed = seal.put(EVIDENCE)
    assert seal.fits(sealed)
    assert seal.fits(build(Evidence, plain(sealed)))


@pytest.mark.parametrize("name", [field.name for field in fields(Evidence) if field.name != "seal"])
def test_does_not_fit_once_any_field_is_changed(seal: Seal, name: str) -> None:
    """No part of the evidence can be altered."""
    changed: Evidence = replace(seal.put(EVIDENCE), **{name: OTHERS.get(name, "another")})
    assert not seal.fits(changed)


def test_an_approval_is_sealed_too_and_not_as_evidence(seal: Seal) -> None:
    """A sealed approval fits as it is, and for no other tree, task or person."""
    sealed = seal.put(ChangeApproved("tree", "user", "task"))
    assert seal.fits(build(ChangeApproved, plain(sealed)))
    assert not seal.fits(replace(sealed, tree="other"))
    assert not seal.fits(replace(sealed, task_id="other"))
    assert not seal.fits(replace(sealed, by="other"))
    assert not seal.fits(replace(sealed, tests=("test: a was removed",)))
    assert not seal.fits(ChangeApproved("tree", "user", "task", seal=seal.put(EVIDENCE).seal))


@pytest.mark.parametrize("name", [field.name for field in fields(ChangeSurveyed) if field.name != "seal"])
def test_a_survey_is_sealed_field_by_field(seal: Seal, name: str) -> None:
    """It fits as it was written and read, and not once anything in it is another."""
    others: dict[str, Any] = {"survey": Survey((), ()), "checks": (), "unchecked": ()}
    sealed = seal.put(SURVEYED)
    assert seal.fits(build(ChangeSurveyed, plain(sealed)))
    assert not seal.fits(replace(sealed, **{name: others.get(name, "another")}))


def test_evidence_without_control_files_fits_as_it_was_sealed_before_there_were_any(seal: Seal) -> None:
    """The seal of evidence that names no control file and no check does not depend on those fields."""
    old = replace(EVIDENCE, control=(), launches=(), seal="")
    later = ("control", "checks", "unchecked", "kept", "yards", "launches")
    data = {name: value for name, value in plain(old).items() if name not in later}
    data["findings"] = [lean(finding) for finding in old.findings]
    sealed = seal.put(old).seal
    key = seal.path.read_bytes()
    assert sealed == hmac.new(key, canonical(data).encode(), hashlib.sha256).hexdigest()
    assert not seal.fits(replace(seal.put(EVIDENCE), control=()))


@pytest.mark.parametrize("forged", ["", "0" * 64, "é", "\ud83d", None, 7])
def test_a_forged_seal_does_not_fit(seal: Seal, forged: Any) -> None:
    """Whatever stands in the place of a seal is compared, and found wanting."""
    assert not seal.fits(replace(EVIDENCE, seal=forged))


def test_no_evidence_does_not_fit(seal: Seal) -> None:
    """Nothing was sealed."""
    assert not seal.fits(None)


def test_another_installation_makes_another_seal(seal: Seal, tmp_path: Path) -> None:
    """Evidence of one machine is not evidence of this one."""
    assert not Seal(tmp_path / "other" / "key").fits(seal.put(EVIDENCE))


def test_the_key_is_for_its_owner_only(seal: Seal) -> None:
    """Nobody else may read it, and it is made once."""
    seal.put(EVIDENCE)
    key = seal.path.read_bytes()
    assert len(key) == 32
    assert stat.S_IMODE(seal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(seal.path.parent.stat().st_mode) == 0o700
    seal.put(EVIDENCE)
    assert seal.path.read_bytes() == key
    assert list(seal.path.parent.iterdir()) == [seal.path]


def test_a_key_of_the_wrong_length_is_not_used(seal: Seal) -> None:
    """An empty or cut key seals nothing, and the user is told what to do."""
    seal.path.parent.mkdir(parents=True)
    seal.path.write_bytes(b"short")
    with pytest.raises(HarnessError, match="has 5 bytes, not 32"):
        seal.put(EVIDENCE)


def test_processes_that_start_together_agree_on_one_key(tmp_path: Path) -> None:
    """Whoever comes first makes the key; the others use it."""
    path = tmp_path / "state" / "key"
    started = [start("sealing", path) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        seals = list(pool.map(lambda process: process.communicate("go\n", timeout=60)[0], started))
    assert [process.returncode for process in started] == [0, 0, 0, 0]
    assert len(set(seals)) == 1
    assert seals[0].strip() == Seal(path).put(EVIDENCE).seal
