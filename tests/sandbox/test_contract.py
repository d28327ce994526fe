"""One contract for every sandbox: those that keep commands away, and those that only keep them tidy."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness_executor.errors import BoxBroke
from harness_executor.sandbox.base import Command, Room
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.landlock import Landlock
from harness_executor.sandbox.trial import Tried
from tests.sandbox.contract import BoxContract, PrivateContract, SandboxContract
from tests.sandbox.reaching import REACHES, Outside
from tests.sandbox.reaching import outside as make_outside
from tests.sandbox.staying import Mark
from tests.sandbox.subjects import BOXES, PRIVATE, UNBOXED, Subject, left
from tests.sandbox.subjects import subject as make_subject

CANNOT_START = {
    "no such program": (Bubblewrap("/nonexistent/bwrap"), "/nonexistent/bwrap"),
    "a program that fails": (Bubblewrap("/bin/false"), "ended with code 1"),
    "a kernel that is too old": (Landlock(least=99), "99 is needed"),
}


@pytest.fixture
def subject(
    request: pytest.FixtureRequest, tmp_path: Path, mark: Mark, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Subject]:
    """A sandbox by its name; temporary files of its owner lie where a test can see them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with make_subject(request.param, tmp_path, mark.text) as made:
        yield made


@pytest.fixture
def outside(home: Path) -> Iterator[Outside]:
    """What the user has, and no command should reach."""
    with make_outside(home) as made:
        yield made


def over(names: list[str]) -> pytest.MarkDecorator:
    """Run a contract over these."""
    return pytest.mark.parametrize("subject", names, indirect=True)


@over([*BOXES, *UNBOXED])
class TestEverySandbox(SandboxContract):
    """All of them."""


@over(BOXES)
class TestEveryBox(BoxContract):
    """Those that keep commands away from the user's files."""


@over(PRIVATE)
class TestEveryPrivateBox(PrivateContract):
    """Those with a network and processes of their own."""


@over(UNBOXED)
@pytest.mark.parametrize("name", [name for name in REACHES if name != "writes to the system"])
def test_without_a_box_commands_reach_everything(subject: Subject, outside: Outside, name: str) -> None:
    """Each thing that a box prevents does work without one, so that the tests of boxes can fail."""
    done = subject.python(subject.open(), outside.script(name))
    assert "reached" in done.output or not outside.is_untouched()


@over(UNBOXED)
def test_without_a_box_everything_beside_can_be_written_to(subject: Subject) -> None:
    """Installed packages are links, which lead to the project's own."""
    subject.shell(subject.open(), "echo x > packages/new")
    assert (subject.packages / "new").exists()


def _use(sandbox: Tried, room: Room) -> None:
    with closing(sandbox.open(room)) as box:
        box.start(Command(("true",), box.root, {}))


@pytest.mark.parametrize(("sandbox", "reason"), CANNOT_START.values(), ids=CANNOT_START)
def test_a_box_that_cannot_start_says_why(sandbox: Tried, reason: str, tmp_path: Path) -> None:
    """A box that does not come into being is refused, with the reason and a hint, and leaves nothing."""
    (tmp_path / "tree").mkdir()
    room = Room(tmp_path / "tree", tmp_path / "project")
    before = left(tmp_path)
    with pytest.raises(BoxBroke, match=reason) as refused:
        _use(sandbox, room)
    assert refused.value.hint
    assert left(tmp_path) == before
