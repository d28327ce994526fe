"""The key of attestations."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from harness_executor.errors import HarnessError, UsageError
from harness_executor.store.signing import Signer, read_public_keys


def test_the_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    """The file has mode 0600, and the second use finds the same key."""
    signer = Signer(tmp_path / "state" / "key")
    first = signer.public
    assert signer.path.stat().st_mode & 0o777 == 0o600
    assert Signer(signer.path).public == first
    assert first.fits(signer.sign(b"message"), b"message")
    assert not first.fits(signer.sign(b"message"), b"another")


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    """A key with an open mode, or of a wrong length, is refused with what to do."""
    signer = Signer(tmp_path / "key")
    assert signer.public
    signer.path.chmod(0o644)
    with pytest.raises(HarnessError, match="others can read"):
        signer.sign(b"x")
    signer.path.chmod(0o600)
    signer.path.write_bytes(b"short")
    with pytest.raises(HarnessError, match="5 bytes"):
        signer.sign(b"x")


def test_public_keys_are_read_from_pem(tmp_path: Path) -> None:
    """A file with several Ed25519 keys is read; another kind of key, or none, is refused."""
    one, two = Signer(tmp_path / "1").public, Signer(tmp_path / "2").public
    path = tmp_path / "keys.pem"
    path.write_text(one.pem + two.pem)
    assert read_public_keys(path) == (one, two)
    other = ec.generate_private_key(ec.SECP256R1()).public_key()
    pem = other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    for text in (one.pem + pem, "", "-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\n"):
        path.write_text(text)
        with pytest.raises(UsageError):
            read_public_keys(path)
