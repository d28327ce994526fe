"""Commands by which programs of Flask and Quart make their tables."""

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath

from harness_executor.workspace.detect.alembics import assigned
from harness_executor.workspace.detect.pysource import Source, argument, parse_source, words
from harness_executor.workspace.detect.unit import Unit, is_decoy
from harness_executor.workspace.detect.values import Candidate, Step

_MAKES = re.compile(
    r"(?:init|(?:re)?create|setup|reset|make)[-_]?(?:db|database|tables|schema|all)|db[-_]init"
)
_KEPT = re.compile(r"\.(?:db3?|sqlite3?)$")
_TARGET = re.compile(r"(?<=\s)[\w.]+:\w+(?=\s|$)")


def steps(unit: Unit, candidate: Candidate) -> Iterator[Step]:
    """The command that makes tables; what a repository keeps in a file of SQLite is not made anew."""
    if candidate.framework not in ("flask", "quart") or any(map(_KEPT.search, unit.files.names)):
        return
    found = ((source, name) for source in _sources(unit) for name in _names(source))
    told = ((source, name, how) for source, name in found if (how := _run(source, candidate)))
    for source, name, how in islice(told, 1):
        said = f"{source.path} has the command {name}"
        yield Step("migrate", f"{assigned(candidate)}{how} {shlex.quote(name)}", (), said, clears=True)


def _sources(unit: Unit) -> Iterator[Source]:
    names = [name for name in unit.names if name.endswith(".py") and not is_decoy(name, unit.folder)]
    texts = ((name, unit.files.text(name)) for name in names)
    parsed = (parse_source(name, text) for name, text in texts if "command" in text)
    return (source for source in parsed if source)


def _names(source: Source) -> Iterator[str]:
    """The names of the commands that sound like it."""
    functions = (node for node in source.nodes if isinstance(node, ast.FunctionDef))
    named = (_named(source, node.name, by) for node in functions for by in node.decorator_list)
    return filter(_MAKES.fullmatch, named)


def _named(source: Source, function: str, by: ast.expr) -> str:
    """The name of the command that click makes of a function, if it is decorated as one."""
    call = by if isinstance(by, ast.Call) else None
    owner, _, verb = source.meaning(call.func if call else by).rpartition(".")
    if verb != "command" or owner.rsplit(".", 1)[-1] not in ("cli", "click"):
        return ""
    return (words(argument(call, 0, "name")) if call else "") or function.replace("_", "-")


def _run(source: Source, candidate: Candidate) -> str:
    """How a command of a file is called: by the program of its own group, or by that of the framework."""
    groups = any(name.rsplit(".", 1)[-1] == "FlaskGroup" for name, _ in source.calls())
    place = PurePosixPath(source.path)
    if groups and place.is_relative_to(candidate.folder):
        return f"{{python}} {shlex.quote(str(place.relative_to(candidate.folder)))}"
    target = _TARGET.search(candidate.command)
    named = f" --app {target[0]}" if target else ""
    is_told = named or "FLASK_APP" in candidate.env
    return f"{{python}} -m {candidate.framework}{named}" if is_told else ""
