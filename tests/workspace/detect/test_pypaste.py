"""Programs of Pyramid, by the file that says what is served."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect.values import Place
from tests.workspace.detect.trees import found

SERVED = "[app:main]\nuse = egg:shop\n[server:main]\nuse = egg:waitress#main\n"
SHOP = {
    "pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['pyramid', 'waitress']\n",
    "shop/__init__.py": "",
}
SCRIPT = "[project.scripts]\ninitialize_shop_db = 'shop.scripts:main'\n"
PSERVE = "python3 -m pyramid.scripts.pserve"


@pytest.mark.parametrize(
    ("server", "command", "place", "number"),
    [
        ("listen = localhost:6543 [::1]:6543", f"{PSERVE} development.ini", Place.FIXED, 6543),
        ("host = 0.0.0.0\nport = 6544", f"{PSERVE} development.ini", Place.FIXED, 6544),
        ("", f"{PSERVE} development.ini", Place.FIXED, 8080),
        ("listen = *:%(web)s", f"{PSERVE} development.ini web={{port}}", Place.OPTION, None),
    ],
)
def test_pserve_serves_what_the_file_says(
    tmp_path: Path, server: str, command: str, place: Place, number: int | None
) -> None:
    """On the port of the file, or on one that is handed to it; never by the file for tests."""
    files = {"development.ini": SERVED + server, "production.ini": SERVED, "testing.ini": SERVED}
    seen = found(tmp_path, {**SHOP, **files})
    best, other = seen.candidates
    assert (best.command, best.framework) == (command, "pyramid")
    assert (best.port.place, best.port.number) == (place, number)
    assert other.command == f"{PSERVE} production.ini"


def test_other_files_of_settings_say_nothing(tmp_path: Path) -> None:
    """One without a server, and one of a project without Pyramid."""
    assert found(tmp_path / "a", {**SHOP, "development.ini": "[app:main]\nuse = egg:shop\n"}).candidates == ()
    other = {"requirements.txt": "paste\n", "app.py": "", "development.ini": SERVED}
    assert found(tmp_path / "b", other).candidates == ()


@pytest.mark.parametrize(
    ("files", "migrates"),
    [
        ({"shop/alembic/versions/1_init.py": ""}, "python3 -m alembic -c development.ini upgrade heads"),
        (
            {"README.md": '    env/bin/alembic -c development.ini revision --autogenerate -m "init"\n'},
            "python3 -m alembic -c development.ini revision --autogenerate -m init"
            " && python3 -m alembic -c development.ini upgrade heads",
        ),
    ],
)
def test_tables_are_made_by_the_same_file(tmp_path: Path, files: dict[str, str], migrates: str) -> None:
    """Migrations that nobody keeps are made where the README says so; a command of its own follows."""
    settings = SERVED + "[alembic]\nscript_location = shop/alembic\n"
    project = {
        **SHOP,
        "pyproject.toml": SHOP["pyproject.toml"] + SCRIPT,
        "development.ini": settings,
        **files,
    }
    seen = found(tmp_path, project)
    best = seen.candidates[0]
    fills = "python3 -c 'from shop.scripts import main; main()' development.ini"
    assert [step.command for step in seen.steps(seen.stack_of(best), best)] == [migrates, fills]
