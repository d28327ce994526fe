"""The protocol of MySQL and MariaDB, as far as asking goes."""

import hashlib
import json
import struct
from typing import Any

from harness_executor.evidence.services.base import Rows, Unanswered
from harness_executor.evidence.services.reading import Talk

_CAPABLE = 0x1 | 0x200 | 0x8000 | 0x10000 | 0x20000 | 0x80000
"""Long passwords, protocol 4.1, authentication by plugins, several statements and their results."""
_WITH_DATABASE = 0x8
_UTF8MB4 = 45
_NUMBERS = {1, 2, 3, 8, 9, 13}
_FRACTIONS = {0, 4, 5, 246}
_JSON = 245
_MORE = 0x8
_NATIVE, _SHA2 = "mysql_native_password", "caching_sha2_password"


class Conversation(Talk):
    """A connection to a server that has let us in."""

    number = 0
    """Of the next packet."""

    def ask(self, sql: str) -> Rows:
        """The rows of the last statement that gave any."""
        self.number = 0
        self._send(b"\x03" + sql.encode())
        rows: Rows = []
        has_more = True
        while has_more:
            found, has_more = self._result()
            rows = found if found is not None else rows
        return rows

    def _result(self) -> tuple[Rows | None, bool]:
        first = self._packet()
        if first[:1] == b"\x00":
            return None, bool(_ok_status(first) & _MORE)
        if first[:1] == b"\xfb":
            raise Unanswered("it asks for a file of ours")
        count, _ = _number(first, 0)
        columns = [_column(self._packet()) for _ in range(count or 0)]
        self._packet()
        rows: Rows = []
        while True:
            packet = self._packet()
            if packet[:1] == b"\xfe" and len(packet) < 9:
                return rows, bool(struct.unpack_from("<H", packet, 3)[0] & _MORE)
            rows.append(_row(packet, columns))

    def _enter(self) -> None:
        plugin, salt = _greeting(self._packet())
        flags = _CAPABLE | (_WITH_DATABASE if self.address.database else 0)
        proof = _proof(plugin, self.address.password, salt)
        body = struct.pack("<IIB23x", flags, 1 << 24, _UTF8MB4)
        body += self.address.user.encode() + b"\0" + bytes([len(proof)]) + proof
        body += self.address.database.encode() + b"\0" if self.address.database else b""
        self._send(body + plugin.encode() + b"\0")
        while (said := self._packet())[:1] != b"\x00":
            self._go_on(said)

    def _go_on(self, said: bytes) -> None:
        if said[:1] == b"\xfe":
            plugin, _, salt = said[1:].partition(b"\0")
            self._send(_proof(plugin.decode(), self.address.password, salt[:20]))
        elif said[:2] != b"\x01\x03":
            raise Unanswered("it wants the password over TLS, which is not spoken here")

    def _send(self, body: bytes) -> None:
        self.line.send(struct.pack("<I", len(body))[:3] + bytes([self.number]) + body)
        self.number = (self.number + 1) % 256

    def _packet(self) -> bytes:
        head = self.line.exactly(4)
        self.number = (head[3] + 1) % 256
        body = self.line.exactly(int.from_bytes(head[:3], "little"))
        if body[:1] == b"\xff":
            raise Unanswered(body[9 if body[3:4] == b"#" else 3 :].decode(errors="replace"))
        if not body:
            raise Unanswered("it does not speak the protocol of MySQL")
        return body


def _greeting(body: bytes) -> tuple[str, bytes]:
    if body[:1] != b"\x0a":
        raise Unanswered("it does not speak the protocol of MySQL")
    at = body.index(b"\0", 1) + 5
    first, length = body[at : at + 8], body[at + 16]
    end = at + 27 + max(13, length - 8)
    plugin = body[end:].split(b"\0")[0].decode(errors="replace")
    return plugin or _NATIVE, (first + body[at + 27 : end])[:20]


def _proof(plugin: str, password: str, salt: bytes) -> bytes:
    secret = password.encode()
    if not secret:
        return b""
    if plugin == _NATIVE:
        one = hashlib.sha1(secret, usedforsecurity=False).digest()
        two = hashlib.sha1(one, usedforsecurity=False).digest()
        return _mixed(one, hashlib.sha1(salt + two, usedforsecurity=False).digest())
    if plugin == _SHA2:
        one = hashlib.sha256(secret).digest()
        return _mixed(one, hashlib.sha256(hashlib.sha256(one).digest() + salt).digest())
    raise Unanswered(f"it wants a proof by {plugin}, which is not spoken here")


def _mixed(one: bytes, other: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(one, other, strict=True))


def _ok_status(packet: bytes) -> int:
    _, at = _number(packet, 1)
    _, at = _number(packet, at)
    return int(struct.unpack_from("<H", packet, at)[0])


def _number(data: bytes, at: int) -> tuple[int | None, int]:
    """A number in the length it needs, and where the next thing begins; nothing for NULL."""
    first = data[at]
    if first == 0xFB:
        return None, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(first)
    if size is None:
        return first, at + 1
    return int.from_bytes(data[at + 1 : at + 1 + size], "little"), at + 1 + size


def _piece(data: bytes, at: int) -> tuple[bytes | None, int]:
    length, at = _number(data, at)
    return (None, at) if length is None else (data[at : at + length], at + length)


def _column(packet: bytes) -> tuple[str, int]:
    at, name = 0, b""
    for number in range(6):
        piece, at = _piece(packet, at)
        name = piece or b"" if number == 4 else name
    return name.decode(errors="replace"), packet[at + 7]


def _row(packet: bytes, columns: list[tuple[str, int]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    at = 0
    for name, kind in columns:
        piece, at = _piece(packet, at)
        row[name] = None if piece is None else _value(piece.decode(errors="replace"), kind)
    return row


def _value(text: str, kind: int) -> Any:
    if kind in _NUMBERS:
        return int(text)
    if kind in _FRACTIONS:
        return float(text) if "." in text or "e" in text else int(text)
    return json.loads(text) if kind == _JSON else text
