"""What tests of evidence share."""

from pathlib import Path

import pytest

from harness_executor.sandbox.base import Sandbox
from tests.evidence.bench import Bench
from tests.rooms import BOX, NO_BOX, sandbox_named


@pytest.fixture(params=[NO_BOX, BOX])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """What holds of a server holds without a box and in one."""
    return sandbox_named(request.param)


@pytest.fixture
def bench(tmp_path: Path, sandbox: Sandbox) -> Bench:
    """A place for an examination."""
    return Bench(tmp_path, sandbox)
