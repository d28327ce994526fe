"""Empty data folders of services, made once per machine by their own programs."""

import shutil
from contextlib import suppress
from pathlib import Path

from harness_executor.clock import new_id
from harness_executor.config import work_home
from harness_executor.errors import ServiceFailed
from harness_executor.evidence.services.base import Seat
from harness_executor.evidence.services.registry import Found
from harness_executor.evidence.services.users import ordinary
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box, Command, Room, Sandbox

_SECONDS = 120.0
_VERSION = 1
_NOWHERE = Path("/template")


@frozen
class Templates:
    """Where empty data is kept: with the work of the user's own installation, where no box leads."""

    sandbox: Sandbox
    scratch: Path
    """A folder that goes with this program."""

    def lay_out(self, found: Found, target: Path) -> None:
        """An empty data folder of a service."""
        target.parent.mkdir(parents=True, exist_ok=True)
        if not found.engine.making(_seat(found, target)):
            target.mkdir()
            return
        kept = work_home() / "services" / f"{Path(found.engine.programs[0]).name}-{_identity(found)}"
        if not kept.is_dir():
            self._make(found, kept)
        shutil.copytree(kept, target, symlinks=True)

    def _make(self, found: Found, kept: Path) -> None:
        """Made in a box that holds nothing else, and put in its place in one move."""
        place = self.scratch / f"template-{new_id()[:8]}"
        for name in ("tree", "data"):
            (place / name).mkdir(parents=True)
        box = self.sandbox.open(Room(place / "tree", _NOWHERE, data=place / "data"))
        try:
            _run(found, box, place / "log")
        finally:
            box.close()
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(OSError):  # somebody else was quicker
            (place / "data" / "made").rename(kept)
        shutil.rmtree(place, ignore_errors=True)


def _run(found: Found, box: Box, log: Path) -> None:
    words = found.engine.making(_seat(found, box.data / "made"))
    command = Command((*ordinary(box), *words), box.root, box.environment(), log)
    done = box.run(command, _SECONDS)
    if not done.ok:
        raise ServiceFailed(
            f"`{words[0]}` failed ({done.cause or f'exit code {done.code}'})\n{done.output[-2000:].strip()}",
            hint="try it by hand as an ordinary user",
        )


def _identity(found: Found) -> str:
    """A new version of the program makes a new folder."""
    states = [(path, Path(path).stat()) for path in found.programs.values()]
    return digest([_VERSION, *([path, state.st_size, state.st_mtime_ns] for path, state in states)])[:16]


def _seat(found: Found, data: Path) -> Seat:
    def nobody(port: int) -> None:
        raise OSError(port)

    return Seat(found.engine.usual, found.programs, data, nobody)  # type: ignore[arg-type]  # nobody is there to be met yet
