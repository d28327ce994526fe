"""Trusted programs: run to their end, or spoken to."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness_executor.sandbox.process import (
    Ended,
    Started,
    run,
    run_within,
    start_speaking,
    start_with_socket,
)

ENV = {"PATH": os.defpath}


Speak = Callable[[str], Started]


@pytest.fixture
def speak(tmp_path: Path) -> Iterator[Speak]:
    """Start a shell that is spoken to; it is ended with the test."""
    started: list[Started] = []

    def start(words: str) -> Started:
        started.append(start_speaking(["sh", "-c", words], ENV, tmp_path / "errors"))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_gives_code_output_and_errors_apart() -> None:
    """Output comes as bytes, errors as a stripped text."""
    done = run(["sh", "-c", r"printf 'a\0b\n'; echo ' wrong ' >&2; exit 3"], env=ENV)
    assert done == Ended(3, b"a\0b\n", "wrong")


def test_gives_a_program_its_input() -> None:
    """Standard input is exactly the given bytes, and empty when none are given."""
    assert run(["cat"], env=ENV, stdin=b"a\0b").stdout == b"a\0b"
    assert run(["cat"], env=ENV).stdout == b""


def test_a_large_input_and_output_do_not_hang() -> None:
    """More than a pipe holds goes in and comes out."""
    much = b"x" * 1_000_000
    assert run(["cat"], env=ENV, stdin=much).stdout == much


def test_the_environment_is_exactly_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of our own environment reaches the program."""
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    env = shutil.which("env")
    assert env is not None
    assert run([env], env={"ONLY": "this"}).stdout == b"ONLY=this\n"


def test_runs_in_the_given_folder(tmp_path: Path) -> None:
    """The program's folder is the given one."""
    assert run(["pwd", "-P"], env=ENV, cwd=tmp_path).stdout.decode() == f"{tmp_path.resolve()}\n"


def test_errors_that_are_no_text_are_replaced() -> None:
    """A message in another encoding is still a message."""
    assert run(["sh", "-c", r"printf '\377' >&2"], env=ENV).stderr == "\N{REPLACEMENT CHARACTER}"


def test_a_program_that_is_not_there_is_an_error() -> None:
    """A trusted program that is missing is no code but an error."""
    with pytest.raises(FileNotFoundError):
        run(["no-such-program"], env=ENV)


def test_speaks_with_a_program_and_keeps_its_errors(speak: Speak, tmp_path: Path) -> None:
    """A program reads and writes through pipes; its errors are added to a file."""
    (tmp_path / "errors").write_text("before\n")
    started = speak("echo oops >&2; read line; echo got $line")
    assert Path(f"/proc/{started.pid}").exists()
    started.say(b"hello\n")
    assert os.read(started.output, 100) == b"got hello\n"
    assert started.wait(10) == 0
    assert (tmp_path / "errors").read_text() == "before\noops\n"


def test_a_program_that_has_ended_may_be_spoken_to(speak: Speak) -> None:
    """Words to a program that is gone are lost without an error."""
    started = speak("exit 3")
    assert started.wait(10) == 3
    started.say(b"hello\n")
    assert os.read(started.output, 100) == b""


def test_a_program_that_takes_its_time_has_no_code_yet(speak: Speak) -> None:
    """Waiting ends with its time; ending takes the program and its pipes away."""
    started = speak("exec sleep 600")
    assert started.wait(0.05) is None
    before = len(list(Path("/proc/self/fd").iterdir()))
    started.end()
    assert started.wait(0) == -9
    assert len(list(Path("/proc/self/fd").iterdir())) == before - 2
    started.end()


def test_the_environment_of_a_started_program_is_what_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of our own environment reaches a program we speak to."""
    monkeypatch.setenv("SECRET", "x")
    env = shutil.which("env")
    assert env is not None
    started = start_speaking([env], {"ONLY": "this"}, tmp_path / "errors")
    assert started.wait(10) == 0
    assert os.read(started.output, 100) == b"ONLY=this\n"
    started.end()


def test_a_program_may_have_a_socket_as_its_input(tmp_path: Path) -> None:
    """A program reads from the socket it was given, says nothing, and sees the other end close."""
    ours, theirs = socket.socketpair()
    with theirs:
        started = start_with_socket(
            ["sh", "-c", "read line; echo got $line >&2; echo unheard; cat; exit 4"],
            ENV,
            theirs,
            tmp_path / "errors",
        )
    ours.sendall(b"hello\n")
    assert started.wait(0.2) is None
    ours.close()
    assert started.wait(10) == 4
    assert (tmp_path / "errors").read_text() == "got hello\n"
    started.end()


def test_a_program_that_does_not_end_in_time_is_ended(tmp_path: Path) -> None:
    """One that ends has ended, whatever its code; one that does not is killed, and that is told."""
    assert run_within(["sh", "-c", "echo said > file; exit 3"], ENV, tmp_path, 10)
    assert (tmp_path / "file").read_text() == "said\n"
    assert not run_within(["sh", "-c", "echo $$ > pid; exec sleep 60"], ENV, tmp_path, 5)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
