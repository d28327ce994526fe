"""How tables are made by Alembic, advanced-alchemy and aerich."""

from pathlib import Path

import pytest

from tests.workspace.detect.trees import steps

FASTAPI = "from fastapi import FastAPI\napp = FastAPI()\n"
LITESTAR = "from litestar import Litestar\napp = Litestar()\n"
AERICH = '[tool.aerich]\ntortoise_orm = "app.CONFIG"\n'
CHANGED = (
    "import os, sys; sys.path.insert(0, os.getcwd()); os.chdir('\"'\"'db'\"'\"'); "
    "from alembic.config import main; main(argv=['\"'\"'upgrade'\"'\"', '\"'\"'heads'\"'\"'])"
)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"db/alembic.ini": "script_location = scripts", "db/scripts/env.py": ""}, f"python3 -c '{CHANGED}'"),
        (
            {"db/alembic.ini": "script_location = db/scripts", "db/scripts/env.py": ""},
            "python3 -m alembic -c db/alembic.ini upgrade heads",
        ),
        (
            {"db/alembic.ini": "script_location = %(here)s/scripts", "db/scripts/env.py": ""},
            "python3 -m alembic -c db/alembic.ini upgrade heads",
        ),
        ({"alembic.ini": "script_location = db/scripts"}, "python3 -m alembic upgrade heads"),
        ({"db/alembic.ini": "script_location = elsewhere"}, ""),
        ({"a/alembic.ini": "script_location = a", "b/alembic.ini": "script_location = b"}, ""),
    ],
)
def test_settings_of_alembic_may_lie_below_the_start(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    """They are run from where the folder with the scripts is found; of several, none is chosen."""
    seen = steps(tmp_path, {"requirements.txt": "fastapi\nalembic", "app.py": FASTAPI, **files})
    assert seen == ([command] if command else [])


def test_the_program_of_litestar_makes_its_tables(tmp_path: Path) -> None:
    """Only where advanced-alchemy is used, and has migrations."""
    files = {"requirements.txt": "litestar\nuvicorn\nadvanced-alchemy", "app.py": LITESTAR}
    told = "python3 -m litestar --app app:app database upgrade --no-prompt"
    assert steps(tmp_path / "a", {**files, "db/migrations/script.py.mako": ""}) == [told]
    assert steps(tmp_path / "b", files) == []


def test_aerich_makes_the_tables_of_tortoise(tmp_path: Path) -> None:
    """Where its settings and migrations are beside the start."""
    files = {"requirements.txt": "fastapi\naerich", "app.py": FASTAPI, "pyproject.toml": AERICH}
    made = {"migrations/models/0_init.py": ""}
    assert steps(tmp_path / "a", {**files, **made}) == ["python3 -m aerich upgrade"]
    assert steps(tmp_path / "b", files) == []
