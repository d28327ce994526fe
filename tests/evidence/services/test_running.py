"""Services beside a server: what programs call them."""

from harness_executor.evidence.services.running import Wanted, host_names
from harness_executor.workspace.needs import Service


def test_services_are_called_as_in_a_network_of_containers() -> None:
    """The name of a service and the host of its address lead to it; a number stays what it is."""
    called = (
        Service("db", "postgresql", url="postgresql://me@postgres:5432/shop"),
        Service("cache", "redis", url="redis://localhost:6379/0"),
        Service("queue", "redis", url="redis://10.0.0.7:6379/0"),
    )
    assert host_names(tuple(map(Wanted, called))) == ("cache", "db", "postgres", "queue")
