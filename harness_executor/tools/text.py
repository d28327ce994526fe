"""Files as text: their encoding, byte order mark and line ends, and what they are if they are none."""

import codecs
import os
import stat
import struct
from dataclasses import replace
from typing import BinaryIO

from harness_executor.kernel.frozen import frozen
from harness_executor.tools.place import ToolError

MAX_FILE = 2_000_000
"""Bytes of a file that is edited, searched or decoded as a whole."""
HEAD = 8192
"""Bytes from which a file's kind is told."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"\x7fELF", "ELF program"),
    (b"SQLite format 3\0", "SQLite database"),
)
_MAGIC = tuple(magic for magic, _ in _KINDS)


@frozen
class Text:
    """A decoded file, and how to put it back byte for byte."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    crlf: bool = False
    """Did every line end with a carriage return? Then the text has none of them."""

    def with_text(self, text: str) -> "Text":
        """The same file with another text."""
        return replace(self, text=text)

    def encode(self) -> bytes:
        """The bytes of the file."""
        text = self.text.replace("\n", "\r\n") if self.crlf else self.text
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"{error.object[error.start]!r} cannot be written in {self.encoding}, which the file has"
            ) from error


def read_text(file: int, name: str) -> Text:
    """An open file that is text and not too large; raises ToolError."""
    with plain_file(file, name) as stream:
        size, data = os.fstat(file).st_size, stream.read(MAX_FILE + 1)
        if max(size, len(data)) > MAX_FILE:
            raise ToolError(f"{name} has {size} bytes; at most {MAX_FILE} can be edited")
        found = decode(data)
        if found is None:
            raise ToolError(f"{name} is not a text file: {describe(stream)}")
    return found


def decode(data: bytes) -> Text | None:
    """The text of a file, if it is one."""
    encoding, mark = encoding_of(data)
    if is_binary(data, encoding):
        return None
    text = data[len(mark) :].decode(encoding)
    crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return Text(text.replace("\r\n", "\n") if crlf else text, encoding, mark, crlf)


def encoding_of(data: bytes) -> tuple[str, bytes]:
    """The encoding of a text, and the mark it begins with."""
    for mark, encoding in _MARKS:
        if data.startswith(mark) and _decodes(data[len(mark) :], encoding):
            return encoding, mark
    return next(name for name in ("utf-8", "cp1252", "latin-1") if _decodes(data, name)), b""


def is_binary(data: bytes, encoding: str = "utf-8") -> bool:
    """Is it anything but text?"""
    return data.startswith(_MAGIC) or (b"\0" in data and not encoding.startswith("utf-16"))


def describe(stream: BinaryIO) -> str:
    """What a file is that is not shown."""
    stream.seek(0)
    head = stream.read(HEAD)
    kind = next((kind for magic, kind in _KINDS if head.startswith(magic)), "binary file")
    size = ""
    if kind == "PNG image" and len(head) >= 24:
        size = " of {} x {}".format(*struct.unpack(">II", head[16:24]))
    return f"{kind}{size}, {os.fstat(stream.fileno()).st_size} bytes"


def plain_file(file: int, name: str) -> BinaryIO:
    """A stream over what is open, if it is a file."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise ToolError(f"there is no file {name}")
    return os.fdopen(file, "rb", closefd=False)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
