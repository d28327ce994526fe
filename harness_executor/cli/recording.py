"""Facts of a command, written into the log of the task they are about."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness_executor.home import Home
from harness_executor.kernel.events import Fact


@contextmanager
def recorder(home: Home, task_id: str) -> Iterator[Callable[[Fact], None]]:
    """Writes facts down while the log is held; without a task, they are written nowhere."""
    if not task_id:
        yield lambda _fact: None
        return
    with home.hold(task_id) as log:
        yield lambda fact: (log.append(fact), None)[1]
        home.publish(log)
