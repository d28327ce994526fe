#!/usr/bin/env python3
"""Task state for coding agents; the work is done by harness_executor.cli.task_state.

Imports nothing that the interpreter has not loaded by itself: it could be the project's.
"""

import os
import sys


def main() -> int:
    """Use the installed package, or the `harness` command where this python3 has no package."""
    if os.environ.get("PYTHONPATH") and not sys.flags.ignore_environment:
        words = [sys.executable, "-E", os.path.abspath(__file__), *sys.argv[1:]]
        os.execv(sys.executable, words)  # noqa: S606 - the same script, without modules of the project
    try:
        from harness_executor.cli.door import harness  # noqa: PLC0415 - may be missing here
    except ModuleNotFoundError:
        command = _command()
        if command:
            os.execv(command, [command, "task-state", *sys.argv[1:]])  # noqa: S606 - the same program
        sys.stderr.write("error: harness_executor is not installed for this python3\n\n")
        sys.stderr.write("hint: pip install harness-executor\n")
        return 1
    return harness(["task-state", *sys.argv[1:]])


def _command() -> str:
    """The `harness` command, never one of the project."""
    project = os.path.realpath(os.curdir)
    while not os.path.lexists(os.path.join(project, ".git")) and os.path.dirname(project) != project:
        project = os.path.dirname(project)
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = os.path.join(folder, "harness")
        is_theirs = os.path.realpath(found).startswith(os.path.join(project, "")) and len(project) > 1
        if os.path.isabs(found) and not is_theirs and os.path.isfile(found) and os.access(found, os.X_OK):
            return found
    return ""


if __name__ == "__main__":
    sys.exit(main())
