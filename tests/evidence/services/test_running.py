"""Services beside a server: what programs call them, and how they fail."""

import shlex
from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import ServiceFailed, UsageError
from harness_executor.evidence.preparation import Crew, with_data
from harness_executor.evidence.services.running import Site, Wanted, host_names, lay_to_rest, serving, wanted
from harness_executor.sandbox.base import Command
from harness_executor.workspace.needs import Service
from harness_executor.workspace.project import Start
from tests.rooms import BOX, PYTHON, room, sandbox_named

ENDS = """
import socket, time
socket.create_connection(("127.0.0.1", 6379)).sendall(b"SHUTDOWN NOSAVE\\r\\n")
while socket.socket().connect_ex(("127.0.0.1", 6379)) == 0: time.sleep(0.1)
"""


def test_services_are_called_as_in_a_network_of_containers() -> None:
    """The name of a service and the host of its address lead to it; a number stays what it is."""
    called = (
        Service("db", "postgresql", url="postgresql://me@postgres:5432/shop"),
        Service("cache", "redis", url="redis://localhost:6379/0"),
        Service("queue", "redis", url="redis://10.0.0.7:6379/0"),
    )
    assert host_names(tuple(map(Wanted, called))) == ("cache", "db", "postgres", "queue")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "postgres://postgres.ab:pw@db.xyz.supabase.co:6543/postgres?pgbouncer=true&sslmode=require",
            "postgres://postgres.ab:pw@127.0.0.1:6543/postgres?pgbouncer=true",
        ),
        ("postgresql+asyncpg://u:p%40w@db/shop", "postgresql+asyncpg://u:p%40w@127.0.0.1:5432/shop"),
        ("${DATABASE_URL}", "postgresql://app:app@127.0.0.1:5432/app"),
    ],
)
def test_an_address_of_any_kind_is_served_here(tmp_path: Path, url: str, told: str) -> None:
    """User, password, database, port and options stay; nothing insists on TLS."""
    assert serve(tmp_path, Service("db", "postgresql", variables={"url": "URL"}, url=url)) == {"URL": told}


@pytest.mark.parametrize(
    "url",
    [
        "postgres://user:p@ss/word@host:port/",
        "postgres://user:pw@host:99999/x",
        "postgres://user:pw@host:five/x",
        "postgres://user:pw@[host/x",
    ],
)
def test_an_address_that_cannot_be_read_is_named(tmp_path: Path, url: str) -> None:
    """Whoever wrote it is told what to write instead, and not shown a trace."""
    service = Service("db", "postgresql", url=url)
    with pytest.raises(UsageError, match="the address of the service db cannot be read") as caught:
        wanted((service,), tmp_path, {})
    assert "%40" in caught.value.hint
    assert "db" in host_names((Wanted(service),))
    with pytest.raises(UsageError, match="the address of the service db cannot be read"):
        wanted((service,), tmp_path, {"db": url})


def test_a_user_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """What the database said of it is said."""
    service = Service("db", "postgresql", url="postgresql://pg_me:pw@localhost/x")
    with pytest.raises(ServiceFailed, match="the service db could not make its user and database"):
        serve(tmp_path, service)


def test_one_that_went_before_it_could_rest_is_named(tmp_path: Path) -> None:
    """A step that ends a service does not end in a trace."""
    with pytest.raises(ServiceFailed, match="the service cache could not write down what it knows"):
        serve(tmp_path, Service("cache", "redis"), f"{PYTHON} -c {shlex.quote(ENDS)}")


def serve(tmp_path: Path, service: Service, command: str = "true") -> dict[str, str]:
    """Run a command beside a service in a box, and lay that to rest; gives what it is told by."""
    tree = tmp_path / "tree"
    tree.mkdir()
    chosen = wanted((service,), tmp_path, {})
    sandbox, log = sandbox_named(BOX), tmp_path / "steps.log"
    box = sandbox.open(with_data(room(tree), Crew(sandbox, SystemClock(), Start(""), tmp_path, chosen)))
    try:
        with serving(chosen, Site(box, log, SystemClock())) as services:
            box.run(Command(("sh", "-c", command), box.root, box.environment(), tmp_path / "run.log"), 60.0)
            lay_to_rest(services)
            return services[service.name].variables()
    finally:
        box.close()
