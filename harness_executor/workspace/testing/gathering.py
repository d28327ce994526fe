"""Reports that the next call of a runner would write over: put aside as soon as they are there."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

_LOOK = 0.06
"""Seconds between looks: the next call takes longer than two of them to come to its end."""


@contextmanager
def gathered(folder: Path, name: str) -> Iterator[None]:
    """While this lasts, every file of that name in a folder gets a name of its own.

    The folder is held from the beginning, so that a link put in its place leads nowhere.
    """
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    over = threading.Event()
    looking = threading.Thread(target=_gather, args=(held, name, over), name="reports", daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
        os.close(held)


def _gather(held: int, name: str, over: threading.Event) -> None:
    """A file that was left alone for a while; one that is still being written stays what it is."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - a name alone is no path
    numbers = count(1)
    before: tuple[int, ...] = ()
    while not over.wait(_LOOK):
        now = _state(held, name)
        if now and now == before:
            with suppress(OSError):
                os.rename(name, f"{stem}-{next(numbers)}{suffix}", src_dir_fd=held, dst_dir_fd=held)
        before = now


def _state(held: int, name: str) -> tuple[int, ...]:
    try:
        found = os.stat(name, dir_fd=held, follow_symlinks=False)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
