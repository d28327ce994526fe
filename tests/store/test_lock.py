"""A lock that one process holds."""

import multiprocessing
import multiprocessing.synchronize
import time
from pathlib import Path

import pytest

from harness_executor.store.lock import Held, held


def _holds(path: Path, ready: multiprocessing.synchronize.Event) -> None:
    with held(path):
        ready.set()
        time.sleep(60)


def test_a_lock_is_held_by_one_process(tmp_path: Path) -> None:
    """A second process is told at once, and gets it when the first is killed."""
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    holder = context.Process(target=_holds, args=(tmp_path / "lock", ready))
    holder.start()
    assert ready.wait(20)
    with pytest.raises(Held), held(tmp_path / "lock"):
        pass
    holder.kill()
    holder.join()
    with held(tmp_path / "lock", 10.0) as inode:
        assert inode == ((tmp_path / "lock").stat().st_dev, (tmp_path / "lock").stat().st_ino)


def test_a_lock_is_let_go_after_the_block(tmp_path: Path) -> None:
    """It can be taken again, and its file stays."""
    for _ in range(2):
        with held(tmp_path / "lock"):
            assert (tmp_path / "lock").exists()
