"""Processes that try to stay, and a look at which of them did."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from harness_executor.sandbox.base import Command
from tests.patience import until

STAYERS = {
    "double fork and setsid": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                up()
                time.sleep(600)
            os._exit(0)
        time.sleep(600)
    """,
    "ignores every polite signal": """
        for sign in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(sign, signal.SIG_IGN)
        os.fork()
        up()
        time.sleep(600)
    """,
    "forks in a loop": """
        if os.fork():
            time.sleep(600)
        up()
        while True:
            if os.fork():
                os._exit(0)
            os.setsid()
            time.sleep(0.001)
    """,
    "closes its descriptors": """
        up()
        os.closerange(0, 256)
        if os.fork() == 0:
            os.setsid()
        time.sleep(600)
    """,
}
"""What a process does so that it is overlooked; each calls up() once it is at it."""

_BEGIN = "import os, signal, time\ndef up():\n    open('up', 'w').close()\n"


def script(body: str) -> str:
    """A whole program from the body of one."""
    lines = body.strip("\n").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    return _BEGIN + "\n".join(line[margin:] for line in lines) + "\n"


def python(body: str) -> tuple[str, ...]:
    """The words that run a program in a bare interpreter."""
    return (sys.executable, "-S", "-E", "-c", script(body))


@dataclass(frozen=True)
class Mark:
    """A mark in the environment of every process of one test, which none of them can shed."""

    text: str
    folder: Path

    @property
    def env(self) -> dict[str, str]:
        """An environment that carries the mark."""
        return {"PATH": os.environ["PATH"], "MARK": self.text}

    def command(self, *argv: str, log_limit: int = 16_000_000) -> Command:
        """A command that carries the mark, run in the folder of the test."""
        return Command(argv, self.folder, self.env, self.folder / "log", log_limit)

    def alive(self) -> set[int]:
        """Every process with the mark."""
        wanted = f"MARK={self.text}".encode()
        found = set()
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and wanted in _environment(process):
                found.add(int(process.name))
        return found

    def is_up(self) -> bool:
        """Did the process say that it is at it?"""
        return until((self.folder / "up").exists)

    def is_gone(self, seconds: float = 2.0) -> bool:
        """Is no process with the mark left after this time?"""
        return until(lambda: not self.alive(), seconds)


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""
