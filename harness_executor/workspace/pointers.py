"""Git-lfs pointers: small texts in a tree that stand for files kept elsewhere."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.git import Git
from harness_executor.workspace.trees import Entry

_START = b"version https://git-lfs.github.com/spec/"
_MOST = 1024
"""No pointer is longer, by the rule of git-lfs."""
_TEXT = "version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n"


@frozen
class Pointer:
    """A pointer in a tree, and what it says about the file it stands for."""

    entry: Entry
    digest: str
    size: int


def find_pointers(git: Git, entries: Iterable[Entry]) -> tuple[Pointer, ...]:
    """The files of a tree that are pointers."""
    small = [entry for entry in entries if entry.is_file and len(_START) < entry.size <= _MOST]
    wanted = "".join(f"{entry.id}\n" for entry in small).encode()
    answers = _contents(git.once("cat-file", "--batch", stdin=wanted)) if small else iter(())
    read = (_read(entry, content) for entry, content in zip(small, answers, strict=True))
    return tuple(pointer for pointer in read if pointer)


def fetched(folder: Path, pointers: Iterable[Pointer]) -> tuple[Pointer, ...]:
    """The pointers that have the real file on disk, each as it would be written for that file."""
    return tuple(
        _written_for(pointer, folder / pointer.entry.name)
        for pointer in pointers
        if _is_real(folder / pointer.entry.name)
    )


def text_of(pointer: Pointer) -> bytes:
    """A pointer as git-lfs writes it."""
    return _TEXT.format(digest=pointer.digest, size=pointer.size).encode()


def _contents(output: bytes) -> Iterator[bytes]:
    """The objects in the answer of `cat-file --batch`; one that is missing is empty."""
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        size = output[at:end].rsplit(b" ", 1)[1]
        length = int(size) if size.isdigit() else -1
        yield output[end + 1 : end + 1 + max(length, 0)]
        at = end + 2 + length


def _read(entry: Entry, content: bytes) -> Pointer | None:
    digest = re.search(rb"^oid sha256:([0-9a-f]{64})$", content, re.MULTILINE)
    size = re.search(rb"^size ([0-9]+)$", content, re.MULTILINE)
    if not (content.startswith(_START) and digest and size):
        return None
    return Pointer(entry, digest[1].decode(), int(size[1]))


def _is_real(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_START)) != _START


def _written_for(pointer: Pointer, path: Path) -> Pointer:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Pointer(pointer.entry, digest, path.stat().st_size)
