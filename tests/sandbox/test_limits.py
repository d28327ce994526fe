"""How much of the machine a box may use, by default."""

import inspect
import os

from harness_executor.sandbox import rlimits
from harness_executor.sandbox.limits import Limits


def test_leaves_half_of_the_machine() -> None:
    """A box gets at most half of the memory, and never more than 4 GiB."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert Limits().memory == min(6 * 1024**3, machine // 2)
    assert Limits().tmp <= Limits().memory


def test_gives_a_process_its_limits_in_their_order() -> None:
    """What a process is told fits the names of what lowers the limits there."""
    limits = Limits(memory=1, processes=2, file_size=3, open_files=4)
    named = dict(zip(inspect.signature(rlimits.lower).parameters, limits.of_process(), strict=True))
    assert named == {"memory": 1, "processes": 2, "file_size": 3, "open_files": 4}
