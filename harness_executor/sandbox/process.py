"""Trusted programs of this machine: git, run to its end, and those that subagents and boxes are made of."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from socket import socket

from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox import janitor


@frozen
class Ended:
    """What a program left."""

    code: int
    stdout: bytes
    stderr: str


def run(argv: list[str], *, env: Mapping[str, str], cwd: Path | None = None, stdin: bytes = b"") -> Ended:
    """Run a trusted program; its environment is exactly what is given."""
    done = subprocess.run(argv, env=dict(env), cwd=cwd, input=stdin, capture_output=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr.decode(errors="replace").strip())


def run_within(argv: list[str], env: Mapping[str, str], cwd: Path, seconds: float) -> bool:
    """Run a trusted program that says everything in files; false if it had to be ended."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, env=dict(env), cwd=cwd, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    finally:
        process.kill()
        process.wait()
    return True


@frozen
class Started:
    """A program of ours that is running."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def output(self) -> int:
        """The descriptor of what it says."""
        assert self.process.stdout is not None  # noqa: S101 - it was opened as a pipe
        return self.process.stdout.fileno()

    def say(self, line: bytes) -> None:
        """Write to its standard input."""
        assert self.process.stdin is not None  # noqa: S101 - it was opened as a pipe
        with suppress(BrokenPipeError):
            self.process.stdin.write(line)
            self.process.stdin.flush()

    def wait(self, seconds: float) -> int | None:
        """How it ended, if it ends within this time."""
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds)
        return None

    def end(self) -> None:
        """Kill it and let go of it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()


def start_speaking(argv: list[str], env: Mapping[str, str], stderr: Path) -> Started:
    """Start a program of ours that is spoken to over its standard input and output."""
    with stderr.open("ab") as log:
        pipe = subprocess.PIPE
        return Started(subprocess.Popen(argv, env=dict(env), stdin=pipe, stdout=pipe, stderr=log))


def start_with_socket(
    argv: list[str], env: Mapping[str, str], control: socket, stderr: Path | None = None
) -> Started:
    """Start a program of ours that has a socket as its standard input, and ends when that ends."""
    quiet = subprocess.DEVNULL
    with stderr.open("ab") if stderr else nullcontext() as log:
        process = subprocess.Popen(argv, env=dict(env), stdin=control.fileno(), stdout=quiet, stderr=log)
    return Started(process)


@contextmanager
def watched_over(folder: Path) -> Iterator[None]:
    """A folder that is removed when this program is killed within the block; after it, it is the caller's."""
    held, hand = os.pipe()
    argv = [sys.executable, "-I", "-S", janitor.__file__, str(folder)]
    quiet = subprocess.DEVNULL
    try:
        # in a session of its own: what ends us from the terminal must not end it before its work is done
        process = subprocess.Popen(
            argv, env={}, cwd="/", stdin=held, stdout=quiet, stderr=quiet, start_new_session=True
        )
    finally:
        os.close(held)
    try:
        yield
    finally:
        with suppress(BrokenPipeError):
            os.write(hand, b"K")
        os.close(hand)
        process.wait()


def start_box(argv: list[str], line: socket, stderr: int, given: tuple[int, ...]) -> Started:
    """Start a program that makes a box; it has no environment, and only the descriptors it is given."""

    def start() -> Started:
        return Started(
            subprocess.Popen(
                argv,
                env={},
                cwd="/",
                stdin=line.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=given,
            )
        )

    # a box dies with the thread that started it, so that thread must not end before the program does
    is_lasting = threading.current_thread() is threading.main_thread()
    return start() if is_lasting else _lasting(os.getpid()).submit(start).result()


@lru_cache(maxsize=1)
def _lasting(_owner: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="boxes")
