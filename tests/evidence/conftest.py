"""What tests of evidence share."""

from pathlib import Path

import pytest

from tests.evidence.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place for an examination."""
    return Bench(tmp_path)
