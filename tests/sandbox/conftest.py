"""What tests of the sandbox share."""

import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harness_executor.sandbox.forked import ForkedSandbox, start_keepers
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.sandbox.unboxed import Runner
from tests.sandbox.staying import Mark


@pytest.fixture(params=["plain", "forked"])
def box(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """Both ways to have a command kept, under one contract."""
    if request.param == "plain":
        yield PlainSandbox()
        return
    keepers = start_keepers()
    yield ForkedSandbox(keepers.line)
    keepers.close()


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[Mark]:
    """A mark of this test; what still carries it at the end is ended, so that no failure spreads."""
    found = Mark(uuid.uuid4().hex, tmp_path)
    yield found
    for pid in found.alive():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
