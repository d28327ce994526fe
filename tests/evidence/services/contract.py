"""What every kind of service must do, tried on the real program."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_executor.clock import SystemClock
from harness_executor.evidence.services.running import Serving, Site, Wanted, serving, wanted
from harness_executor.evidence.services.templates import Templates
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.needs import Service


@dataclass(frozen=True)
class Kind:
    """A kind of service, and how it is spoken to."""

    service: Service
    write: str
    read: str
    found: list[dict[str, object]]
    bad: str
    keeps: bool = True
    """Does it know after a rest what it knew before?"""


URL = "{0}://shop:s3cret%2F@db.example:1234/goods"
VARIABLES = {part: part.upper() for part in ("url", "host", "port", "user", "password", "database")}
SQL = (
    "CREATE TABLE things (id INTEGER, name VARCHAR(20), price DECIMAL(6,2), gone TEXT); "
    "INSERT INTO things VALUES (1, 'ä''x', 2.50, NULL)"
)
ROWS: list[dict[str, object]] = [{"id": 1, "name": "ä'x", "price": 2.5, "gone": None}]


def _sql(kind: str, scheme: str) -> Kind:
    service = Service("db", kind, variables=VARIABLES, url=URL.format(scheme))
    return Kind(service, SQL, "SELECT * FROM things", ROWS, "SELECT nonsense FROM nowhere")


KINDS = {
    "postgresql": _sql("postgresql", "postgresql+psycopg"),
    "mariadb": _sql("mariadb", "mysql+pymysql"),
    "redis": Kind(
        Service("cache", "redis", variables={"url": "REDIS_URL"}, url="redis://:s3cret@localhost:6399/2"),
        "SET greeting 'hello there'",
        "GET greeting",
        [{"value": "hello there"}],
        "NONSENSE",
    ),
    "memcached": Kind(
        Service("cache", "memcached", variables={"host": "HOST", "port": "PORT"}),
        "set greeting hello there",
        "get greeting",
        [{"value": "hello there"}],
        "nonsense",
        keeps=False,
    ),
}


@dataclass(frozen=True)
class Bench:
    """Where the services of one test stand."""

    folder: Path
    sandbox: Sandbox

    def lay_out(self, kind: Kind) -> tuple[Wanted, ...]:
        """An empty folder for it."""
        chosen = wanted((kind.service,), Path("/nonexistent"), {})
        (self.folder / "tree").mkdir(exist_ok=True)
        for one in chosen:
            assert one.found
            Templates(self.sandbox, self.folder).lay_out(one.found, self.folder / "data" / one.service.name)
        return chosen

    @contextmanager
    def serving(self, chosen: tuple[Wanted, ...], data: str = "data") -> Iterator[Serving]:
        """The one service, answering."""
        box = self.sandbox.open(Room(self.folder / "tree", self.folder / "tree", data=self.folder / data))
        try:
            with serving(chosen, Site(box, self.folder / "server.log", SystemClock())) as services:
                (service,) = services.values()
                yield service
        finally:
            box.close()
