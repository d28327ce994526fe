"""What a Python project is made with: packages, package manager, version, commands."""

import ast
import configparser
import os.path
import re
import shlex
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any

from harness_executor.workspace.detect.pysource import keyword, parse_source, words
from harness_executor.workspace.detect.reading import Files, section
from harness_executor.workspace.detect.unit import Unit, is_below
from harness_executor.workspace.detect.values import Commands, Entry

_NAME = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]{0,80})")
_LISTS = ("requirements*.txt", "requirements/*.txt", "*requirements.txt", "constraints.txt")
_ALONE = ("requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt")
"""Lists that are installed together."""
_OTHERWISE = " -p '*_test.py'"
"""What unittest is told of names that it does not look for."""
_LOCKS = {
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
    "Pipfile": "pipenv",
}
_CONDITIONS = {"optional", "markers", "python", "platform", "platform_machine", "sys_platform"}
"""What makes a package of Poetry or Pipenv one that not everybody has."""
_TABLES = {"uv": "uv", "poetry": "poetry", "pdm": "pdm"}


def packages(unit: Unit) -> frozenset[str]:
    """The names of the packages that a unit and the folders above it list."""
    found: set[str] = set()
    for folder in unit.above():
        found |= {_normal(name) for name in _listed(unit.files, folder)}
    return frozenset(found)


def needed(unit: Unit) -> frozenset[str]:
    """Those of them that every installation has: no extra, no group, no bound, nothing under a condition."""
    found: set[str] = set()
    for folder in unit.above():
        found |= {_normal(name) for name in _needed(unit.files, folder)}
    return frozenset(found)


def package_manager(unit: Unit) -> str:
    """What installs the packages."""
    for folder in unit.above():
        for lock, tool in _LOCKS.items():
            if unit.files.has(_at(folder, lock)):
                return tool
        tools = section(unit.files.toml(_at(folder, "pyproject.toml")), "tool")
        named = next((tool for table, tool in _TABLES.items() if table in tools and table != "uv"), "")
        if named:
            return named
    return _told(unit) or "pip"


def _told(unit: Unit) -> str:
    """The package manager that the README uses, where no file decides."""
    if unit.has("requirements.txt") or not unit.has("pyproject.toml"):
        return ""
    page = "".join(unit.text(name) for name in ("README.md", "README.rst", "readme.md"))
    told = re.search(r"^[ \t$>]*(uv sync|uv run|uv add|poetry install|pdm install)\b", page, re.M)
    return told[1].split()[0] if told else ""


def install_command(unit: Unit) -> str:
    """The one command that installs the packages where the program finds them: in `.venv`."""
    match package_manager(unit):
        case "uv":
            return "uv sync"
        case "poetry":
            return "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install"
        case "pdm":
            return "pdm install"
        case "pipenv":
            return "PIPENV_VENV_IN_PROJECT=1 pipenv install --dev"
    what = _given_to_pip(unit)
    return f"python3 -m venv .venv && .venv/bin/pip install {what}" if what else ""


def version(unit: Unit) -> str:
    """The version of Python that is asked for."""
    data = unit.files.toml(unit.path("pyproject.toml"))
    asked = section(data, "project").get("requires-python")
    asked = asked or section(data, "tool", "poetry", "dependencies").get("python")
    said = str(asked or unit.text(".python-version").strip().split("\n")[0])
    return said if len(said) < 40 else ""


def version_files(unit: Unit) -> Iterator[str]:
    """Files that hatch-vcs, setuptools-scm or versioningit write on installation, where they are lacking."""
    tools = section(unit.files.toml(unit.path("pyproject.toml")), "tool")
    scm = section(tools, "setuptools_scm")
    named = [
        section(tools, "hatch", "build", "hooks", "vcs").get("version-file"),
        scm.get("version_file") or scm.get("write_to"),
        section(tools, "versioningit", "write").get("file"),
    ]
    for name in (one for one in named if isinstance(one, str)):
        if re.fullmatch(r"(?:\w[\w.-]{0,60}/){0,6}\w+\.py", name) and not unit.has(name):
            yield name


def entries(unit: Unit) -> Iterator[Entry]:
    """The commands that a unit installs."""
    data = unit.files.toml(unit.path("pyproject.toml"))
    tables = {
        **section(data, "project", "scripts"),
        **section(data, "tool", "poetry", "scripts"),
        **_setup_scripts(unit),
    }
    for name, target in tables.items():
        module, _, function = str(target).partition(":")
        if _is_dotted(module) and _is_dotted(function):
            call = f"from {module} import {function.split('.')[0]}; {function}()"
            yield Entry(name, f"{{python}} -c '{call}'", f"{name} = {target}", installed=True)


def described(unit: Unit) -> tuple[str, str]:
    """The name and the description that the manifest has."""
    data = unit.files.toml(unit.path("pyproject.toml"))
    table = section(data, "project") or section(data, "tool", "poetry")
    cfg = section(ini(unit.text("setup.cfg")), "metadata")
    name, said = table.get("name") or cfg.get("name"), table.get("description") or cfg.get("description")
    return str(name or "")[:80], str(said or "").split("\n")[0][:200]


def checks(unit: Unit, known: frozenset[str]) -> Commands:
    """The commands that check a unit."""
    tools = section(unit.files.toml(unit.path("pyproject.toml")), "tool")
    cfg = ini(unit.text("setup.cfg"))
    lint = typed = ""
    if "ruff" in tools or "ruff" in known or unit.has("ruff.toml") or unit.has(".ruff.toml"):
        lint = "{python} -m ruff check ."
    elif "flake8" in known or unit.has(".flake8") or "flake8" in cfg:
        lint = "{python} -m flake8 --extend-exclude=.venv,venv,env"
    if "mypy" in tools or unit.has("mypy.ini") or "mypy" in cfg:
        typed = "{python} -m mypy" + ("" if section(tools, "mypy").get("files") else " .")
    return Commands(install_command(unit), "", _test(unit, known, tools), lint, typed)


def _test(unit: Unit, known: frozenset[str], tools: dict[str, Any]) -> str:
    tests = [name for name in unit.names if fnmatch(name.rsplit("/", 1)[-1], "test_*.py")]
    tests += [name for name in unit.names if name.endswith(("_test.py", "/tests.py"))]
    tests += [name for name in unit.names if fnmatch(name, "*test[a-z]*.py") and _is_found(unit, name)]
    uses = any(
        "import pytest" in unit.files.text(name) or "\ndef test_" in unit.files.text(name)
        for name in tests[:60]
    )
    if not tests and (alone := _test_alone(unit, known, tools)):
        return alone
    if uses or "pytest" in tools or ("pytest" in known and tests) or unit.has("pytest.ini"):
        return "{python} -m pytest"
    if tests and unit.has("manage.py"):
        return "{python} manage.py test"
    return _discovery(unit, tests)


def _is_found(unit: Unit, name: str) -> bool:
    """Does unittest find tests in a file such as `testparser.py`?"""
    named = PurePosixPath(unit.inner(name)).name
    text = unit.files.text(name) if named.startswith("test") and unit.inner(name) != "tests.py" else ""
    return "TestCase" in text and "def test" in text


def _discovery(unit: Unit, tests: list[str]) -> str:
    """The calls of unittest that find these tests."""
    own = [name for name in tests if is_below(name, unit.folder)]
    sure = [name for name in own if "TestCase" in unit.files.text(name)]
    return " && ".join(dict.fromkeys(_call(unit, PurePosixPath(unit.inner(name))) for name in sure or own))


def _call(unit: Unit, test: PurePosixPath) -> str:
    """It looks into packages only, from the folder where it begins."""
    start = test.parent
    while start.name and unit.has(str(start / "__init__.py")):
        start = start.parent
    where = f" -s {shlex.quote(str(start))}" if start.name else ""
    return f"{{python}} -m unittest discover{where}{'' if test.name.startswith('test') else _OTHERWISE}"


def _test_alone(unit: Unit, known: frozenset[str], tools: dict[str, Any]) -> str:
    """The command for a single file of tests whose name no runner looks for."""
    name = next((name for name in ("tests.py", "test.py") if unit.has(name)), "")
    text = unit.text(name) if name else ""
    if "pytest" in tools or "pytest" in known or "import pytest" in text or "\ndef test_" in text:
        return f"{{python}} -m pytest {name}" if "def test_" in text else ""
    return f"{{python}} -m unittest {name}" if "TestCase" in text else ""


def _given_to_pip(unit: Unit) -> str:
    """What the nearest folder says to install, with the list above it where it names no packages itself."""
    given: list[str] = []
    for at in unit.above():
        what = _installed_by_pip(unit.files, unit.folder, at)
        given += [what] if what else []
        if what and (what.startswith("-r") or any(_listed(unit.files, at))):
            break
    return " ".join(given)


def _installed_by_pip(files: Files, folder: str, at: str) -> str:
    """What pip is given in a folder, where the lists of packages are in that one or above it."""
    up = os.path.relpath(f"/{at}", f"/{folder}")
    inner = [name for name in files.names if PurePosixPath(name).parent == PurePosixPath(at, "requirements")]
    single = [name for name in inner if name.endswith(".txt")]
    preferred = [name for name in single if name.endswith(("dev.txt", "local.txt"))] or single
    found = [_at(at, name) for name in _ALONE if files.has(_at(at, name))] or preferred[:1]
    if found:
        return " ".join(f"-r {os.path.relpath(f'/{name}', f'/{folder}')}" for name in found)
    data = files.toml(_at(at, "pyproject.toml"))
    if files.has(_at(at, "setup.py")) or data.keys() & {"project", "build-system"}:
        extra = _tested_with(data)
        return f"-e '{up}[{extra}]'" if extra else " ".join(["-e", up, *_grouped(data)])
    return ""


def _tested_with(data: dict[str, Any]) -> str:
    """The extra of a package that brings what its tests are run with."""
    for name, listed in section(data, "project", "optional-dependencies").items():
        plain = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
        if "pytest" in _requirements(plain):
            return name
    return ""


def _grouped(data: dict[str, Any]) -> list[str]:
    """The packages of the dependency group that its tests are run with; an older pip knows no groups."""
    for listed in section(data, "dependency-groups").values():
        plain = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
        if "pytest" in _requirements(plain):
            return [shlex.quote(item) for item in plain]
    return []


def _listed(files: Files, folder: str) -> Iterator[str]:
    prefix = "" if folder == "." else f"{folder}/"
    for name in files.names:
        inner = name.removeprefix(prefix)
        if (
            name.startswith(prefix)
            and any(fnmatch(inner, pattern) for pattern in _LISTS)
            and inner.count("/") < 2
        ):
            yield from _requirements(files.text(name).splitlines())
    yield from _project(files.toml(f"{prefix}pyproject.toml"))
    pipfile = files.toml(f"{prefix}Pipfile")
    yield from (*section(pipfile, "packages"), *section(pipfile, "dev-packages"))
    yield from _requirements(
        section(ini(files.text(f"{prefix}setup.cfg")), "options").get("install_requires", "").split("\n")
    )
    yield from _setup_requires(files.text(f"{prefix}setup.py"))


def _needed(files: Files, folder: str) -> Iterator[str]:
    prefix = "" if folder == "." else f"{folder}/"
    for name in files.names:
        inner = name.removeprefix(prefix)
        is_list = inner != "constraints.txt" and any(fnmatch(inner, pattern) for pattern in _LISTS)
        if name.startswith(prefix) and is_list and inner.count("/") < 2:
            yield from _unconditional(files.text(name).splitlines())
    data = files.toml(f"{prefix}pyproject.toml")
    listed = section(data, "project").get("dependencies")
    yield from _unconditional(listed if isinstance(listed, list) else [])
    pipfile = section(files.toml(f"{prefix}Pipfile"), "packages")
    for name, how in (*section(data, "tool", "poetry", "dependencies").items(), *pipfile.items()):
        if not (isinstance(how, dict) and how.keys() & _CONDITIONS) and not isinstance(how, list):
            yield name
    cfg = section(ini(files.text(f"{prefix}setup.cfg")), "options")
    yield from _unconditional(cfg.get("install_requires", "").split("\n"))
    yield from _setup_requires(files.text(f"{prefix}setup.py"), _unconditional)


def _unconditional(lines: Any) -> Iterator[str]:
    yield from _requirements(line for line in lines if isinstance(line, str) and ";" not in line)


def _project(data: dict[str, Any]) -> Iterator[str]:
    lists: list[Any] = [section(data, "project").get("dependencies")]
    lists += section(data, "project", "optional-dependencies").values()
    lists += section(data, "dependency-groups").values()
    lists += section(data, "tool", "pdm", "dev-dependencies").values()
    lists.append(section(data, "tool", "uv").get("dev-dependencies"))
    for listed in lists:
        if isinstance(listed, list):
            yield from _requirements(item for item in listed if isinstance(item, str))
    poetry = section(data, "tool", "poetry")
    yield from (*section(poetry, "dependencies"), *section(poetry, "dev-dependencies"))
    for group in section(poetry, "group").values():
        yield from section(group, "dependencies")


def _requirements(lines: Any) -> Iterator[str]:
    for line in lines:
        named = _NAME.match(line)
        if named:
            yield named[1]
            yield from (f"{named[1]}-extra-{extra.strip()}" for extra in _extras(line))


def _extras(line: str) -> list[str]:
    before, bracket, rest = line.partition("[")
    return rest.partition("]")[0].split(",") if bracket and len(before) < 80 else []


def _setup_requires(text: str, read: Callable[[Any], Iterator[str]] | None = None) -> Iterator[str]:
    source = parse_source("setup.py", text) if text else None
    if source is None:
        return
    for name, call in source.calls():
        if name.rsplit(".", 1)[-1] == "setup":
            given = keyword(call, "install_requires")
            listed = source.values.get(given.id) if isinstance(given, ast.Name) else given
            for part in ast.walk(listed or ast.Pass()):
                yield from (read or _requirements)([words(part)])


def _setup_scripts(unit: Unit) -> dict[str, str]:
    cfg = section(ini(unit.text("setup.cfg")), "options.entry_points").get("console_scripts", "")
    source = parse_source("setup.py", unit.text("setup.py"))
    texts = [words(node) for node in source.nodes] if source else []
    lines = [*cfg.split("\n"), *(text for text in texts if text.count("=") == 1 and ":" in text)]
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {
        name.strip(): target.strip()
        for name, _, target in pairs
        if re.fullmatch(r"[\w.-]{1,60}", name.strip())
    }


def ini(text: str) -> dict[str, Any]:
    """The sections of a file of settings."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _is_dotted(text: str) -> bool:
    return bool(text) and all(part.isidentifier() for part in text.split("."))


def _at(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
