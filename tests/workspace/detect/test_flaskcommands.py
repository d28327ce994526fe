"""Commands of Flask and Quart that make tables."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect.environment import Choice, environment
from tests.workspace.detect.trees import found, steps

APP = "from flask import Flask\ndef create_app():\n    app = Flask(__name__)\n    return app\n"
GROUP = (
    "from flask.cli import FlaskGroup\nfrom shop import create_app\ncli = FlaskGroup(create_app=create_app)\n"
    "@cli.command('recreate_db')\ndef recreate_db(): ...\n@cli.command('seed_db')\ndef seed(): ...\n"
)
CLICK = "import click\n@click.command('init-db')\ndef init_db_command(): ...\n"
OWN = "from flask import Flask\napp = Flask(__name__)\n@app.cli.command\ndef create_tables(): ...\n"
QUART = OWN.replace("flask", "quart").replace("Flask", "Quart").replace("command", "command('init_db')")


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"shop/__init__.py": APP, "manage.py": GROUP}, "python3 manage.py recreate_db"),
        ({"shop/__init__.py": APP, "shop/db.py": CLICK}, "python3 -m flask --app shop:create_app init-db"),
        ({"app.py": OWN}, "python3 -m flask --app app:app create-tables"),
        ({"app.py": QUART, "requirements.txt": "quart"}, "python3 -m quart --app app:app init_db"),
        ({"app.py": OWN.replace("create_tables", "clean")}, ""),
        ({"app.py": OWN, "shop.sqlite3": "kept"}, ""),
    ],
)
def test_a_command_of_the_program_makes_its_tables(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    """Called by its own group, or by the framework; a file of SQLite that git keeps is left alone."""
    seen = steps(tmp_path, {"requirements.txt": "flask\n", **files})
    assert seen == ([command] if command else [])


def test_such_a_command_may_clear_what_a_database_holds(tmp_path: Path) -> None:
    """It is written down, so that it is not run on data that is kept."""
    seen = found(tmp_path, {"requirements.txt": "flask\n", "app.py": OWN})
    best = seen.candidates[0]
    made = environment(seen, Choice(best, seen.steps(seen.stack_of(best), best)))
    assert [step["clears"] for step in made["startup"]["steps"]] == [True]
