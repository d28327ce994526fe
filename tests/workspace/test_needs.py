"""What a project needs beside itself."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import UsageError
from harness_executor.workspace.needs import Service, read_services

PLACE = Path("environment.json")


def test_a_service_is_read_whole() -> None:
    """Kind, variables, address, files and commands of a service are read."""
    entry = {
        "name": "db",
        "type": "Postgres",
        "connection": {"url_env": "DATABASE_URL", "host_env": "", "default_port": "5432", "default_url": "u"},
        "setup": {"sql": ["db/schema.sql"], "migration_command": "m", "seed_command": "s"},
    }
    found = read_services({"services": [entry]}, PLACE)
    expected = Service("db", "postgresql", variables={"url": "DATABASE_URL"}, port=5432, url="u")
    expected = replace(expected, sql=("db/schema.sql",), commands=("m", "s"))
    assert found == (expected,)


def test_databases_of_version_1_are_services() -> None:
    """The old name is read too, and a name may be left to the type."""
    found = read_services({"databases": [{"type": "redis", "required": False}]}, PLACE)
    assert found == (Service("redis", "redis", required=False),)


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ("db", "services is not a list"),
        ([{"name": "db"}], r"services\[0\] has the name 'db'"),
        ([{"name": "a b", "type": "redis"}], "has the name 'a b'"),
        ([{"type": "redis"}, {"type": "redis"}], "two services are called 'redis'"),
        ([{"type": "redis", "connection": {"default_port": 99999}}], "default_port is 99999"),
        ([{"type": "redis", "setup": {"sql": ["../x.sql"]}}], "outside the project"),
        ([{"type": "redis", "setup": {"sql": ["/x.sql"]}}], "outside the project"),
    ],
)
def test_a_service_that_makes_no_sense_is_named(services: Any, said: str) -> None:
    """Every wrong service is refused with its place."""
    with pytest.raises(UsageError, match=said):
        read_services({"services": services}, PLACE)
