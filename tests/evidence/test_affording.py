"""Which services a way to start is tried with."""

from pathlib import Path

from harness_executor.evidence.affording import Company, companies, corrected
from harness_executor.workspace.detect.values import Service


def test_what_cannot_be_had_is_not_insisted_on(tmp_path: Path) -> None:
    """A service that nothing here can run stays in sight, with what would provide it."""
    some = companies((Service("search", "elasticsearch"), Service("cache", "redis")), tmp_path, {})
    assert len(some) == 1
    assert {one.name: one.required for one in some[0].services} == {"search": False, "cache": True}
    assert [one.name for one in some[0].absent] == ["search"]
    assert "--service search=" in some[0].absent[0].fix


def test_an_address_of_the_user_is_insisted_on(tmp_path: Path) -> None:
    """Whoever says where a service is, has it."""
    some = companies((Service("search", "elasticsearch"),), tmp_path, {"search": "http://127.0.0.1:9200"})
    assert (some[0].services[0].required, some[0].absent) == (True, ())


def test_what_seems_dispensable_is_tried_last(tmp_path: Path) -> None:
    """First without it, then with it, if it can be had here."""
    services = (Service("db", "postgresql", required=False), Service("queue", "kafka", required=False))
    without, beside = companies(services, tmp_path, {})
    assert (without.services, [one.name for one in beside.services]) == ((), ["db"])
    assert beside.services[0].required


def test_only_a_failure_that_sounds_like_it_is_blamed_on_an_absent_service(tmp_path: Path) -> None:
    """A refused connection is; a setting that is missing is not."""
    absent = companies((Service("store", "mongodb"),), tmp_path, {})[0].absent[0]
    assert absent.is_meant("pymongo.errors.ServerSelectionTimeoutError: [Errno 111] Connection refused")
    assert not absent.is_meant("KeyError: 'SECRET_KEY'")


def test_what_a_server_asks_for_in_vain_is_given_to_it() -> None:
    """The database or the user that it named is the one that is made; other failures change nothing."""
    url = "postgresql://app:app@127.0.0.1:5432/wrong"
    company = Company((Service("db", "postgresql", connection={"default_url": url}),))
    made = corrected(company, 'FATAL:  database "shop" does not exist')
    assert made is not None
    assert made.services[0].connection["default_url"] == "postgresql://app:app@127.0.0.1:5432/shop"
    made = corrected(company, 'FATAL:  role "clerk" does not exist')
    assert made is not None
    assert made.services[0].connection["default_url"] == "postgresql://clerk:app@127.0.0.1:5432/wrong"
    assert corrected(company, 'relation "goods" does not exist') is None


def test_the_driver_that_is_there_is_named() -> None:
    """SQLAlchemy 2.1 takes another one by itself than those before it; code without it asks for its own."""
    there = ("psycopg2-binary is among the dependencies",)
    address = {"default_url": "postgresql://app:app@127.0.0.1:5432/shop"}
    company = Company((Service("db", "postgresql", reasons=there, connection=address),))
    lost = "No module named 'psycopg'"
    made = corrected(company, f'File "x/sqlalchemy/dialects/postgresql/psycopg.py", line 1\n{lost}')
    assert made is not None
    assert made.services[0].connection["default_url"] == "postgresql+psycopg2://app:app@127.0.0.1:5432/shop"
    assert corrected(company, f'File "app.py", line 1\n{lost}') is None
    other = "sqlalchemy/dialects/postgresql/psycopg2.py\nNo module named 'psycopg2'"
    assert corrected(company, other) is None
