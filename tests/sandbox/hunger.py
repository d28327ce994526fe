"""Programs that want too much, as scripts for a bare interpreter; each waits for a line before it begins."""

import os
import subprocess
from pathlib import Path
from typing import Any

from harness_executor.sandbox import rlimits

BOMB = """
import os, sys
sys.stdin.readline()
gate, held = os.pipe()
children = 0
try:
    while children < 200:
        if os.fork() == 0:
            os.close(held)
            os.read(gate, 1)
            os._exit(0)
        children += 1
except BlockingIOError:
    pass
print(children, flush=True)
sys.stdin.readline()
"""
"""Has as many children at a time as it can get, up to 200, and keeps them for another line."""

HOG = """
import sys
sys.stdin.readline()
print(len(bytearray(300_000_000)))
"""
"""Needs 300 MB, and says so when it has them."""


def lowered(*numbers: int) -> str:
    """The beginning of a script that lowers its limits first, from nothing but the text of the module."""
    return f"{Path(rlimits.__file__).read_text()}\nlower{numbers}\n"


def ordinary() -> dict[str, Any]:
    """How to start a program as an ordinary user."""
    return {"user": 12345, "group": 12345, "extra_groups": []} if os.geteuid() == 0 else {}


def boxed(*argv: str) -> list[str]:
    """A command in a box that has users and processes of its own."""
    box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    return [*box, "--unshare-user", "--unshare-pid", "--die-with-parent", *argv]


def bare(script: str) -> list[str]:
    """A script under an interpreter that every user can read."""
    return ["/usr/bin/python3", "-I", "-S", "-c", script]


def start(argv: list[str], **how: Any) -> subprocess.Popen[str]:
    """Start a program that waits for a line."""
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd="/", **how)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Let a program go on to its end: its code and what it said."""
    said, _ = process.communicate("\n\n", timeout=60)
    return process.returncode, said.strip()
