"""What models are not shown: files that look like secrets, and what is in them."""

from collections.abc import Iterator

from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.task import Task
from harness_executor.redaction import Redactor
from harness_executor.steps.means import Means

_SHORTEST = 12
"""Shorter lines and values are words of every day."""
_MOST = 1000
"""Values that are looked for; more would make every message slow."""

_MOST_NAMED = 20


@frozen
class Withheld:
    """The files of a task that are kept back."""

    names: tuple[str, ...]
    redactor: Redactor

    @property
    def said(self) -> str:
        """Their names, or nothing."""
        more = f" and {len(self.names) - _MOST_NAMED} more" if len(self.names) > _MOST_NAMED else ""
        return ", ".join(self.names[:_MOST_NAMED]) + more

    def clean(self, text: str) -> str:
        """A text without what stands in those files; checks and servers have them, and may say it."""
        return self.redactor.clean_known(text) if self.names else text


def withheld(task: Task, means: Means) -> Withheld:
    """What is kept back of a task, on base and in the change."""
    held = {
        **means.desk.held_back(task.base_tree, means.hides),
        **means.desk.held_back(task.tree, means.hides),
    }
    values = dict.fromkeys(value for text in held.values() for value in _values(text))
    return Withheld(tuple(held), Redactor(list(values)[:_MOST]))


def _values(text: str) -> Iterator[str]:
    for line in text.splitlines():
        _, _, value = line.replace(":", "=", 1).partition("=")
        yield from (part for raw in (line, value) if len(part := raw.strip(" \t\"',;")) >= _SHORTEST)
