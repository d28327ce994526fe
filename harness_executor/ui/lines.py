"""Progress as plain lines, for logs and pipes."""

import sys
from collections.abc import Callable
from typing import TextIO

from harness_executor.kernel.events import Fact
from harness_executor.ui.plain import plain
from harness_executor.ui.words import sentence


class Lines:
    """Says each thing once, on standard error."""

    def __init__(self, stream: TextIO | None = None, clean: Callable[[str], str] = str) -> None:
        self.stream = stream or sys.stderr
        self.clean = clean
        """Takes secrets out of what is said."""

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.flush()

    def fact(self, fact: Fact) -> None:
        """Something was written down."""
        said = sentence(fact)
        if said:
            self.stream.write(f"{self.clean(said)}\n")
            self.stream.flush()

    def note(self, text: str) -> None:
        """Something is being done."""
        self.stream.write(f"  {plain(self.clean(text))}\n")
        self.stream.flush()
