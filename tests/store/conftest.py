"""What the tests of the store share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.store.place import Place

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A task folder that does not exist yet."""
    return Place(tmp_path)


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is never waited for, where a test writes thousands of times and pulls no plug."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
