"""Trusted programs of this machine, such as git, run to their end."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ended:
    """What a program left."""

    code: int
    stdout: bytes
    stderr: str


def run(argv: list[str], *, env: Mapping[str, str], cwd: Path | None = None, stdin: bytes = b"") -> Ended:
    """Run a trusted program; its environment is exactly what is given."""
    done = subprocess.run(argv, env=dict(env), cwd=cwd, input=stdin, capture_output=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr.decode(errors="replace").strip())


def spawn(argv: list[str], *, env: Mapping[str, str], stderr: Path) -> subprocess.Popen[bytes]:
    """Start a program of ours that is spoken to over its standard input and output."""
    with stderr.open("ab") as log:
        return subprocess.Popen(
            argv, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
