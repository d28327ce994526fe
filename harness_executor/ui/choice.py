"""Which way of showing progress fits where the program runs."""

import sys
from typing import TYPE_CHECKING

from harness_executor.config import speakable_passwords, speakable_secrets, wants_colour
from harness_executor.redaction import Redactor
from harness_executor.ui.lines import Lines

if TYPE_CHECKING:
    from harness_executor.ui.live import Live


def progress() -> "Lines | Live":
    """A live display on a terminal, plain lines elsewhere."""
    clean = Redactor(speakable_secrets(), speakable_passwords()).clean
    if sys.stderr.isatty() and wants_colour():
        from harness_executor.ui.live import Live  # noqa: PLC0415 - rich is loaded only for a terminal

        return Live(clean)
    return Lines(clean=clean)
