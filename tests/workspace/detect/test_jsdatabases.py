"""Addresses of databases that JavaScript names."""

import pytest

from harness_executor.workspace.detect.jsdatabases import addresses, spoken
from harness_executor.workspace.detect.values import Variable


def named(text: str) -> list[str]:
    """The addresses in a file, each once."""
    return list(dict.fromkeys(addresses({"src/db.ts": text})))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (
            "new DataSource({ type: 'postgres', host: process.env.PG_HOST, username: 'todos',\n"
            " password: process.env.PASS,\n database: process.env.MODE === 'test' ? 't' : 'todos' })",
            "postgresql://todos:app@localhost:5432/todos",
        ),
        (
            '{"development": {"username": "root", "password": null, "database": "shop", "dialect": "mysql"}}',
            "mysql://root@localhost:3306/shop",
        ),
        (
            "knex({ client: 'pg', connection: { user: 'me', password: 'p@s', database: 'a', port: 5433 } })",
            "postgresql://me:p%40s@localhost:5433/a",
        ),
        (
            "const pool = mysql.createPool({ host: 'localhost', user: 'root', password: '', database: 'x' })",
            "mysql://root@localhost:3306/x",
        ),
        (
            "const { Pool } = require('pg'); new Pool({ user: process.env.U || 'postgres', database: 'a' })",
            "postgresql://postgres:app@localhost:5432/a",
        ),
        (
            "new Sequelize('shop', 'ada', 'secret', { host: 'localhost', dialect: 'mysql' })",
            "mysql://ada:secret@localhost:3306/shop",
        ),
        (
            "exports.db = { HOST: 'localhost', USER: 'ada', PASSWORD: '1', DB: 'shop', dialect: 'postgres' }",
            "postgresql://ada:1@localhost:5432/shop",
        ),
        ("connect('postgres://a:b@localhost:5432/c')", "postgres://a:b@localhost:5432/c"),
    ],
)
def test_what_the_code_insists_on_is_found(text: str, address: str) -> None:
    """User, password and database that stand in the code become an address."""
    assert named(text) == [address]


def test_what_variables_say_is_not_insisted_on() -> None:
    """A connection that is told everything by variables names no address, and neither does a form."""
    told = (
        "new Pool({ user: process.env.DB_USER, password: process.env['DB_PASS'], database: process.env.DB })"
    )
    assert not named("const { Pool } = require('pg'); " + told)
    assert not named("const field = { type: 'text', user: 'name' }")


def test_an_example_of_another_dialect_gives_way_to_the_driver_that_is_installed() -> None:
    """A variable that names a dialect gets the only one that can be spoken; several are left alone."""
    read = (Variable("DEV_DB_DIALECT", test_value="mysql"), Variable("DB_NAME", test_value="mysql"))
    values = [one.test_value for one in spoken(read, frozenset({"pg", "sequelize"}))]
    assert values == ["postgres", "mysql"]
    assert spoken(read, frozenset({"pg", "knex"}))[0].test_value == "pg"
    assert spoken(read, frozenset({"pg", "mysql2"})) == read
