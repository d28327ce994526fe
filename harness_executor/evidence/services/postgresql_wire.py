"""The protocol of PostgreSQL, as far as asking goes."""

import base64
import hashlib
import hmac
import json
import struct
from collections.abc import Iterator
from typing import Any

from harness_executor.clock import new_id
from harness_executor.evidence.services.base import Address, Rows, Unanswered
from harness_executor.evidence.services.reading import Talk

_VERSION = 196_608
_NUMBERS = {20, 21, 23, 26}
_FRACTIONS = {700, 701, 1700}
_JSON = {114, 3802}
_BOOL = 16


class Conversation(Talk):
    """A connection to a server that has let us in."""

    def ask(self, sql: str) -> Rows:
        """The rows of the last statement that gave any."""
        self._send(b"Q", sql.encode() + b"\0")
        rows: Rows = []
        columns: list[tuple[str, int]] = []
        for kind, body in self._until_ready():
            if kind == b"T":
                columns, rows = _columns(body), []
            elif kind == b"D":
                values = _values(body)
                rows.append(
                    {name: _value(value, oid) for (name, oid), value in zip(columns, values, strict=True)}
                )
        return rows

    def _enter(self) -> None:
        words = ("user", self.address.user, "database", self.address.database)
        body = b"".join(word.encode() + b"\0" for word in words) + b"\0"
        self.line.send(struct.pack("!ii", len(body) + 8, _VERSION) + body)
        for kind, said in self._until_ready():
            if kind == b"R":
                self._prove(said)

    def _prove(self, said: bytes) -> None:
        (wanted,) = struct.unpack_from("!i", said)
        match wanted:
            case 0 | 12:
                return
            case 3:
                self._send(b"p", self.address.password.encode() + b"\0")
            case 5:
                self._send(b"p", _md5(self.address, said[4:8]) + b"\0")
            case 10:
                self._scram()
            case 11:
                raise Unanswered("it asks for a proof out of turn")
            case _:
                raise Unanswered(f"it wants a proof of kind {wanted}, which is not spoken here")

    def _scram(self) -> None:
        nonce = new_id()
        first = f"n=,r={nonce}".encode()
        self._send(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first) + 3) + b"n,," + first)
        kind, said = self._message()
        if kind != b"R" or struct.unpack_from("!i", said)[0] != 11:
            raise Unanswered(_complaint(said) if kind == b"E" else "it does not go on with its proof")
        self._send(b"p", _scram_proof(self.address.password, nonce, first, said[4:]))

    def _until_ready(self) -> Iterator[tuple[bytes, bytes]]:
        fault = ""
        while True:
            kind, body = self._message()
            if kind == b"Z" or (kind == b"E" and not body):
                break
            if kind == b"G":
                self._send(b"f", b"lines of data are not sent here\0")
            if kind == b"E":
                fault = fault or _complaint(body)
                if body.startswith(b"SFATAL"):
                    break
            yield kind, body
        if fault:
            raise Unanswered(fault)

    def _send(self, kind: bytes, body: bytes) -> None:
        self.line.send(kind + struct.pack("!i", len(body) + 4) + body)

    def _message(self) -> tuple[bytes, bytes]:
        head = self.line.exactly(5)
        (length,) = struct.unpack("!i", head[1:])
        if length < 4:
            raise Unanswered("it does not speak the protocol of PostgreSQL")
        return head[:1], self.line.exactly(length - 4)


def _md5(address: Address, salt: bytes) -> bytes:
    inner = hashlib.md5(address.password.encode() + address.user.encode(), usedforsecurity=False).hexdigest()
    return b"md5" + hashlib.md5(inner.encode() + salt, usedforsecurity=False).hexdigest().encode()


def _scram_proof(password: str, nonce: str, first: bytes, said: bytes) -> bytes:
    parts = dict(part.split("=", 1) for part in said.decode().split(","))
    if not parts["r"].startswith(nonce):
        raise Unanswered("its proof is for somebody else")
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
    key = hmac.digest(salted, b"Client Key", "sha256")
    last = f"c=biws,r={parts['r']}".encode()
    signature = hmac.digest(hashlib.sha256(key).digest(), b",".join((first, said, last)), "sha256")
    proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
    return last + b",p=" + base64.b64encode(proof)


def _complaint(body: bytes) -> str:
    fields = {part[:1]: part[1:].decode(errors="replace") for part in body.split(b"\0") if part}
    return fields.get(b"M", "it complains and does not say of what")


def _columns(body: bytes) -> list[tuple[str, int]]:
    (count,), at = struct.unpack_from("!h", body), 2
    found: list[tuple[str, int]] = []
    for _ in range(count):
        end = body.index(b"\0", at)
        (oid,) = struct.unpack_from("!I", body, end + 7)
        found.append((body[at:end].decode(errors="replace"), oid))
        at = end + 19
    return found


def _values(body: bytes) -> list[bytes | None]:
    (count,), at = struct.unpack_from("!h", body), 2
    found: list[bytes | None] = []
    for _ in range(count):
        (length,) = struct.unpack_from("!i", body, at)
        found.append(None if length < 0 else body[at + 4 : at + 4 + length])
        at += 4 + max(length, 0)
    return found


def _value(data: bytes | None, oid: int) -> Any:
    if data is None:
        return None
    text = data.decode(errors="replace")
    if oid == _BOOL:
        return text == "t"
    if oid in _NUMBERS:
        return int(text)
    if oid in _FRACTIONS and text.lstrip("-").replace(".", "", 1).isdigit():
        return float(text) if "." in text else int(text)
    return json.loads(text) if oid in _JSON else text
