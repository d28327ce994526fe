"""Where ways to start a project are tried, each in a fresh copy of it."""

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from harness_executor.clock import Clock, new_id
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.export import Desk


@frozen
class Bench:
    """Where ways are tried."""

    sandbox: Sandbox
    clock: Clock
    room: Callable[[], Room]
    """Gives a fresh copy of the project."""
    folder: Path
    """Where the output of servers goes."""
    notify: Callable[[str], None] = lambda _: None
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Services that the user runs, by name, with where they are."""


def bench_over(desk: Desk, tree: str, sandbox: Sandbox, clock: Clock, notify: Callable[[str], None]) -> Bench:
    """Where the ways to start a tree are tried, each in a fresh copy of it."""
    folder = desk.path / "trial"
    folder.mkdir(parents=True, exist_ok=True)
    return Bench(sandbox, clock, lambda: desk.room(desk.export(tree, folder / new_id()[:8])), folder, notify)
