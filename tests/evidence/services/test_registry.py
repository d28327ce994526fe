"""Which services can be run here, and what is missing for those that cannot."""

from pathlib import Path

import pytest

from harness_executor.errors import ServiceMissing
from harness_executor.evidence.services.registry import Found, engines_of, find
from harness_executor.workspace.needs import Service

NOWHERE = Path("/nonexistent")


@pytest.mark.parametrize("kind", ["postgresql", "redis", "mariadb", "mysql", "memcached"])
def test_every_kind_is_found(kind: str) -> None:
    """Programs are found by their whole path, outside the search path too."""
    found = find(Service("x", kind), NOWHERE)
    assert isinstance(found, Found)
    assert all(Path(path).is_absolute() and Path(path).is_file() for path in found.programs.values())


@pytest.mark.parametrize("kind", ["mongodb", "rabbitmq", "thing"])
def test_what_is_not_run_here_is_named(kind: str) -> None:
    """The refusal names the service, and where its address is written."""
    with pytest.raises(ServiceMissing, match="the service queue needs") as caught:
        find(Service("queue", kind), NOWHERE)
    assert "config.toml" in caught.value.hint
    assert "--service queue=" in caught.value.hint


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal names the program that is not there, and what to install."""
    monkeypatch.setenv("PATH", "/nonexistent")
    engine = engines_of("redis")[0]
    monkeypatch.setattr(type(engine), "places", ())
    with pytest.raises(ServiceMissing, match="there is no `redis-server` on this machine") as caught:
        find(Service("cache", "redis"), NOWHERE)
    assert caught.value.hint.startswith("`apt install redis-server`")


def test_a_program_in_the_project_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that brings a database server brings none."""
    fake = tmp_path / "bin" / "memcached"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    monkeypatch.setattr(type(engines_of("memcached")[0]), "places", ())
    with pytest.raises(ServiceMissing):
        find(Service("cache", "memcached"), tmp_path)


def test_mariadb_under_the_name_of_mysql_is_run_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `mysqld` leads to MariaDB, a project that asks for MySQL gets MariaDB by its own programs."""
    for name in ("mariadbd", "mariadb-install-db"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "mysqld").symlink_to("mariadbd")
    for engine in engines_of("mysql"):
        monkeypatch.setattr(type(engine), "places", (str(tmp_path),))
    found = find(Service("db", "mysql"), NOWHERE)
    assert found.programs["mariadbd"] == str(tmp_path / "mariadbd")
