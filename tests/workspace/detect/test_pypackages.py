"""What a Python project is made with."""

from pathlib import Path

import pytest

from tests.workspace.detect.trees import found

UNIT = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"tests.py": UNIT}, "python3 -m unittest tests.py"),
        ({"test.py": UNIT, "pyproject.toml": "[tool.pytest.ini_options]\n"}, "python3 -m pytest test.py"),
        ({"test.py": "def test_a(): pass\n", "requirements.txt": "pytest\n"}, "python3 -m pytest test.py"),
        ({"test.py": "print('no test')\n"}, ""),
        ({"test_app.py": UNIT}, "python3 -m unittest discover"),
        ({"testapp.py": UNIT, "testing.py": "import unittest\n"}, "python3 -m unittest discover"),
        ({"tests/test_app.py": UNIT, "tests/data/test_x.py": ""}, "python3 -m unittest discover -s tests"),
        ({"tests/__init__.py": "", "tests/test_app.py": UNIT}, "python3 -m unittest discover"),
        (
            {"tests/unit/__init__.py": "", "tests/unit/test_a.py": UNIT, "tests/api/test_b.py": UNIT},
            "python3 -m unittest discover -s tests/api && python3 -m unittest discover -s tests",
        ),
        ({"tests/app_test.py": UNIT}, "python3 -m unittest discover -s tests -p '*_test.py'"),
        ({"test_app.py": UNIT, "tests.py": UNIT, "requirements.txt": "pytest\n"}, "python3 -m pytest"),
    ],
)
def test_tests_are_named_where_no_runner_looks_for_them(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    """A single file is run by its name, and folders that are no packages by theirs."""
    seen = found(tmp_path, {"app.py": "x = 1\n", **files}).main
    assert seen is not None
    assert seen.commands.test == command


def test_flake8_is_kept_out_of_installed_packages(tmp_path: Path) -> None:
    """By itself it would read every file of an environment within the project."""
    seen = found(tmp_path, {"app.py": "x = 1\n", "requirements.txt": "flake8\n"}).main
    assert seen is not None
    assert seen.commands.lint == "python3 -m flake8 --extend-exclude=.venv,venv,env"


def test_a_setup_py_may_keep_its_requirements_in_a_name(tmp_path: Path) -> None:
    """`install_requires=requires` lists what `requires` has."""
    code = (
        "from setuptools import setup\nrequires = ['flask>=2', 'redis']\nsetup(install_requires=requires)\n"
    )
    seen = found(tmp_path, {"setup.py": code, "shop/__init__.py": ""}).main
    assert seen is not None
    assert seen.dependencies == {"flask", "redis"}


_BARE = "from setuptools import setup\nsetup(name='a')\n"
_SETUP = "from setuptools import setup\nsetup(install_requires=['flask'])\n"
_EXTRAS = '[project]\nname = "a"\n[project.optional-dependencies]\ndocs = ["sphinx"]\ntests = ["pytest>=9"]\n'


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"requirements.txt": "flask\n", "app/manage.py": ""}, "-r ../requirements.txt"),
        (
            {"requirements/base.txt": "", "requirements/dev.txt": "", "app/manage.py": ""},
            "-r ../requirements/dev.txt",
        ),
        (
            {"requirements.txt": "flask\n", "app/manage.py": "", "app/requirements.txt": ""},
            "-r requirements.txt",
        ),
        ({"pyproject.toml": '[project]\nname = "a"\n', "app/manage.py": ""}, "-e .."),
        ({"pyproject.toml": "[tool.ruff]\n", "app/manage.py": ""}, ""),
        ({"pyproject.toml": _EXTRAS, "app/manage.py": ""}, "-e '..[tests]'"),
        ({"requirements.txt": "flask\n", "app/setup.py": _BARE}, "-e . -r ../requirements.txt"),
        ({"requirements.txt": "flask\n", "app/setup.py": _SETUP}, "-e ."),
    ],
)
def test_packages_are_installed_from_the_nearest_list(
    tmp_path: Path, files: dict[str, str], what: str
) -> None:
    """In the folder of the program, or above it; with what its tests need; both, where one is empty."""
    seen = found(tmp_path, {"app/main.py": "x = 1\n", **files})
    stack = next(stack for stack in seen.stacks if stack.folder == "app")
    assert stack.commands.install == (
        f"python3 -m venv .venv && .venv/bin/pip install {what}" if what else ""
    )


def test_the_group_that_brings_pytest_is_installed_with_a_package(tmp_path: Path) -> None:
    """By the names in it, as pip knew no groups for long."""
    groups = 'docs = ["mkdocs"]\ndev = ["pytest>=8,<9", "httpx", {include-group = "docs"}]\n'
    told = f'[project]\nname = "x"\ndependencies = ["flask"]\n[dependency-groups]\n{groups}'
    seen = found(tmp_path, {"pyproject.toml": told, "app.py": "x = 1\n"}).main
    assert seen is not None
    assert seen.commands.install == "python3 -m venv .venv && .venv/bin/pip install -e . 'pytest>=8,<9' httpx"
