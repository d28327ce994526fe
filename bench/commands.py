"""What a command of a subagent costs, next to the same command started by hand."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness_executor.sandbox.base import Command
from harness_executor.sandbox.forked import ForkedSandbox, start_keepers
from harness_executor.sandbox.plain import PlainSandbox

ARGV = ("sh", "-c", "true")
ROUNDS = 200
PAUSE = 0.003
"""Seconds between commands; a model takes longer."""


def median(run: Callable[[], object]) -> float:
    """Milliseconds of the middle one of many runs."""
    taken = []
    for _ in range(ROUNDS):
        time.sleep(PAUSE)
        began = time.perf_counter()
        run()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


def main() -> int:
    """Measure three ways in turn."""
    env = {"PATH": os.environ["PATH"]}
    keepers = start_keepers()
    forked, plain = ForkedSandbox(keepers.line), PlainSandbox()
    with tempfile.TemporaryDirectory() as folder:
        command = Command(ARGV, Path(folder), env, Path(folder) / "log")
        ways: dict[str, Callable[[], object]] = {
            "subprocess.run": lambda: subprocess.run(ARGV, env=env, capture_output=True, check=True),
            "forked keeper": lambda: forked.run(command, 20),
            "new keeper": lambda: plain.run(command, 20),
        }
        for name, run in ways.items():
            print(f"{name:15} {median(run):6.2f} ms")
    keepers.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
