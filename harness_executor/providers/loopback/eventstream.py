"""Amazon's binary framing of event streams, as Bedrock sends it."""

import struct
import zlib
from collections.abc import Mapping

_STRING = 7


def message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message: lengths and their checksum, headers, payload, and the checksum of it all."""
    fields = b"".join(_header(name, value) for name, value in headers.items())
    lengths = struct.pack("!II", len(fields) + len(payload) + 16, len(fields))
    start = lengths + struct.pack("!I", zlib.crc32(lengths))
    body = start + fields + payload
    return body + struct.pack("!I", zlib.crc32(body))


def _header(name: str, value: str) -> bytes:
    said, told = name.encode(), value.encode()
    return bytes([len(said)]) + said + bytes([_STRING]) + struct.pack("!H", len(told)) + told
