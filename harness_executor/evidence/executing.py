"""Programs of the project under test, run to their end in its box, and how they ended."""

import json
import os
import shutil
import signal
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from harness_executor.clock import Clock
from harness_executor.config import safe_environment
from harness_executor.evidence import querying
from harness_executor.evidence.entries import words_of
from harness_executor.evidence.planting import MOST, as_text, harvest, inside, plant
from harness_executor.kernel.acts import Language, Probe, Program, Query
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Execution
from harness_executor.sandbox.base import Box, Cause, Command, Room
from harness_executor.workspace.importing import import_folders, program_folders

SQLITE = "sqlite:"
"""How a query names a file of the project instead of a service."""
_NOT_STARTED = 127
_COMPLAINT = b"cannot start "
_HERE = Path(__file__).parent
_APART = 'exec "$0" "$@" 3>&1 1>&2'
"""Has a program say its value on descriptor 3, and everything else on standard error."""


@frozen
class Yard:
    """Where programs of one tree run."""

    box: Box
    room: Room
    streams: Path
    """A folder of ours for what they say, which no box shows."""
    clock: Clock
    folder: str = "."
    """Where in the tree they run."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What they find in their environment, besides their own."""

    def run(self, program: Program, wanted: tuple[str, ...] = ()) -> Execution:
        """Run a command of the project; `wanted` are the files to look at afterwards."""
        plant(self.room.tree, self.folder, program.files)
        deed = Execution(program.argv, program.stdin, program.env, program.files, None)
        argv = words_of(self.room.tree, self.folder, program.argv)
        argv = (self._python() if argv[0] == "python" else argv[0], *argv[1:])
        return self._done(deed, argv, program, wanted)

    def probe(self, probe: Probe, wanted: tuple[str, ...] = ()) -> Execution:
        """Have the project's own interpreter carry out a piece of code; its value is the answer."""
        order = json.dumps({"code": probe.code, "args": list(probe.args)})
        match probe.language:
            case Language.PYTHON:
                argv: tuple[str, ...] = (self._python(), "-")
                text = f"{_driver('probing.py')}\nanswer({order!r})\n"
            case Language.NODE:
                argv = ("sh", "-c", _APART, "node", "--input-type=commonjs", "-")
                text = f"{_driver('probing.cjs')}\nanswer({order});\n"
        last = next((line for line in reversed(probe.code.splitlines()) if line.strip()), "")
        shown = (probe.language.value, "-", *(json.dumps(argument) for argument in probe.args))
        deed = Execution(shown, probe.code, {}, {}, None, title=f"probe `{last.strip()}`")
        program = Program(argv, stdin=text, seconds=probe.seconds)
        return _with_value(self._done(deed, argv, program, wanted))

    def query(self, query: Query, wanted: tuple[str, ...] = ()) -> Execution:
        """Ask an SQLite file of the tree."""
        place = str(inside(".", query.service.removeprefix(SQLITE)))
        argv = (*self.box.script(Path(querying.__file__)), place)
        deed = Execution(
            ("sqlite3", place), query.text, {}, {}, None, title=f"query {place}: `{query.text.strip()}`"
        )
        return self._done(deed, argv, Program(argv, stdin=query.text), wanted)

    def _done(
        self, deed: Execution, argv: tuple[str, ...], program: Program, wanted: tuple[str, ...]
    ) -> Execution:
        began = self.clock.monotonic()
        out, errors = self.streams / "stdout", self.streams / "stderr"
        where, env = self.box.root / self.folder, self._environment(program.env)
        stdin = program.stdin.encode(errors="surrogateescape")
        try:
            done = self.box.run(Command(argv, where, env, out, MOST, errors, stdin), program.seconds)
        except (OSError, ValueError) as error:
            return replace(deed, error=f"it cannot be started: {error}")
        took = round((self.clock.monotonic() - began) * 1000, 1)
        said, complained = out.read_bytes(), errors.read_bytes()
        problem = _problem(done.code, done.cause, said, complained)
        if problem:
            return replace(deed, error=f"{problem}{_end_of(complained)}")
        files = harvest(self.room.tree, self.folder, wanted)
        return replace(deed, answer=Ended(done.code, (), as_text(said), took, as_text(complained), files))

    def _environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        env = self.box.environment({**self._own(), **self.env, **extra})
        programs = [str(self.box.root / place) for place in program_folders(self.room, self.folder)]
        imports = [str(self.box.root / place) for place in import_folders(self.room.tree, self.folder)]
        path = [*programs, env["PATH"]]
        modules = [part for part in (env.get("PYTHONPATH", ""), *imports) if part]
        more = {"PYTHONPATH": os.pathsep.join(modules)} if modules else {}
        return {**env, "PATH": os.pathsep.join(path), **more}

    def _own(self) -> Mapping[str, str]:
        """Without a box, a home and a temporary folder that are not the user's, nor another copy's."""
        if self.box.environment()["HOME"] != safe_environment()["HOME"]:
            return {}
        places = {"HOME": self.streams / "home", "TMPDIR": self.streams / "tmp"}
        for place in places.values():
            place.mkdir(parents=True, exist_ok=True)
        return {name: str(place) for name, place in places.items()}

    def _python(self) -> str:
        """The interpreter's usual name, or the one it has on systems that keep `python` free."""
        has_own = any(place.endswith("venv/bin") for place in program_folders(self.room, self.folder))
        path = self.box.environment()["PATH"]
        return "python" if has_own or shutil.which("python", path=path) else "python3"


def _driver(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _problem(code: int, cause: Cause, said: bytes, complained: bytes) -> str:
    """Why an ending counts for nothing, if it does."""
    if cause:
        return cause.value
    if len(said) >= MOST or len(complained) >= MOST:
        return Cause.OUTPUT.value
    if code == _NOT_STARTED and complained.startswith(_COMPLAINT):
        return "it cannot be started"
    if code < 0:
        return f"it was killed by {_signal(-code)}"
    return ""


def _signal(number: int) -> str:
    named = {one.value: one.name for one in signal.Signals}
    return f"signal {number} ({named.get(number, 'unknown')})"


def _end_of(complained: bytes, lines: int = 5) -> str:
    tail = complained[-4000:].decode(errors="replace").strip().splitlines()[-lines:]
    return "".join(f"\n{line}" for line in tail)


def _with_value(deed: Execution) -> Execution:
    """A probe that ended well has said one value; one that did not has said none."""
    if deed.answer is None or deed.answer.status != 0:
        return deed
    try:
        parse(deed.answer.body)
    except ValueError:
        return replace(deed, answer=None, error="the probe ended without a value")
    return deed


def streams_beside(log: Path) -> Path:
    """A fresh folder beside a log for what programs say."""
    folder = log.with_suffix(".programs")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
