"""How much of the machine a box may use."""

import os
from dataclasses import field

from harness_executor.kernel.frozen import frozen

_GIB = 1024**3


def half_of_memory() -> int:
    """Half of the memory of this machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


@frozen
class Limits:
    """The most that a box may have of each thing."""

    memory: int = field(default_factory=lambda: min(6 * _GIB, half_of_memory()))
    """Bytes: of the whole box where a `Cgroup` can be had, of each process in any case.

    Node takes up to four GiB for its objects alone before it tidies up, as builds of pages do.
    """
    processes: int = 512
    """Processes and threads at the same time."""
    file_size: int = 4 * _GIB
    """Bytes of one file."""
    open_files: int = 4096
    """Open files of one process that does not ask for more; a lower limit of the user stays."""
    tmp: int = field(default_factory=lambda: min(2 * _GIB, half_of_memory() // 2))
    """Bytes of the temporary folder, where it lies in memory."""
    disk: int = 10 * _GIB
    """Bytes of the disk that may be used up while one command runs."""
    files: int = 300_000
    """Files that may be made while one command runs."""

    def of_process(self) -> tuple[int, int, int, int]:
        """What `rlimits.lower` takes, in its order."""
        return self.memory, self.processes, self.file_size, self.open_files
