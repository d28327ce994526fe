"""A service at an address that the user gave."""

from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import UsageError
from harness_executor.evidence.services.outside import Outside
from harness_executor.evidence.services.running import Site, serving, wanted
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.needs import Service
from tests.evidence.services.contract import KINDS, Bench
from tests.rooms import NO_BOX, sandbox_named


def test_an_address_is_read() -> None:
    """Host and port are where it is; the rest is what the project is told."""
    found = Outside.read(Service("db", "postgresql"), "postgresql://me:pw@db.example:5433/shop")
    assert found.to == ("db.example", 5433)
    assert found.within.url == "postgresql://me:pw@127.0.0.1:5433/shop"


@pytest.mark.parametrize("url", ["db.example:5432", "postgresql://", "thing://host", "postgresql://h:x/"])
def test_what_is_no_address_is_named(url: str) -> None:
    """An address without a host or a port is refused, and says how one looks."""
    with pytest.raises(UsageError, match="the address of the service db cannot be read"):
        Outside.read(Service("db", "thing"), url)


@pytest.mark.parametrize("name", ["postgresql", "mariadb", "redis"])
def test_it_is_reached_from_a_box(tmp_path: Path, sandbox: Sandbox, name: str) -> None:
    """A real server outside is asked through the box, with the user and password of the address."""
    kind = KINDS[name]
    theirs = Bench(tmp_path / "theirs", sandbox_named(NO_BOX))
    theirs.folder.mkdir()
    (tmp_path / "tree").mkdir()
    with theirs.serving(theirs.lay_out(kind)) as real:
        real.query(kind.write)
        chosen = wanted((kind.service,), Path("/"), {kind.service.name: real.seat.address.url})
        box = sandbox.open(Room(tmp_path / "tree", tmp_path / "tree"))
        try:
            with serving(chosen, Site(box, tmp_path / "server.log", SystemClock())) as services:
                found = services[kind.service.name]
                assert found.query(kind.read) == kind.found
                assert found.running is None
        finally:
            box.close()
