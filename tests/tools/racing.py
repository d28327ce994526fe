"""A race for the way to a file: one process swaps a folder for a link while the tools of another use it."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from harness_executor.tools.base import Place, ToolError
from harness_executor.tools.files import reading_tools, writing_tools
from harness_executor.tools.search import searching_tools
from tests.rooms import unboxed
from tests.tools import swapping

OUTSIDE, INSIDE = "sesame one\n", "plain one\n"
NAMES = {"f.txt", "sesame.txt"}
"""What lies outside; neither text nor name may be seen."""

Act = Callable[[], str]


@dataclass(frozen=True)
class Score:
    """How attempts ended."""

    attempts: int = 0
    done: int = 0
    """Attempts that reached a file of the tree, or escaped."""
    escapes: int = 0
    """Attempts that read or changed something outside the tree."""
    seconds: float = 0.0

    def and_(self, *, done: bool, escaped: bool) -> "Score":
        """One attempt more."""
        return replace(
            self, attempts=self.attempts + 1, done=self.done + done, escapes=self.escapes + escaped
        )


@dataclass(frozen=True)
class Ring:
    """A tree with a folder in it, and a folder outside that looks the same."""

    tree: Path
    outside: Path

    @property
    def door(self) -> Path:
        """The folder that is a link half of the time."""
        return self.tree / "door"

    @property
    def lure(self) -> Path:
        """The link that is a folder half of the time."""
        return self.tree / "lure"

    def was_left(self) -> bool:
        """Was anything changed outside? It is put right again."""
        file = self.outside / "f.txt"
        if {path.name for path in self.outside.iterdir()} == NAMES and file.read_text() == OUTSIDE:
            return False
        file.write_text(OUTSIDE)
        _forget_new(self.outside)
        return True


def make_ring(folder: Path) -> Ring:
    """A ring in an empty folder."""
    ring = Ring(folder / "tree", folder / "outside")
    ring.door.mkdir(parents=True)
    ring.outside.mkdir()
    (ring.door / "f.txt").write_text(INSIDE)
    for name in NAMES:
        (ring.outside / name).write_text(OUTSIDE)
    ring.lure.symlink_to(ring.outside)
    return ring


def tool_acts(place: Place) -> list[Act]:
    """What a model can do behind the door, with the real tools."""
    (read,), (write, edit) = reading_tools(place), writing_tools(place)
    (search,) = searching_tools(place, unboxed(place.root, place.spill))
    return [
        lambda: write.use({"path": "door/f.txt", "content": INSIDE}),
        lambda: edit.use({"path": "door/f.txt", "old": "one", "new": "two"}),
        lambda: read.use({"path": "door/f.txt"}),
        lambda: write.use({"path": "door/new/g.txt", "content": INSIDE}),
        lambda: read.use({"path": "door"}),
        lambda: search.use({"path": "door", "pattern": ""}),
    ]


def careless_act(ring: Ring) -> Act:
    """The control: a path is followed and judged, and opened afterwards."""

    def write() -> str:
        path = ring.tree / "door" / "f.txt"
        if not path.resolve().is_relative_to(ring.tree.resolve()):
            raise ToolError("leads out")
        path.write_text(INSIDE)
        return "wrote"

    return write


def race(ring: Ring, acts: Sequence[Act], attempts: int, enough: int = sys.maxsize) -> Score:
    """Try the acts in turn, so often or until enough of them escaped."""
    score, began = Score(), time.monotonic()
    with swapped(ring):
        for act in islice(cycle(acts), attempts):
            said = _said(act)
            escaped = ring.was_left() or "sesame" in (said or "")
            score = score.and_(done=said is not None, escaped=escaped)
            _forget_new(ring.door)
            if score.escapes >= enough:
                break
    return replace(score, seconds=time.monotonic() - began)


@contextmanager
def swapped(ring: Ring) -> Iterator[None]:
    """The door and the lure change places all the time."""
    words = [sys.executable, "-I", "-S", swapping.__file__, str(ring.door), str(ring.lure)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"swapping\n"
        try:
            yield
            assert other.poll() is None
        finally:
            other.kill()


def _said(act: Act) -> str | None:
    try:
        return act()
    except (ToolError, OSError):
        return None


def _forget_new(folder: Path) -> None:
    with suppress(OSError):
        (folder / "new" / "g.txt").unlink()
        (folder / "new").rmdir()
