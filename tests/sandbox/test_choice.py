"""Which sandbox a run gets: the strongest that holds, exactly the one that was asked for, or none."""

import os
from pathlib import Path

import pytest

from harness_executor.config import Settings
from harness_executor.errors import NoBox
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.choice import Boxing, choose
from harness_executor.sandbox.landlock import Landlock
from harness_executor.sandbox.plain import PlainSandbox


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bubblewrap that makes no box is the first on the search path."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return str(program)


@pytest.fixture
def unbundled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of the package is not the one we know."""
    monkeypatch.setattr("harness_executor.sandbox.programs._PINNED", {"bwrap": set(), "libcap": set()})


def test_the_strongest_comes_first(tmp_path: Path) -> None:
    """Where bubblewrap holds, it is taken."""
    boxing = choose(Settings(readable=("/srv",)), tmp_path)
    assert isinstance(boxing.sandbox(), Bubblewrap)
    assert boxing.readable == ("/srv",)


def test_the_next_is_taken_where_the_first_does_not_hold(tmp_path: Path, broken: str) -> None:
    """Where the machine's bubblewrap makes no box, the one that was installed with us is taken."""
    boxing = choose(Settings(), tmp_path / "project")
    assert boxing.kind == "bubblewrap"
    assert boxing.program != broken


def test_nobody_gets_less_than_a_box_without_asking(tmp_path: Path, broken: str, unbundled: None) -> None:
    """Where no bubblewrap holds, the run is refused, though Landlock would hold."""
    with pytest.raises(NoBox, match="no namespaces here"):
        choose(Settings(), tmp_path / "project")
    assert choose(Settings(sandbox="landlock", readable=("/srv",)), tmp_path).sandbox() == Landlock(("/srv",))


def test_exactly_what_was_asked_for(tmp_path: Path) -> None:
    """A box that was asked for by name is that one."""
    assert isinstance(choose(Settings(sandbox="landlock"), tmp_path).sandbox(), Landlock)
    assert isinstance(choose(Settings(sandbox="bubblewrap"), tmp_path).sandbox(), Bubblewrap)
    assert isinstance(choose(Settings(sandbox="none"), tmp_path).sandbox(), PlainSandbox)


def test_nothing_else_than_what_was_asked_for(tmp_path: Path, broken: str, unbundled: None) -> None:
    """Where the box that was asked for does not hold, the run is refused with what it said."""
    with pytest.raises(NoBox, match="no namespaces here") as refused:
        choose(Settings(sandbox="bubblewrap"), tmp_path / "project")
    assert broken in str(refused.value)
    assert refused.value.hint
    assert "--sandbox none" in refused.value.hint


def test_the_box_of_another_system_is_refused(tmp_path: Path) -> None:
    """On Linux there is no `sandbox-exec`, so its box does not start."""
    with pytest.raises(NoBox, match="seatbelt does not hold: start"):
        choose(Settings(sandbox="seatbelt"), tmp_path)


def test_a_box_that_nobody_knows_is_refused() -> None:
    """A kind without a sandbox never becomes none."""
    with pytest.raises(NoBox, match="no box called something"):
        Boxing("something").sandbox()
