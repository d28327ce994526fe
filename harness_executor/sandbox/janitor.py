"""Removes a folder when its owner is gone, however it went.

Started by file name with a bare interpreter, so it imports nothing of the package. Standard input is a
pipe of the owner; its end means that the folder is no longer used, and a word before that, that it shall
stay. What still runs for a moment may still write there, so it is removed again until it stays away.
"""

import contextlib
import os
import select
import shutil
import signal
import sys

TRIES = 40
PAUSE = 0.05


def open_up(folder: str) -> None:
    """Let every folder below be entered and emptied."""
    for _, folders, _, parent in os.fwalk(folder):
        for name in folders:
            with contextlib.suppress(OSError):
                _open_up(name, parent)


def _open_up(name: str, parent: int) -> None:
    """By a descriptor: what is exchanged for a link meanwhile is not followed."""
    held = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{held}", 0o700)  # noqa: PTH101 - pathlib is not loaded here
    finally:
        os.close(held)


def remove(folder: str) -> None:
    """Remove a folder with everything in it."""
    for _ in range(TRIES):
        if not os.path.lexists(folder):
            return
        open_up(folder)
        shutil.rmtree(folder, ignore_errors=True)
        select.select([], [], [], PAUSE)


def main(folder: str) -> None:
    """Wait for the owner to go, then remove its folder."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    if not os.read(0, 1):
        remove(folder)


if __name__ == "__main__":
    main(sys.argv[1])
