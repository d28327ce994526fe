"""What a kind of service is: how it is served, met, asked and laid to rest."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from socket import socket
from typing import Any, Protocol
from urllib.parse import quote, unquote, urlsplit

from harness_executor.kernel.frozen import frozen

Dial = Callable[[int], socket]
"""Gives a connection to a port of the loopback that the service listens on; raises OSError."""
Rows = list[dict[str, Any]]
"""What a service answers: rows of values that JSON knows, by their names."""

ENCODED = "a / or @ of a password is written as %2F or %40, and the port as a number up to 65535"


class Unanswered(Exception):
    """A service did not answer, or said no."""


@frozen
class Address:
    """How one service is reached."""

    scheme: str
    user: str
    password: str
    database: str
    port: int
    options: str = ""
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        """All of it in one text."""
        secret = f":{quote(self.password, safe='')}" if self.password else ""
        who = f"{quote(self.user, safe='')}{secret}@" if self.user or secret else ""
        path = f"/{quote(self.database, safe='')}" if self.database else ""
        return f"{self.scheme}://{who}{self.host}:{self.port}{path}" + (
            f"?{self.options}" if self.options else ""
        )

    def parts(self) -> Mapping[str, str]:
        """Each part that a variable can tell."""
        return {
            "url": self.url,
            "host": self.host,
            "port": str(self.port),
            "user": self.user,
            "password": self.password,
            "database": self.database,
        }


def read_address(url: str, usual: Address) -> Address:
    """An address that somebody wrote, with what is usual where it says nothing; raises ValueError."""
    if "://" not in url:
        return usual
    parts = urlsplit(url)
    if "@" in parts.path:
        raise ValueError("what stands before its last @ is not percent-encoded")
    return replace(
        usual,
        scheme=parts.scheme,
        user=unquote(parts.username or "") or usual.user,
        password=unquote(parts.password or "") or usual.password,
        database=unquote(parts.path.lstrip("/")) or usual.database,
        port=parts.port or usual.port,
        options=parts.query,
    )


@frozen
class Seat:
    """The place of one service in one box."""

    address: Address
    programs: Mapping[str, str]
    """Where each program of it is."""
    data: Path
    """Its folder, as commands see it."""
    dial: Dial


class Engine(Protocol):
    """One kind of service."""

    @property
    def usual(self) -> Address:
        """How it is reached when nobody says otherwise."""
        ...

    @property
    def programs(self) -> tuple[str, ...]:
        """What it is made of; the first is the one that serves."""
        ...

    @property
    def places(self) -> tuple[str, ...]:
        """Where its programs are found besides the search path, as patterns."""
        ...

    @property
    def package(self) -> str:
        """What to install."""
        ...

    def making(self, seat: Seat) -> tuple[str, ...]:
        """The words that make an empty folder of data; none where it needs none."""
        ...

    def serving(self, seat: Seat) -> tuple[str, ...]:
        """The words that serve."""
        ...

    def ping(self, seat: Seat) -> None:
        """Hear that it answers in its own protocol; raises OSError or Unanswered."""
        ...

    def settle(self, seat: Seat) -> None:
        """Make the user and the database of the address, where they are not there yet."""
        ...

    def query(self, seat: Seat, text: str) -> Rows:
        """Ask it something in its own language; raises OSError or Unanswered."""
        ...

    def rest(self, seat: Seat) -> None:
        """Have it write down what it knows, before it is ended politely."""
        ...
