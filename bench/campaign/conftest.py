"""What the campaign has: the guards of the tests, and one model server for all of it."""

from collections.abc import Iterator

import pytest

from bench.campaign.serving import Server, serving
from tests.conftest import home, loopback_only, sample

__all__ = ["home", "loopback_only", "sample", "server"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Small real weights behind real routes."""
    with serving(tmp_path_factory.mktemp("server") / "log.txt") as found:
        yield found
