"""What tests of the sandbox share."""

import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.sandbox.staying import Mark


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[Mark]:
    """A mark of this test; what still carries it at the end is ended, so that no failure spreads."""
    found = Mark(uuid.uuid4().hex, tmp_path)
    yield found
    for pid in found.alive():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
