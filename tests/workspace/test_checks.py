"""Checks on base and change: only what turned red counts."""

import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.checks import Checking, MakeRoom, Sides, compare_checks
from harness_executor.workspace.patience import Pace
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


def checked(
    commands: Mapping[str, str], trees: tuple[Path, ...], sandbox: Sandbox, **more: Any
) -> tuple[CheckResult, ...]:
    """The checks on copies of trees: base, change, and perhaps the change with the tests of base."""

    def copies(tree: Path) -> MakeRoom:
        def make(name: str) -> Room:
            return room(shutil.copytree(tree, tree.parent / "copies" / name, symlinks=True))

        return make

    return compare_checks(Checking(commands, sandbox, **more), Sides(*map(copies, trees)))


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
    (result,) = checked({"test": command}, trees, sandbox)
    assert (result.base_passed, result.change_passed, result.blocks) == becomes


def test_every_check_is_run_in_order_and_told(trees: tuple[Path, Path], sandbox: Sandbox) -> None:
    """Each check has its name, its command and what it said on the change."""
    checks = {"build": "echo built", "lint": "pwd -P; exit 3"}
    results = checked(checks, trees, sandbox)
    assert results == (
        CheckResult("build", "echo built", base_passed=True, change_passed=True, output="built\n"),
        CheckResult(
            "lint",
            "pwd -P; exit 3",
            base_passed=False,
            change_passed=False,
            output=f"{trees[1].resolve().parent / 'copies' / 'change-0'}\n",
            findings=(CheckFinding(FindingKind.UNKNOWN, "what lint complains of on either side"),),
        ),
    )


def test_a_long_output_is_cut_to_its_end(trees: tuple[Path, Path], sandbox: Sandbox) -> None:
    """Only the last part of what a check said is kept."""
    (result,) = checked({"test": "yes | head -n 9000; echo end"}, trees, sandbox)
    assert len(result.output) == 4000
    assert result.output.endswith("end\n")


def test_no_check_is_no_result(trees: tuple[Path, Path], sandbox: Sandbox) -> None:
    """A project without checks has nothing to compare."""
    assert checked({}, trees, sandbox) == ()


def test_a_check_sees_no_key(
    trees: tuple[Path, Path], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's secrets do not reach what a project brings."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    (result,) = checked({"test": "env"}, trees, sandbox)
    assert "secret" not in result.output
    assert "PATH=" in result.output


def test_a_check_leaves_no_process_and_no_file_in_the_tree(
    trees: tuple[Path, Path], sandbox: Sandbox
) -> None:
    """What a check started ends with it, and its log is beside the tree."""
    token = uuid.uuid4().hex
    loose = f"sh -c 'while true; do sleep 0.1; done' {token} & echo started"
    (result,) = checked({"test": loose}, trees, sandbox)
    assert result.output == "started\n"
    assert _running(token) == []
    copy = trees[0].parent / "copies" / "base-0"
    assert [path.name[:15] for path in copy.iterdir()] == [".harness-tests-"]


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


def test_a_check_that_hangs_only_on_the_change_is_ended_and_counts(
    trees: tuple[Path, Path], sandbox: Sandbox
) -> None:
    """It is not waited for much longer than base took, and it is named."""
    hangs = "test ! -e changed || sleep 500"
    (result,) = checked({"test": hangs}, trees, sandbox, pace=Pace(least=1.0, margin=1.0, silent=0.5))
    assert (result.base_passed, result.change_passed, result.blocks) == (True, False, True)
    assert [finding.kind for finding in result.findings] == [FindingKind.HANGS, FindingKind.UNKNOWN]
    assert re.match(
        r"test hangs on the change: it was ended after \d+ s, and base took \d+ s", str(result.findings[0])
    )
    assert result.runs == 2


def test_a_check_that_hangs_once_decides_nothing(trees: tuple[Path, Path]) -> None:
    """It is tried again, and only told when it then comes to its end."""
    once = trees[0].parent / "once"
    hangs = f"test ! -e changed || test -e {once} || (touch {once}; sleep 500)"
    sandbox = sandbox_named(NO_BOX)
    (result,) = checked({"lint": hangs}, trees, sandbox, pace=Pace(least=1.0, margin=1.0, silent=0.5))
    assert (result.change_passed, result.blocks) == (True, False)
    assert [finding.kind for finding in result.findings] == [FindingKind.FLAKY]


def test_a_check_that_hangs_on_both_sides_is_named_and_is_not_new(
    trees: tuple[Path, Path], sandbox: Sandbox
) -> None:
    """What base does not bring to an end either does not count against the change."""
    (result,) = checked({"lint": "sleep 500"}, trees, sandbox, seconds=2.0)
    assert (result.base_passed, result.change_passed, result.blocks) == (False, False, False)
    assert [str(finding) for finding in result.findings] == [
        "lint on base did not end by itself: it ran out of time",
        "lint on the change did not end by itself: it ran out of time",
    ]


def test_a_check_that_takes_its_time_and_says_so_is_waited_for(
    trees: tuple[Path, Path], sandbox: Sandbox
) -> None:
    """A change with many more tests is slow, and does not hang."""
    slow = "test ! -e changed || for n in 1 2 3 4 5 6; do sleep 0.5; echo $n; done"
    (result,) = checked({"lint": slow}, trees, sandbox, pace=Pace(least=1.5, margin=0.5, silent=1.4))
    assert (result.base_passed, result.change_passed, result.findings) == (True, True, ())


def test_a_tool_that_is_not_there_is_named(trees: tuple[Path, Path], sandbox: Sandbox) -> None:
    """A check that could be run on neither side says why; one that is missing on the change only is red."""
    absent, lost = checked(
        {"lint": "no-such-linter .", "typecheck": "test ! -e changed || no-such-checker"}, trees, sandbox
    )
    assert [(one.kind, one.subject) for one in absent.findings] == [
        (FindingKind.UNKNOWN, "what lint complains of on either side"),
        (FindingKind.UNPREPARED, "no-such-linter"),
    ]
    assert not absent.blocks
    assert lost.turned_red
    assert not any(one.kind is FindingKind.UNPREPARED for one in lost.findings)
