"""Programs that a file of PasteDeploy describes, as those of Pyramid: it says what is served, and where."""

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from harness_executor.workspace.detect import pypackages
from harness_executor.workspace.detect.unit import Unit, is_decoy
from harness_executor.workspace.detect.values import Candidate, Place, Port, Step

_SERVED = re.compile(r"(?:app|pipeline|composite):main")
_MAKES_TABLES = re.compile(r"init(?:iali[sz]e)?_?(?:\w+_)?db")
_LIKED = {"development": 6, "local": 4, "dev": 4}
_FOR_TESTS = ("test", "testing", "tests", "alembic", "pytest", "tox")
_USUAL = 8080
"""The port that waitress and the server of Pyramid take when the file names none."""


def candidates(unit: Unit, known: frozenset[str]) -> Iterator[Candidate]:
    """What `pserve` serves by each file of settings that says what is served, and by which server."""
    env = {"PYTHONPATH": "src"} if _is_in_src(unit) else {}
    for name, table in _files(unit, known):
        if "server:main" in table and any(map(_SERVED.fullmatch, table)):
            inner = unit.inner(name)
            port, more = _port(table["server:main"])
            yield Candidate(
                f"{{python}} -m pyramid.scripts.pserve {shlex.quote(inner)}{more}",
                86 + _LIKED.get(PurePosixPath(inner).stem, 0) - 2 * inner.count("/"),
                (f"{name} says what pserve serves",),
                unit.folder,
                "pyramid",
                env,
                port,
                source=name,
            )


def steps(unit: Unit, known: frozenset[str], candidate: Candidate) -> Iterator[Step]:
    """What makes the tables of such a program: Alembic by the same file, and a command of its own."""
    tables = dict(_files(unit, known))
    inner = shlex.quote(unit.inner(candidate.source))
    if "alembic" in tables.get(candidate.source, {}):
        alembic = f"{{python}} -m alembic -c {inner}"
        first = f"{alembic} revision --autogenerate -m init && " if _makes_migrations(unit) else ""
        reason = f"{candidate.source} says where the migrations are"
        yield Step("migrate", f"{first}{alembic} upgrade heads", ("**/versions/**",), reason)
    entry = next((one for one in pypackages.entries(unit) if _MAKES_TABLES.fullmatch(one.name)), None)
    if entry and candidate.source in tables:
        yield Step(
            "tables", f"{entry.command} {inner}", (), f"{entry.reason} is installed as a command", clears=True
        )


def _makes_migrations(unit: Unit) -> bool:
    """Are there none, and does the README say that everybody makes them?"""
    has_any = any(re.search(r"/versions/[^/]+\.py$", name) for name in unit.names)
    page = "".join(unit.text(name) for name in ("README.md", "README.rst", "README.txt"))
    return not has_any and bool(re.search(r"\balembic\b.* revision --autogenerate\b", page))


def _files(unit: Unit, known: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    if "pyramid" in known:
        for name in unit.names:
            place = PurePosixPath(unit.inner(name))
            is_near = len(place.parts) < 3 and not is_decoy(str(place))
            if place.suffix == ".ini" and is_near and place.stem not in _FOR_TESTS:
                yield name, pypackages.ini(unit.files.text(name))


def _port(server: dict[str, Any]) -> tuple[Port, str]:
    """The port of a server, and what the command line needs so that it can be set."""
    listens = str(server.get("listen", "")).split()
    said = str(server.get("port") or (listens[0].rpartition(":")[2] if listens else ""))
    variable = re.fullmatch(r"%\((\w+)\)s", said)
    if variable:
        return Port(Place.OPTION, None, variable[1]), f" {variable[1]}={{port}}"
    if re.fullmatch(r"[0-9]{1,5}", said):
        return Port(Place.FIXED, int(said)), ""
    is_usual = not said and re.search(r"waitress|wsgiref", str(server.get("use", "")))
    return (Port(Place.FIXED, _USUAL) if is_usual else Port()), ""


def _is_in_src(unit: Unit) -> bool:
    return any(re.fullmatch(r"src/\w+/__init__\.py", unit.inner(name)) for name in unit.names)
