"""Progress on a terminal: finished lines above, what is being done below."""

import sys
from collections.abc import Callable

from rich.console import Console
from rich.status import Status
from rich.text import Text

from harness_executor.kernel.events import Fact, StepStarted
from harness_executor.ui.plain import plain
from harness_executor.ui.words import sentence


class Live:
    """A spinner that says what is being done, with everything written down above it."""

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        self.console = Console(file=sys.stderr, highlight=False)
        self.clean = clean
        """Takes secrets out of what is said."""
        self.status: Status | None = None

    def __enter__(self) -> "Live":
        self.status = self.console.status("starting")
        self.status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.status:
            self.status.stop()
            self.status = None

    def fact(self, fact: Fact) -> None:
        """Something was written down."""
        said = sentence(fact)
        if said:
            self.console.print(Text(self.clean(said), style="bold" if isinstance(fact, StepStarted) else ""))

    def note(self, text: str) -> None:
        """Something is being done."""
        if self.status:
            self.status.update(Text(plain(self.clean(text))))
