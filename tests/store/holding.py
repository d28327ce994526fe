"""Holds a log, writes to it, and waits: `python -m tests.store.holding ROOT WRITES [child]`."""

import subprocess
import sys
from pathlib import Path

from tests.store.place import OPENED, Place, notes


def main() -> None:
    """Hold the log, append what was asked for, say so, and end when the input ends."""
    root, writes, *more = sys.argv[1:]
    with Place(Path(root)).open() as log:
        if log.last is None:
            log.append(OPENED)
        for fact in notes(int(writes)):
            log.append(fact)
        child = (
            subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, close_fds=False) if more else None
        )
        print("held", child.pid if child else 0, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
