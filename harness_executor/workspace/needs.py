"""What a project needs beside itself: databases and other services, as it declares them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.sections import names, section, words

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""What a service may be called."""
_ALIASES = {"postgres": "postgresql", "pg": "postgresql", "mongo": "mongodb", "valkey": "redis"}
_LAST_PORT = 65_535
PARTS = ("url", "host", "port", "user", "password", "database")
"""What a variable can tell of a connection."""


@frozen
class Service:
    """A service that a project needs while it runs."""

    name: str
    type: str
    required: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)
    """The variable that tells each part of the connection, by the name of the part."""
    port: int = 0
    """The port the project expects; 0 when it did not say."""
    url: str = ""
    """The address the project expects: user, password and database are taken from it."""
    sql: tuple[str, ...] = ()
    """Files of the project that are run in it once, in this order."""
    commands: tuple[str, ...] = ()
    """What fills it: migrations, then the first data."""


def read_services(data: Mapping[str, Any], path: Path) -> tuple[Service, ...]:
    """The services of a project; version 1 calls them databases."""
    listed = [*_entries(data, "services", path), *_entries(data, "databases", path)]
    found = tuple(_service(entry, number, path) for number, entry in enumerate(listed))
    twice = {service.name for service in found if [one.name for one in found].count(service.name) > 1}
    if twice:
        raise UsageError(
            f"{path.name}: two services are called {min(twice)!r}", hint="give each a name of its own"
        )
    return found


def _entries(data: Mapping[str, Any], name: str, path: Path) -> Iterator[Mapping[str, Any]]:
    listed = data.get(name) or []
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        raise UsageError(f"{path.name}: {name} is not a list of objects", hint="name and type for each")
    yield from listed


def _service(entry: Mapping[str, Any], number: int, path: Path) -> Service:
    kind = str(entry.get("type") or "").lower()
    name = str(entry.get("name") or kind)
    if not kind or not NAME.fullmatch(name):
        raise UsageError(
            f"{path.name}: services[{number}] has the name {name!r} and the type {kind!r}",
            hint="both are needed, such as db and postgresql",
        )
    connection, setup = section(entry, "connection"), section(entry, "setup")
    told = {part: str(connection.get(f"{part}_env") or "") for part in PARTS}
    port = _port(connection.get("default_port"), f"services[{number}]", path)
    commands = {key: setup.get(key) for key in ("migration_command", "seed_command")}
    return Service(
        name,
        _ALIASES.get(kind, kind),
        entry.get("required") is not False,
        {part: variable for part, variable in told.items() if variable},
        port,
        str(connection.get("default_url") or ""),
        tuple(_inside(file, name, path) for file in names(setup.get("sql"), f"{name}.setup.sql", path)),
        tuple(words(said, f"{name}.setup.{key}", path) for key, said in commands.items() if said),
    )


def _port(value: Any, where: str, path: Path) -> int:
    """A port; a text that is no number says nothing."""
    port = int(str(value)) if re.fullmatch("[0-9]{1,9}", str(value)) else 0
    if port > _LAST_PORT:
        raise UsageError(
            f"{path.name}: {where}.connection.default_port is {port}", hint=f"a number up to {_LAST_PORT}"
        )
    return port


def _inside(file: str, service: str, path: Path) -> str:
    place = PurePosixPath(file)
    if place.is_absolute() or ".." in place.parts:
        raise UsageError(
            f"{path.name}: {service}.setup.sql names {file!r}, outside the project",
            hint="name a file relative to the project's root",
        )
    return str(place)
