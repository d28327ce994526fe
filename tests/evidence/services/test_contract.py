"""Every kind of service holds to the same contract, without a box and in one."""

import shutil
from pathlib import Path

import pytest

from harness_executor.errors import ServiceFailed
from harness_executor.evidence.services.running import lay_to_rest
from harness_executor.evidence.sockets import listeners
from harness_executor.sandbox.base import Sandbox
from tests.evidence.services.contract import KINDS, Bench, Kind


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind in turn."""
    return KINDS[request.param]


@pytest.fixture
def bench(tmp_path: Path, sandbox: Sandbox) -> Bench:
    """A place for services."""
    return Bench(tmp_path, sandbox)


def test_it_is_written_to_and_read(bench: Bench, kind: Kind) -> None:
    """What was put in comes back as values that JSON knows."""
    with bench.serving(bench.lay_out(kind)) as service:
        service.query(kind.write)
        assert service.query(kind.read) == kind.found


def test_it_says_what_was_wrong(bench: Bench, kind: Kind) -> None:
    """A question it does not understand is an error with its own words."""
    with bench.serving(bench.lay_out(kind)) as service:
        with pytest.raises(ServiceFailed, match=f"the service {kind.service.name} said: .+"):
            service.query(kind.bad)
        service.prove_alive()


def test_it_tells_how_it_is_reached(bench: Bench, kind: Kind) -> None:
    """Every variable that was asked for leads to its own loopback, never to the host of the file."""
    with bench.serving(bench.lay_out(kind)) as service:
        told = service.variables()
        assert set(told) == set(kind.service.variables.values())
        assert "example" not in "".join(told.values())
        assert str(service.seat.address.port) in "".join(told.values())


def test_a_copy_of_its_data_is_another_service(bench: Bench, kind: Kind) -> None:
    """What it knew when it was laid to rest, its copy knows; what the copy learns, it does not."""
    chosen = bench.lay_out(kind)
    with bench.serving(chosen) as service:
        service.query(kind.write)
        lay_to_rest({"it": service})
    shutil.copytree(bench.folder / "data", bench.folder / "copy")
    with bench.serving(chosen, "copy") as service:
        if kind.keeps:
            assert service.query(kind.read) == kind.found
        else:
            service.query(kind.write)
            assert service.query(kind.read) == kind.found


def test_nothing_of_it_is_left(bench: Bench, kind: Kind) -> None:
    """When its box is closed, no process and no port of it is there."""
    with bench.serving(bench.lay_out(kind)) as service:
        assert service.running
        pids, port = service.running.pids(), service.seat.address.port
        assert pids
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert not listeners(port)


def test_one_that_is_killed_is_noticed(bench: Bench, kind: Kind) -> None:
    """A service that ended is not alive, and the refusal names it."""
    with bench.serving(bench.lay_out(kind)) as service:
        assert service.running
        service.running.stop(0.0)
        with pytest.raises(ServiceFailed, match=f"the service {kind.service.name}"):
            service.prove_alive()
