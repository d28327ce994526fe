"""Named places where a test can make the world fail; inert unless armed."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from harness_executor import faults
from harness_executor.errors import UsageError
try:
    faults.arm(sys.argv[1], sys.argv[2])
    for name in sys.argv[3:]:
        faults.point(name)
        print("passed", name, flush=True)
except OSError as error:
    print("OSError", error.errno, error.strerror)
except UsageError as error:
    print("UsageError", error.message)
"""


def _run(spec: str, *points: str, log: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program that arms faults and stands at points."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, spec, str(log or ""), *points],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_a_point_that_is_not_armed_does_nothing(tmp_path: Path) -> None:
    """Without faults every point is passed, and nothing is written."""
    done = _run("", "a", "a", "b")
    assert (done.returncode, done.stdout) == (0, "passed a\npassed a\npassed b\n")
    assert list(tmp_path.iterdir()) == []


def test_kill_ends_the_process_as_a_crash_does() -> None:
    """The process is gone by SIGKILL at the armed time, not before."""
    done = _run("a#2=kill", "a", "b", "a", "a")
    assert (done.returncode, done.stdout) == (-9, "passed a\npassed b\n")


def test_exit_ends_the_process_with_a_code() -> None:
    """The process ends at once with the code it was given."""
    done = _run("a#1=exit:7", "a")
    assert (done.returncode, done.stdout) == (7, "")


def test_raise_is_an_error_of_the_machine() -> None:
    """The error has the number and the words of the real one, and later points are passed."""
    assert _run("a#1=raise:ENOSPC", "a").stdout == "OSError 28 No space left on device\n"
    assert _run("a#1=raise:EIO", "b", "a").stdout == "passed b\nOSError 5 Input/output error\n"


def test_stop_holds_the_process_until_it_is_continued() -> None:
    """A stopped process says nothing, and goes on when it is told to."""
    held = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "b#1=stop", "", "a", "b"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert held.stdout
        assert held.stdout.readline() == "passed a\n"
        with pytest.raises(subprocess.TimeoutExpired):
            held.wait(0.5)
        held.send_signal(18)
        assert held.communicate(timeout=20)[0] == "passed b\n"
        assert held.returncode == 0
    finally:
        held.kill()


def test_several_faults_can_be_armed() -> None:
    """Each has its own place and its own number."""
    done = _run("a#3=exit:3,b#2=exit:4", "a", "b", "a", "b", "a")
    assert (done.returncode, done.stdout) == (4, "passed a\npassed b\npassed a\n")


@pytest.mark.parametrize("spec", ["a", "a#1", "a=kill", "a#=kill", "a#x=kill", "a#1=", "a#-1=kill"])
def test_a_fault_that_cannot_be_read_is_refused(spec: str) -> None:
    """A misspelled fault is an error before anything happens, and not a test that passes by mistake."""
    assert _run(spec, "a").stdout.startswith("UsageError cannot read the fault")


@pytest.mark.parametrize(
    "act", ["explode", "exit", "exit:", "exit:soon", "raise", "raise:", "raise:ENOTHING", "KILL"]
)
def test_an_act_nobody_knows_is_refused(act: str) -> None:
    """An unknown act is an error where it would have happened."""
    assert _run(f"a#1={act}", "a").stdout == f"UsageError cannot do the fault {act!r}\n"


def test_points_are_logged_with_their_numbers(tmp_path: Path) -> None:
    """The log has every point in order, also the one where the process died."""
    log = tmp_path / "points"
    _run("a#2=kill", "a", "b", "a", log=log)
    assert log.read_text() == "a#1\nb#1\na#2\n"


def test_logging_alone_changes_nothing(tmp_path: Path) -> None:
    """Points can be counted without a fault."""
    done = _run("", "a", "a", log=tmp_path / "points")
    assert (done.returncode, done.stdout) == (0, "passed a\npassed a\n")
    assert (tmp_path / "points").read_text() == "a#1\na#2\n"
