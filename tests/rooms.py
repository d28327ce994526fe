"""Trees as the tests show them to commands."""

import shlex
from functools import lru_cache
from pathlib import Path

from harness_executor.config import Settings
from harness_executor.sandbox.base import Box, Room, Sandbox
from harness_executor.sandbox.choice import choose
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.sandbox.toolchains import interpreter

PYTHON = shlex.quote(str(interpreter()))
"""An interpreter that every box shows; the virtual environment of the tests is not among what it shows."""


def room(tree: Path, outputs: Path | None = None) -> Room:
    """A tree that appears where it lies."""
    return Room(tree, tree, outputs=outputs)


def unboxed(tree: Path, outputs: Path | None = None) -> Box:
    """A tree whose commands run without a box."""
    return PlainSandbox().open(room(tree, outputs))


NO_BOX, BOX = "no box", "box"


def sandbox_named(kind: str) -> Sandbox:
    """The user's own machine, or the box that the product chooses here; a machine without one fails."""
    return _chosen() if kind == BOX else PlainSandbox()


@lru_cache(maxsize=1)
def _chosen() -> Sandbox:
    return choose(Settings(), Path("/nonexistent")).sandbox()
