"""Trees as the tests show them to commands."""

from pathlib import Path

from harness_executor.sandbox.base import Box, Room
from harness_executor.sandbox.plain import PlainSandbox


def room(tree: Path, outputs: Path | None = None) -> Room:
    """A tree that appears where it lies."""
    return Room(tree, tree, outputs=outputs)


def unboxed(tree: Path, outputs: Path | None = None) -> Box:
    """A tree whose commands run without a box."""
    return PlainSandbox().open(room(tree, outputs))
