"""Which services a way to start is tried with: those that can be had on this machine."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

from harness_executor.errors import ServiceMissing
from harness_executor.evidence.services.registry import find
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace import needs
from harness_executor.workspace.detect.values import Service

_UNREACHED = re.compile(
    r"refused|unreachable|resolve|timed? ?out|not connect|connect(?:ion)? (?:failed|to)", re.I
)

_ASKED = {
    "postgresql": r"\b(database|role) \"([^\"\s]{1,60})\" does not exist",
    "mysql": r"Unknown (database) '([^'\s]{1,60})'",
    "mariadb": r"Unknown (database) '([^'\s]{1,60})'",
}
"""What a database says of a user or database that a client asked for in vain."""
_DRIVER = re.compile(r"sqlalchemy/dialects/.*No module named '(psycopg2?|MySQLdb)'", re.S)
"""What SQLAlchemy says of the driver that it takes by itself: which one, is up to its version."""
_INSTEAD = {"psycopg": ("psycopg2",), "psycopg2": ("psycopg", "asyncpg", "pg8000"), "MySQLdb": ("pymysql",)}


@frozen
class Absent:
    """A service that cannot be had here."""

    name: str
    type: str
    said: str
    fix: str

    def is_meant(self, text: str) -> bool:
        """Does what a server said when it failed sound as if it missed this service?"""
        return bool(_UNREACHED.search(text)) or self.type.removesuffix("ql") in text.lower()


@frozen
class Company:
    """The services beside a server."""

    services: tuple[Service, ...] = ()
    """One that cannot be had here is not insisted on."""
    absent: tuple[Absent, ...] = ()


def companies(services: tuple[Service, ...], project: Path, given: Mapping[str, str]) -> tuple[Company, ...]:
    """What a server may be started beside: what it seems to need, then also what it seems to do without."""
    lost = {one.name: one for one in (_absent(service, project, given) for service in services) if one}
    needed = [replace(one, required=one.name not in lost) for one in services if one.required]
    absent = tuple(lost[one.name] for one in needed if one.name in lost)
    more = [replace(one, required=True) for one in services if not one.required and one.name not in lost]
    some = Company(tuple(needed), absent)
    return (some, Company((*needed, *more), absent)) if more else (some,)


def _absent(service: Service, project: Path, given: Mapping[str, str]) -> Absent | None:
    if service.name in given:
        return None
    try:
        find(needs.Service(service.name, service.type), project)
    except ServiceMissing as error:
        return Absent(service.name, service.type, error.message, error.hint)
    return None


def corrected(company: Company, said: str) -> Company | None:
    """The same services with the user, database or driver that a server was heard to ask for in vain."""
    services = tuple(_corrected(one, said) for one in company.services)
    return replace(company, services=services) if services != company.services else None


def _corrected(service: Service, said: str) -> Service:
    url = urlsplit(str(service.connection.get("default_url", "")))
    driver = _driver(service, said)
    if driver and url.scheme in ("postgresql", "mysql"):
        meant = url._replace(scheme=f"{url.scheme}+{driver}")
        return replace(service, connection={**service.connection, "default_url": meant.geturl()})
    asked = re.search(_ASKED.get(service.type, r"(?!)"), said)
    if not asked or not url.netloc:
        return service
    if asked[1] == "database":
        meant = url._replace(path=f"/{quote(asked[2], safe='')}")
    else:
        secret, _, place = url.netloc.rpartition("@")
        user = f"{quote(asked[2], safe='')}:{secret.partition(':')[2]}"
        meant = url._replace(netloc=f"{user.rstrip(':')}@{place}")
    return replace(service, connection={**service.connection, "default_url": meant.geturl()})


def _driver(service: Service, said: str) -> str:
    """The driver among the dependencies, where SQLAlchemy was heard to miss its own choice."""
    lost = _DRIVER.search(said)
    known = [
        one
        for one in (_INSTEAD[lost[1]] if lost else ())
        if any(re.match(rf"{one}(?:-binary)? is among", reason) for reason in service.reasons)
    ]
    return next(iter(known), "")
