"""Ctrl-C and friends: everything that is true is already written, so stopping is immediate."""

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

_hints: list[str] = []
_folders: list[Path] = []


def install() -> None:
    """Stop cleanly on the signals that ask for it."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _stop)


def on_stop(hint: str, *, folder: Path | None = None) -> None:
    """What to tell the user, and which throw-away folder to remove, if the program is stopped."""
    _hints.append(hint)
    if folder:
        _folders.append(folder)


def _stop(_sign: int, _frame: FrameType | None) -> None:
    hint = f"\nhint: {_hints[-1]}\n" if _hints else ""
    with suppress(OSError):
        show_cursor = "\033[?25h" if sys.stderr.isatty() else ""
        os.write(2, f"{show_cursor}\nerror: interrupted\n{hint}".encode())
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(130)
