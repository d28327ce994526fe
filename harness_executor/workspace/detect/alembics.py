"""The tools that keep tables of SQLAlchemy and Tortoise, and how they are run from where a server starts."""

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from harness_executor.workspace.detect.reading import section
from harness_executor.workspace.detect.unit import Unit, is_decoy
from harness_executor.workspace.detect.values import Candidate, Step

_INPUTS = ("**/versions/**",)
_SCRIPTS = re.compile(r"^script_location\s*=\s*(\S+)", re.M)
_CALL = "from alembic.config import main; main(argv=['upgrade', 'heads'])"


def steps(unit: Unit, dependencies: frozenset[str], candidate: Candidate) -> Iterator[Step]:
    """What makes the tables, by the first tool whose files are there."""
    first = assigned(candidate)
    if unit.files.has(_in(candidate.folder, "alembic.ini")):
        reason = "alembic.ini says where the migrations are"
        yield Step("migrate", f"{first}{{python}} -m alembic upgrade heads", _INPUTS, reason)
    elif candidate.framework == "litestar" and "advanced-alchemy" in dependencies and _has_scripts(unit):
        named = next((word for word in candidate.command.split() if re.fullmatch(r"[\w.]+:\w+", word)), "")
        command = f"{first}{{python}} -m litestar --app {named} database upgrade --no-prompt"
        if named:
            yield Step("migrate", command, (), "advanced-alchemy keeps the tables")
    elif "aerich" in dependencies and _of_aerich(unit, candidate.folder):
        yield Step("migrate", f"{first}{{python}} -m aerich upgrade", (), "aerich keeps the tables")
    else:
        yield from _below(unit, candidate)


def assigned(candidate: Candidate) -> str:
    """The variables of a candidate, for a command that runs before it."""
    given = {name: value for name, value in candidate.env.items() if "{port}" not in value}
    return "".join(f"{name}={shlex.quote(value)} " for name, value in given.items())


def _has_scripts(unit: Unit) -> bool:
    """Are there migrations of Alembic?"""
    return any(name.endswith("/script.py.mako") and not is_decoy(name, unit.folder) for name in unit.names)


def _of_aerich(unit: Unit, folder: str) -> bool:
    """Are there migrations of aerich, with the settings beside the start?"""
    tools = section(unit.files.toml(_in(folder, "pyproject.toml")), "tool", "aerich")
    place = str(PurePosixPath(folder, str(tools.get("location") or "migrations")))
    return bool(tools) and any(name.startswith(f"{place}/") for name in unit.files.names)


def _below(unit: Unit, candidate: Candidate) -> Iterator[Step]:
    """Settings of Alembic below the start: run from where the folder that they name is found."""
    names = [name for name in unit.names if name.endswith("/alembic.ini") and not is_decoy(name, unit.folder)]
    if len(names) != 1 or not PurePosixPath(names[0]).is_relative_to(candidate.folder):
        return
    inner = PurePosixPath(names[0]).relative_to(candidate.folder)
    said = _SCRIPTS.search(unit.files.text(names[0]))
    first, reason = assigned(candidate), f"{names[0]} says where the migrations are"
    script = said[1] if said else ""
    if (script and unit.files.has(_in(candidate.folder, f"{script}/env.py"))) or script.startswith("%(here)"):
        command = f"{{python}} -m alembic -c {shlex.quote(str(inner))} upgrade heads"
        yield Step("migrate", f"{first}{command}", _INPUTS, reason)
    elif script and unit.files.has(f"{PurePosixPath(names[0]).parent}/{script}/env.py"):
        there = f"import os, sys; sys.path.insert(0, os.getcwd()); os.chdir({str(inner.parent)!r}); {_CALL}"
        yield Step("migrate", f"{first}{{python}} -c {shlex.quote(there)}", _INPUTS, reason)


def _in(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
