"""A lock that one process holds, and that ends with it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness_executor.errors import LogError


class Held(Exception):
    """Another process holds the lock."""


@contextmanager
def held(path: Path, seconds: float = 0.0) -> Iterator[tuple[int, int]]:
    """Hold a lock, waiting this long for it: the device and inode that are locked; raises Held."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - most commands only look

    inodes: list[tuple[int, int]] = []
    lock = FileLock(
        path,
        timeout=seconds,
        fallback_to_soft=False,
        preserve_lock_file=True,
        on_acquired=lambda descriptor: inodes.append(inode_of(os.fstat(descriptor))),
        poll_interval=0.002,
    )
    try:
        lock.acquire()
    except Timeout:
        raise Held from None
    except OSError as error:
        raise LogError(f"cannot lock {path}: {error}", hint="keep tasks on a local disk") from error
    try:
        yield inodes[-1]
    finally:
        lock.release()


def inode_of(found: os.stat_result) -> tuple[int, int]:
    """What a lock file is, whatever it is called."""
    return found.st_dev, found.st_ino
