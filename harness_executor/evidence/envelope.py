"""A signed statement: a DSSE envelope with one signature and one spelling only."""

import base64
from collections.abc import Mapping
from typing import Any

from harness_executor.errors import Refused
from harness_executor.kernel.canonical import canonical, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.store.signing import PublicKey, Signer

PAYLOAD = "application/vnd.in-toto+json"


@frozen
class Envelope:
    """What was signed, by which key."""

    payload: bytes
    keyid: str
    signature: bytes

    @property
    def text(self) -> str:
        """The one spelling of this envelope, a line."""
        signature = {"keyid": self.keyid, "sig": _packed(self.signature)}
        data = {"payload": _packed(self.payload), "payloadType": PAYLOAD, "signatures": [signature]}
        return canonical(data) + "\n"


def signed(statement: Mapping[str, Any], signer: Signer) -> Envelope:
    """An envelope around a statement."""
    payload = canonical(statement).encode()
    return Envelope(payload, signer.public.id, signer.sign(encoding(payload)))


def encoding(payload: bytes) -> bytes:
    """What is really signed: type and payload, each with its length."""
    kind = PAYLOAD.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def read_envelope(content: bytes) -> Envelope:
    """The envelope of these bytes; anything that could be spelled otherwise is refused."""
    try:
        data = parse(content.decode("ascii"))
        (one,) = data["signatures"]
        envelope = Envelope(base64.b64decode(data["payload"]), one["keyid"], base64.b64decode(one["sig"]))
        fits = envelope.text.encode() == content
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise Refused(f"the attestation is no envelope with one signature: {error}", hint=_HINT) from error
    if not fits:
        raise Refused("the attestation is not in the one spelling that is read", hint=_HINT)
    return envelope


def opened(envelope: Envelope, keys: tuple[PublicKey, ...]) -> dict[str, Any]:
    """The statement, from the very bytes whose signature was checked."""
    key = next((key for key in keys if key.id == envelope.keyid), None)
    if key is None:
        raise Refused(
            f"the attestation is signed with the key {envelope.keyid[:16]}, which is not trusted",
            hint="ask for the public key, look at it, and give it with --key FILE",
        )
    if not key.fits(envelope.signature, encoding(envelope.payload)):
        raise Refused("the signature of the attestation does not fit", hint=_HINT)
    try:
        statement = parse(envelope.payload.decode())
        is_one = isinstance(statement, dict) and canonical(statement).encode() == envelope.payload
    except ValueError as error:
        raise Refused(f"the statement cannot be read: {error}", hint=_HINT) from error
    if not is_one:
        raise Refused("the statement is not in the one spelling that is read", hint=_HINT)
    return dict(statement)


def _packed(content: bytes) -> str:
    return base64.b64encode(content).decode()


_HINT = "verify the change again, and attest that"
