"""What tests of the workspace share."""

from pathlib import Path

import pytest

from harness_executor.workspace.export import Desk
from tests.workspace.repositories import desk_of, new_repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one file in one commit."""
    return new_repository(tmp_path / "repo")


@pytest.fixture
def desk(repo: Path) -> Desk:
    """A desk over that repository."""
    return desk_of(repo)
