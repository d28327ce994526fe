"""Envelopes: read by others, and refused when one bit differs."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope as TheirEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

from harness_executor.errors import Refused
from harness_executor.evidence.envelope import PAYLOAD, opened, read_envelope, signed
from harness_executor.kernel.canonical import canonical
from harness_executor.store.signing import Signer

STATEMENT = {"_type": "x", "subject": ["a"]}


def _canonical(data: object) -> bytes:
    return canonical(data).encode() + b"\n"


def test_another_program_verifies_the_signature(tmp_path: Path) -> None:
    """securesystemslib takes the envelope with the key from the PEM file, and not when it was altered."""
    signer = Signer(tmp_path / "key")
    made = json.loads(signed(STATEMENT, signer).text)
    key = SSlibKey.from_crypto(load_pem_public_key(signer.public.pem.encode()))
    assert key.keyid == signer.public.id
    assert set(TheirEnvelope.from_dict(json.loads(json.dumps(made))).verify([key], 1)) == {key.keyid}
    made["payload"] = base64.b64encode(b"{}").decode()
    with pytest.raises(VerificationError):
        TheirEnvelope.from_dict(made).verify([key], 1)


def test_every_single_bit_of_an_envelope_counts(tmp_path: Path) -> None:
    """A flip of any one bit is refused, also where base64 or JSON would read the same."""
    signer = Signer(tmp_path / "key")
    keys = (signer.public,)
    whole = signed(STATEMENT, signer).text.encode()
    assert opened(read_envelope(whole), keys) == STATEMENT
    for at in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        with pytest.raises(Refused):
            opened(read_envelope(bytes(flipped)), keys)
    for length in range(len(whole)):
        with pytest.raises(Refused):
            opened(read_envelope(whole[:length]), keys)


def _spoiled(whole: dict[str, Any]) -> dict[str, bytes]:
    one = whole["signatures"][0]
    return {
        "no signature": _canonical({**whole, "signatures": []}),
        "two signatures": _canonical({**whole, "signatures": [one, one]}),
        "another type": _canonical({**whole, "payloadType": "application/json"}),
        "a field more": _canonical({**whole, "more": 1}),
        "a field less": _canonical({"payload": whole["payload"], "payloadType": PAYLOAD}),
        "spaces": json.dumps(whole, sort_keys=True).encode() + b"\n",
        "a key twice": _canonical(whole).replace(b'{"payload"', b'{"payload":"","payload"', 1),
        "nothing": b"",
        "a list": b"[]\n",
        "no line": _canonical(whole)[:-1],
    }


@pytest.mark.parametrize("how", list(_spoiled({"signatures": [0], "payload": ""})))
def test_another_spelling_is_refused(how: str, tmp_path: Path) -> None:
    """Wrong type, wrong number of signatures, more or fewer fields, and any other spelling are refused."""
    signer = Signer(tmp_path / "key")
    whole = json.loads(signed(STATEMENT, signer).text)
    with pytest.raises(Refused):
        opened(read_envelope(_spoiled(whole)[how]), (signer.public,))


def test_an_unknown_key_is_refused_with_a_hint(tmp_path: Path) -> None:
    """A signature of a key that nobody trusts is refused, and so is one under a borrowed name."""
    mine, other = Signer(tmp_path / "mine"), Signer(tmp_path / "other")
    made = signed(STATEMENT, other)
    with pytest.raises(Refused, match="not trusted") as refused:
        opened(made, (mine.public,))
    assert "--key" in refused.value.hint
    borrowed = json.loads(made.text)
    borrowed["signatures"][0]["keyid"] = mine.public.id
    with pytest.raises(Refused, match="does not fit"):
        opened(read_envelope(_canonical(borrowed)), (mine.public,))
