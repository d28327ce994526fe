"""This machine as it would be if nobody could make a namespace."""

import os
import subprocess
import sys

from tests.conftest import Ran

_FORBID = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'


def run_without_namespaces(*words: str) -> Ran:
    """Run `harness …` where no program can make a box."""
    inside = (
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "--mount-proc",
        "--pid",
        "--fork",
        "--kill-child",
    )
    command = [*inside, "sh", "-c", _FORBID, "sh", sys.executable, "-m", "harness_executor", *words]
    done = subprocess.run(
        command, env=dict(os.environ), capture_output=True, text=True, timeout=300, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)
