"""Deeds that take whole boxes: each says what was seen where it must not work, and where it must.

Runs as the user whose boxes are tried; the arguments are a folder of that user's with the package, and the
program that makes boxes. Prints what was seen by every deed.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from harness_executor.sandbox.base import Command, Finished, Room
from harness_executor.sandbox.boxed import Boxed
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.programs import has_overlays
from harness_executor.sandbox.trial import try_box
from tests.sandbox.escaping.weakened import ALL_CAPABILITIES, NESTING, RIGHTS, Lack, Words

_SECONDS = 20.0
_LATE = 0.4
_SERVES = """
import os, socket, sys, time
for place in ("/tmp/mark", "/dev/shm/mark"):
    open(place, "w").close()
server = socket.socket()
server.bind(("127.0.0.1", 8123))
server.listen()
print("ready", flush=True)
time.sleep(60)
"""
_LOOKS = """
import os, socket
print("file" if os.path.exists("/tmp/mark") else "", "memory" if os.path.exists("/dev/shm/mark") else "")
print("port" if socket.socket().connect_ex(("127.0.0.1", 8123)) == 0 else "")
words = [open(f"/proc/{number}/cmdline").read() for number in os.listdir("/proc") if number.isdigit()]
print("process" if any("harness-" "neighbour" in line for line in words) else "")
"""
_DAEMON = f"""
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep({_LATE})
        open("late", "w").close()
    os._exit(0)
os.wait()
if sys.argv[1] == "kill":
    os.kill(os.getppid(), signal.SIGKILL)
if sys.argv[1] == "wait":
    print("ready", flush=True)
    time.sleep(60)
"""
_SIGNALS = """
import os, signal, sys
for sign in set(signal.Signals) - {signal.SIGCHLD}:
    os.kill(int(sys.argv[1]), sign)
    if sys.argv[2] == "all" and sign not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(sign, signal.SIG_IGN)
        os.kill(-1, sign)
"""
_BARE = (sys.executable, "-I", "-S", "-c")


@dataclass(frozen=True)
class Seen:
    """What a deed came to."""

    held: bool
    """Did it fail in the box?"""
    works: bool
    """Did it work where nothing stands against it?"""
    what: str


class Boxes:
    """Opens boxes over trees of its own."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        self.program = program
        self.logs = 0

    @contextmanager
    def open(self, name: str, packages: Path | None = None) -> Iterator[Boxed]:
        """A box of a new tree."""
        tree = self.folder / name
        tree.mkdir()
        beside = {"node_modules": packages} if packages else {}
        room = Room(tree, self.folder / "project", beside, copied=frozenset(beside))
        box = Bubblewrap(self.program, overlays=has_overlays(self.program)).open(room)
        try:
            yield box
        finally:
            box.close()

    def command(self, box: Boxed, script: str, *words: str) -> Command:
        """A command of a box, with a log of its own."""
        self.logs += 1
        argv = (*box.view.interpreter, "-c", script, *words)
        return Command(argv, box.root, box.environment(), self.folder / f"log-{self.logs}")

    def run(self, box: Boxed, script: str, *words: str) -> Finished:
        """Run a script in a box."""
        return box.run(self.command(box, script, *words), _SECONDS)

    def start(self, box: Boxed, script: str, *words: str) -> None:
        """Start a script in a box, and wait until it is ready."""
        command = self.command(box, script, *words)
        assert command.log
        box.start(command)
        end = time.monotonic() + _SECONDS
        while "ready" not in command.log.read_text() and time.monotonic() < end:
            time.sleep(0.01)


def neighbours(boxes: Boxes) -> Seen:
    """Look from one box into another: at its processes, files, memory and ports."""
    with boxes.open("one") as one, boxes.open("other") as other:
        boxes.start(one, _SERVES, "harness-neighbour")
        mine, theirs = boxes.run(one, _LOOKS).output.split(), boxes.run(other, _LOOKS)
        return Seen(
            held=theirs.ok and not theirs.output.split(),
            works=mine == ["file", "memory", "port", "process"],
            what=f"{mine} {theirs.output}",
        )


def packages(boxes: Boxes) -> Seen:
    """Write to installed packages that are given to be written to."""
    folder = boxes.folder / "packages"
    folder.mkdir()
    writes = "open('node_modules/added', 'w').close()"
    with boxes.open("installing", folder) as box:
        done = boxes.run(box, writes)
    is_clean = not list(folder.iterdir())
    (boxes.folder / "node_modules").symlink_to(folder)
    subprocess.run([*_BARE, writes], cwd=boxes.folder, check=True)
    return Seen(
        held=is_clean and done.ok,
        works=(folder / "added").exists(),
        what=done.output,
    )


def daemons(boxes: Boxes) -> Seen:
    """Change the tree after the command has ended, after its keeper was killed, and after the box is gone."""
    kinds = ("end", "kill", "wait")
    with boxes.open("tree-end") as ended, boxes.open("tree-kill") as killed:
        with boxes.open("tree-wait") as closed:
            boxes.start(closed, _DAEMON, "wait")
        codes = [boxes.run(ended, _DAEMON, "end").code, boxes.run(killed, _DAEMON, "kill").code]
        outside = boxes.folder / "tree-outside"
        outside.mkdir()
        subprocess.run([*_BARE, _DAEMON, "end"], cwd=outside, check=True)
        time.sleep(3 * _LATE)
    late = [kind for kind in kinds if (boxes.folder / f"tree-{kind}/late").exists()]
    return Seen(not late and codes == [0, -9], (outside / "late").exists(), f"{late} {codes}")


def signals(boxes: Boxes) -> Seen:
    """Send every signal to process 1, and all but the last to everyone; then ask for another command."""
    with boxes.open("signalled") as box:
        boxes.run(box, _SIGNALS, "1", "all")
        first = box.first()[0]
        after = boxes.run(box, "print(6 * 7)")
        is_same = Path(f"/proc/{first}").exists()
    other = subprocess.Popen(["sleep", "60"])
    done = subprocess.run([*_BARE, _SIGNALS, str(other.pid), "one"], check=False)
    return Seen(after.output == "42\n" and is_same, other.wait() < 0, f"{after} {done.returncode}")


def _usr_over_memory(*more: str) -> tuple[Words, Words]:
    """The system in a folder that may be written to, without that of the machine being in danger."""
    parts = [word for place in sorted(Path("/usr").iterdir()) for word in ("--ro-bind", *[str(place)] * 2)]
    return ("--ro-bind", "/usr", "/usr"), ("--tmpfs", "/usr", *parts, *more)


def _lacks() -> dict[str, Lack]:
    """For each layer that words of bubblewrap make, a box without it."""
    home = os.environ["HOME"]
    found = {
        "start": Lack(added=("--no-such-word",)),
        "capabilities": Lack((ALL_CAPABILITIES,)),
        "system call filter": Lack(unfiltered=True),
        "user namespaces": Lack((NESTING,), unfiltered=True),
        "remounting": Lack((*RIGHTS.changes, _usr_over_memory("--remount-ro", "/usr")), unfiltered=True),
        "network": Lack(((("--unshare-net",), ()),)),
        "processes": Lack(((("--unshare-pid",), ()), (("--as-pid-1",), ()))),
        "files of the user": Lack(added=("--ro-bind", home, home)),
        "system is read only": Lack((_usr_over_memory(),)),
    }
    settings = Lack(((("--ro-bind", "/proc/sys", "/proc/sys"), ()),))
    return found if os.geteuid() else {**found, "kernel settings": settings}


def layers(boxes: Boxes) -> Seen:
    """Have a box that lacks a layer taken for a whole one: each is told apart, and a whole one holds."""
    Path(os.environ["HOME"], ".ssh").mkdir(parents=True, exist_ok=True)
    sound = [layer for layer in try_box(Bubblewrap(boxes.program)) if not layer.holds]
    broken: dict[str, list[str]] = {}
    for name, lack in _lacks().items():
        program = lack.program(boxes.program, boxes.folder / f"without-{len(broken)}")
        broken[name] = [layer.name for layer in try_box(Bubblewrap(program)) if not layer.holds]
    missed = {name: found for name, found in broken.items() if name not in found}
    return Seen(not missed, not sound, f"{missed} {sound}")


DEEDS: dict[str, Callable[[Boxes], Seen]] = {
    "neighbours": neighbours,
    "packages_copied": packages,
    "a48_daemons": daemons,
    "a45_signals_to_process_1": signals,
    "layers_told_apart": layers,
}


def main(folder: str, program: str) -> None:
    """Do everything, and print what was seen."""
    boxes = Boxes(Path(folder), program)
    (boxes.folder / "project").mkdir()
    sys.stdout.write(json.dumps({name: asdict(deed(boxes)) for name, deed in DEEDS.items()}))
