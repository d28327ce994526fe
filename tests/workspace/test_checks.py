"""Checks on base and change: only what turned red counts."""

import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from harness_executor.kernel.events import CheckResult
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.checks import compare_checks
from tests.rooms import BOX, NO_BOX, room, sandbox_named


@pytest.fixture(params=[NO_BOX, BOX])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """What holds of a check holds without a box and in one."""
    return sandbox_named(request.param)


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    """A base and a change; only the change has a file called `changed`."""
    base, change = tmp_path / "base", tmp_path / "change"
    base.mkdir()
    change.mkdir()
    (change / "changed").touch()
    return base, change


def _rooms(trees: tuple[Path, Path]) -> tuple[Room, Room]:
    return room(trees[0]), room(trees[1])


@pytest.mark.parametrize(
    ("command", "becomes"),
    [
        ("true", (True, True, False)),
        ("false", (False, False, False)),
        ("test -e changed", (False, True, False)),
        ("test ! -e changed", (True, False, True)),
        ("no-such-program", (False, False, False)),
        ("kill -KILL $$", (False, False, False)),
    ],
)
def test_a_check_is_compared_with_base(
    trees: tuple[Path, Path], sandbox: Sandbox, command: str, becomes: tuple[bool, bool, bool]
) -> None:
    """A check that was red already does not block; one that turned red does."""
    (result,) = compare_checks({"test": command}, *_rooms(trees), sandbox)
    assert (result.base_passed, result.change_passed, result.blocks) == becomes


def test_every_check_is_run_in_order_and_told(trees: tuple[Path, Path], sandbox: Sandbox) -> None:
    """Each check has its name, its command and what it said on the change."""
    checks = {"build": "echo built", "lint": "pwd -P; exit 3"}
    results = compare_checks(checks, *_rooms(trees), sandbox)
    assert results == (
        CheckResult("build", "echo built", base_passed=True, change_passed=True, output="built\n"),
        CheckResult(
            "lint", "pwd -P; exit 3", base_passed=False, change_passed=False, output=f"{trees[1].resolve()}\n"
        ),
    )


def test_a_long_output_is_cut_to_its_end(trees: tuple[Path, Path], sandbox: Sandbox) -> None:
    """Only the last part of what a check said is kept."""
    (result,) = compare_checks({"test": "yes | head -n 9000; echo end"}, *_rooms(trees), sandbox)
    assert len(result.output) == 4000
    assert result.output.endswith("end\n")


def test_no_check_is_no_result(trees: tuple[Path, Path], sandbox: Sandbox) -> None:
    """A project without checks has nothing to compare."""
    assert compare_checks({}, *_rooms(trees), sandbox) == ()


def test_a_check_sees_no_key(
    trees: tuple[Path, Path], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's secrets do not reach what a project brings."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    (result,) = compare_checks({"test": "env"}, *_rooms(trees), sandbox)
    assert "secret" not in result.output
    assert "PATH=" in result.output


def test_a_check_leaves_no_process_and_no_file_in_the_tree(
    trees: tuple[Path, Path], sandbox: Sandbox
) -> None:
    """What a check started ends with it, and its log is beside the tree."""
    token = uuid.uuid4().hex
    loose = f"sh -c 'while true; do sleep 0.1; done' {token} & echo started"
    (result,) = compare_checks({"test": loose}, *_rooms(trees), sandbox)
    assert result.output == "started\n"
    assert _running(token) == []
    assert list(trees[0].iterdir()) == []


def test_a_process_that_is_left_would_be_seen() -> None:
    """A loose process is found by the word it carries."""
    token = uuid.uuid4().hex
    with subprocess.Popen(["sh", "-c", "read line", token], stdin=subprocess.PIPE) as loose:
        end = time.monotonic() + 10
        while not (found := _running(token)) and time.monotonic() < end:
            time.sleep(0.01)
        assert found == [str(loose.pid)]
        loose.kill()


def _running(token: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [place.parent.name] if token.encode() in place.read_bytes() else []
    return found
