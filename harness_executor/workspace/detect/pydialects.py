"""What SQLAlchemy has to be told of a driver: by itself it takes one that may not be installed."""

import re

from harness_executor.workspace.detect.unit import Unit, is_decoy

_DRIVERS = {
    "postgresql": {"psycopg": "psycopg", "asyncpg": "asyncpg", "pg8000": "pg8000"},
    "mysql": {
        "pymysql": "pymysql",
        "mysql-connector-python": "mysqlconnector",
        "aiomysql": "aiomysql",
        "asyncmy": "asyncmy",
    },
}
_TAKEN = frozenset({"psycopg2", "psycopg2-binary", "mysqlclient", "mysql-python"})
"""Drivers that it takes by itself."""
_BY_ITSELF = re.compile(r"^[ \t]*(?:import|from)\s+(?:psycopg|asyncpg|pg8000|pymysql|mysql|aiomysql)\b", re.M)


def dialect(unit: Unit, dependencies: frozenset[str], scheme: str) -> str:
    """The scheme of an address with the driver that code or dependencies name, where it is SQLAlchemy's."""
    if not any("sqlalchemy" in name or name in ("sqlmodel", "alembic") for name in dependencies):
        return scheme
    names = [name for name in unit.names if name.endswith(".py") and not is_decoy(name, unit.folder)]
    texts = [unit.files.text(name) for name in names]
    kind = "postgres(?:ql)?" if scheme.startswith("postgres") else scheme
    said = {one for text in texts for one in re.findall(rf"\b{kind}\+(\w{{1,20}})://", text)}
    if len(said) == 1:
        return f"{scheme}+{said.pop()}"
    own = {one for driver, one in _DRIVERS.get(scheme, {}).items() if driver in dependencies}
    is_plain = said or dependencies & _TAKEN or any(map(_BY_ITSELF.search, texts))
    return f"{scheme}+{own.pop()}" if len(own) == 1 and not is_plain else scheme
