"""Trusted programs: run to their end, or spoken to."""

import os
import shutil
from pathlib import Path

import pytest

from harness_executor.sandbox.process import Ended, run, spawn

ENV = {"PATH": os.defpath}


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


def test_speaks_with_a_program_and_keeps_its_errors(tmp_path: Path) -> None:
    """A spawned program reads and writes through pipes; its errors are added to a file."""
    errors = tmp_path / "errors"
    errors.write_text("before\n")
    env = shutil.which("env")
    assert env is not None
    with spawn([env, "sh", "-c", "echo oops >&2; cat"], env=ENV, stderr=errors) as process:
        out, _ = process.communicate(b"hello", timeout=10)
    assert out == b"hello"
    assert process.returncode == 0
    assert errors.read_text() == "before\noops\n"
