"""The key that attestations are signed with; it lives outside every project, and only here is it used."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from harness_executor.errors import HarnessError, UsageError
from harness_executor.kernel.canonical import canonical
from harness_executor.kernel.frozen import frozen
from harness_executor.store.files import make_secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@frozen
class PublicKey:
    """An Ed25519 key that signatures are checked with."""

    raw: bytes

    @property
    def id(self) -> str:
        """The name of the key, as securesystemslib has it too."""
        value = {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": self.raw.hex()}}
        return hashlib.sha256(canonical(value).encode()).hexdigest()

    @property
    def pem(self) -> str:
        """The key as others read it."""
        from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415 - few commands need it
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - the same

        key = Ed25519PublicKey.from_public_bytes(self.raw)
        return key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo).decode()

    def fits(self, signature: bytes, message: bytes) -> bool:
        """Was this message signed with the other half of the key?"""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - few commands need it
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - the same

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


@frozen
class Signer:
    """The private half, in one file that nobody else may read; made when it is first needed."""

    path: Path

    @property
    def public(self) -> PublicKey:
        """The half that may be given to everybody."""
        return PublicKey(self._key().public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        return self._key().sign(message)

    def _key(self) -> "Ed25519PrivateKey":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - the same

        if not self.path.exists():
            make_secret(self.path, Ed25519PrivateKey.generate().private_bytes_raw())
        if self.path.stat().st_mode & 0o077:
            raise HarnessError(f"others can read the key {self.path}", hint=f"chmod 600 {self.path}")
        raw = self.path.read_bytes()
        if len(raw) != 32:
            hint = "remove it; a new one is made at the next attestation"
            raise HarnessError(f"the key {self.path} has {len(raw)} bytes, not 32", hint=hint)
        return Ed25519PrivateKey.from_private_bytes(raw)


def read_public_keys(path: Path) -> tuple[PublicKey, ...]:
    """The Ed25519 keys of a PEM file; any other kind is refused."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - few commands need it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - the same
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415 - the same

    end = "-----END PUBLIC KEY-----"
    hint = "`harness attest key` prints one"
    try:
        parts = path.read_text(encoding="ascii").split(end)[:-1]
        loaded = [load_pem_public_key(f"{part.strip()}\n{end}\n".encode()) for part in parts]
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise UsageError(f"{path} holds no public keys: {error}", hint=hint) from error
    found = tuple(PublicKey(key.public_bytes_raw()) for key in loaded if isinstance(key, Ed25519PublicKey))
    if not found or len(found) != len(loaded):
        raise UsageError(f"{path} has a key that is not Ed25519, or none at all", hint=hint)
    return found
