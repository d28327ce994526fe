"""Is what runs in a box doing harm to the machine?"""

import os
from pathlib import Path

from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Cause
from harness_executor.sandbox.cgroups import Cgroup
from harness_executor.sandbox.limits import Limits

LEAST_FREE = 256 * 1024**2
"""How much of the disk has to stay free."""


@frozen
class Watch:
    """How things stood when something began."""

    tree: Path
    group: Cgroup | None
    limits: Limits
    free: int
    files: int
    killed: int
    refused: int

    @classmethod
    def begin(cls, tree: Path, group: Cgroup | None, limits: Limits) -> "Watch":
        """Look at the disk and at the box now."""
        killed, refused = _counted(group)
        return cls(tree, group, limits, *_left(tree), killed, refused)

    def harm(self) -> Cause:
        """What it has done to the machine since."""
        killed, refused = _counted(self.group)
        free, files = _left(self.tree)
        if killed > self.killed:
            return Cause.MEMORY
        if refused > self.refused:
            return Cause.PROCESSES
        if free < min(LEAST_FREE, self.free // 2) or self.free - free > self.limits.disk:
            return Cause.DISK
        return Cause.FILES if self.files - files > self.limits.files else Cause.NONE


def _counted(group: Cgroup | None) -> tuple[int, int]:
    return (group.killed_for_memory(), group.refused_processes()) if group else (0, 0)


def _left(tree: Path) -> tuple[int, int]:
    """Bytes and files that the disk of a tree has room for, even when the tree was just cleared away."""
    there = next(place for place in (tree, *tree.parents) if place.exists())
    disk = os.statvfs(there)
    return disk.f_bavail * disk.f_frsize, disk.f_favail
