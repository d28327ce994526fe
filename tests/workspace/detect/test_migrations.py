"""What is done before a start."""

import json
from pathlib import Path

import pytest

from harness_executor.workspace.detect.migrations import schemas
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.unit import Unit
from tests.workspace.detect.trees import grow, steps

FLASK = "from flask import Flask\napp = Flask(__name__)\n"
SERVER = "require('express')().listen(process.env.PORT)"
START = {"start": "node s.js"}


def test_python_tools_are_known(tmp_path: Path) -> None:
    """Alembic, whose branches all count, Flask-Migrate, and a script that the README names."""
    alembic = {"requirements.txt": "flask\nalembic", "app.py": FLASK, "alembic.ini": ""}
    assert steps(tmp_path / "a", alembic) == ["python3 -m alembic upgrade heads"]
    migrate = {"requirements.txt": "flask\nflask-migrate", "app.py": FLASK, "migrations/env.py": ""}
    assert steps(tmp_path / "b", migrate) == ["python3 -m flask --app app:app db upgrade"]
    page = "```\npython init_db.py\n```\n"
    script = {"requirements.txt": "flask", "app.py": FLASK, "init_db.py": "", "README.md": page}
    assert steps(tmp_path / "c", script) == ["python3 init_db.py"]


def test_the_program_of_django_is_used_where_it_is(tmp_path: Path) -> None:
    """What serves it from a folder without manage.py has nothing that could migrate there."""
    wsgi = "from django.core.wsgi import get_wsgi_application\napplication = get_wsgi_application()\n"
    files = {"requirements.txt": "django\ngunicorn", "shop/wsgi.py": wsgi}
    assert steps(tmp_path / "a", files) == []
    manage = "from django.core.management import execute_from_command_line\n"
    assert steps(tmp_path / "b", {**files, "manage.py": manage}) == ["python3 manage.py migrate --noinput"]


def test_migrations_that_nobody_keeps_are_made(tmp_path: Path) -> None:
    """Where the README has everybody make the migrations of Flask-Migrate, so is it done; else nothing is."""
    files = {"requirements.txt": "flask\nflask-migrate", "app.py": FLASK}
    assert steps(tmp_path / "a", files) == []
    page = {
        "README.rst": "Make the tables ::\n\n    flask db init\n    flask db migrate\n    flask db upgrade\n"
    }
    flask = "python3 -m flask --app app:app db"
    wanted = f"{flask} init && {flask} migrate && {flask} upgrade"
    assert steps(tmp_path / "b", {**files, **page}) == [wanted]


@pytest.mark.parametrize(
    ("more", "files", "wanted"),
    [
        (
            {"scripts": {**START, "db:migrate": "knex migrate:latest"}},
            {},
            ["npm run db:migrate"],
        ),
        ({"scripts": START}, {"knexfile.js": ""}, ["npx --offline --no-install knex migrate:latest"]),
        (
            {"scripts": START, "devDependencies": {"prisma": "6"}},
            {"prisma/schema.prisma": "", "prisma/migrations/1/migration.sql": ""},
            ["npx --offline --no-install prisma migrate deploy"],
        ),
        (
            {"scripts": START, "devDependencies": {"drizzle-kit": "1"}},
            {"drizzle.config.ts": "", "src/db/migrations/meta/_journal.json": "{}"},
            ["npx --offline --no-install drizzle-kit migrate"],
        ),
        (
            {"scripts": START, "devDependencies": {"drizzle-kit": "1"}},
            {"drizzle.config.ts": ""},
            ["npx --offline --no-install drizzle-kit push --force"],
        ),
        (
            {"scripts": {"start": "node --env-file=.env s.js"}},
            {".env.example": "A=1"},
            ["cp .env.example .env"],
        ),
        (
            {"scripts": {**START, "db": "env-cmd -- tsx db.ts"}},
            {
                "env-example-file": "A=1",
                "env-example-sql": "A=2",
                "README.md": "```\ncp env-example-sql .env\n```",
            },
            ["cp env-example-sql .env"],
        ),
        ({"scripts": {**START, "db": "env-cmd -f dev.env tsx db.ts"}}, {".env.example": "A=1"}, []),
    ],
)
def test_node_tools_are_known(
    tmp_path: Path, more: dict[str, object], files: dict[str, str], wanted: list[str]
) -> None:
    """Scripts, Knex, Prisma, Drizzle, and the file of variables that a script insists on."""
    package = json.dumps({"name": "x", "dependencies": {"express": "5"}, **more})
    assert steps(tmp_path, {"package.json": package, "s.js": SERVER, **files}) == wanted


def test_a_file_that_makes_the_database_itself_is_left_out(tmp_path: Path) -> None:
    """The database is there already; one that is made only if it is not there can be run."""
    files = {"init.sql": "CREATE DATABASE shop;\n", "schema.sql": "create database if not exists a;\n"}
    assert schemas(Unit(Files(grow(tmp_path, files)), ".")) == ("schema.sql",)
