"""Steps that stay open when they are done."""

from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.evidence.lingering import Wait, run_until_idle
from harness_executor.sandbox.base import Cause, Command, Finished
from tests.rooms import BOX, NO_BOX, PYTHON, room, sandbox_named

WORKS = "import time; end = time.monotonic() + {seconds}\nwhile time.monotonic() < end: sum(range(10000))\n"
STAYS = "import signal; signal.pause()\n"


def run(tree: Path, kind: str, code: str, wait: Wait) -> Finished:
    """Run code as a step."""
    (tree / "step.py").write_text(code)
    box = sandbox_named(kind).open(room(tree))
    try:
        words = ("sh", "-c", f"{PYTHON} step.py")
        command = Command(words, box.root, box.environment(), tree.with_name("step.log"))
        return run_until_idle(box, SystemClock(), (), wait, command)
    finally:
        box.close()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder for a step."""
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.mark.parametrize("kind", [BOX, NO_BOX])
def test_one_that_stays_open_is_ended_after_its_work(tree: Path, kind: str) -> None:
    """It counts as done, and everything that it had to do was done."""
    code = WORKS.format(seconds=6) + "open('done', 'w').close()\nprint('done', flush=True)\n" + STAYS
    assert run(tree, kind, code, Wait(120, idle=3)).ok
    assert (tree / "done").exists()


def test_one_that_is_cut_off_at_work_failed(tree: Path) -> None:
    """What was not finished does not count as done."""
    done = run(tree, BOX, WORKS.format(seconds=60), Wait(4, idle=2))
    assert (done.ok, done.cause) == (False, Cause.TIME)


@pytest.mark.parametrize(("code", "ok"), [("print('made')", True), ("print('no'); exit(3)", False)])
def test_one_that_ends_is_not_waited_for(tree: Path, code: str, *, ok: bool) -> None:
    """Its own code and words are taken."""
    done = run(tree, BOX, code, Wait(120))
    assert done.ok is ok
    assert done.output.strip() in ("made", "no")
