"""A command at a terminal, with a person in front of it."""

import os
import pty
import subprocess
import sys
from pathlib import Path


def at_terminal(answer: str, repo: Path, *words: str) -> int:
    """Run `harness …` where a person answers what it asks; gives its exit code."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "harness_executor", *words, "--repo", str(repo)]
    process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(ours, answer.encode())
    process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    return process.returncode
