"""The variables on which it depends whether a Django program answers at 127.0.0.1."""

import ast
import re
from collections.abc import Iterator

from harness_executor.workspace.detect.pysource import Source, argument, assigned, literal, words
from harness_executor.workspace.detect.values import Variable

_HOST = "127.0.0.1"
_ADMITS = r"127\.0\.0\.1|\*"
_ON = r"(?i)^(?:1|t|true|y|yes|on)$"
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,80}")


def variables(source: Source) -> Iterator[Variable]:
    """Those that list the hosts it answers for; or the one for debugging, where no host is listed."""
    hosts = list(_given(source, "ALLOWED_HOSTS"))
    for value in hosts:
        if not any(re.search(_ADMITS, words(part)) for part in ast.walk(value)):
            yield from (_needed(source, key, _HOST, _ADMITS) for key, _ in _read(source, value))
    if hosts and all(isinstance(value, ast.List | ast.Tuple) and not value.elts for value in hosts):
        yield from _debugging(source)


def _debugging(source: Source) -> Iterator[Variable]:
    for value in _given(source, "DEBUG"):
        read = [key for key, default in _read(source, value) if not re.search(_ON, default)]
        yield from (_needed(source, key, _on(source, value), _ON) for key in read)


def _needed(source: Source, key: str, value: str, fits: str) -> Variable:
    return Variable(key, required=True, test_value=value, where=source.path, fits=fits)


def _given(source: Source, name: str) -> Iterator[ast.expr]:
    """Every value that a setting is set to, or that is added to it."""
    for node in source.nodes:
        yield from (value for target, value in assigned(node) if target == name)
        if isinstance(node, ast.AugAssign) and source.meaning(node.target) == name:
            yield node.value
        elif isinstance(node, ast.Call) and source.meaning(node.func) in (f"{name}.extend", f"{name}.append"):
            yield from node.args


def _read(source: Source, value: ast.expr) -> Iterator[tuple[str, str]]:
    """The variables that a value is made of, each with its default."""
    named = [source.values.get(part.id) for part in ast.walk(value) if isinstance(part, ast.Name)]
    for part in (part for one in (value, *named) if one for part in ast.walk(one)):
        if isinstance(part, ast.Call) and _KEY.fullmatch(words(argument(part, 0))):
            default = literal(argument(part, 1, "default"))
            yield words(argument(part, 0)), "" if default is None else str(default)
        elif isinstance(part, ast.Subscript) and source.meaning(part.value).endswith("environ"):
            yield words(part.slice), ""


def _on(source: Source, value: ast.expr) -> str:
    """The word that switches a setting on: what the code compares with, or what every reader takes."""
    compared = (part for part in ast.walk(value) if isinstance(part, ast.Compare))
    wanted = [one for one in compared if isinstance(one.ops[0], ast.Eq | ast.In)]
    said = [words(part) for one in wanted for part in ast.walk(one.comparators[0]) if words(part)]
    is_number = any(
        isinstance(one, ast.Call) and source.meaning(one.func) == "int" for one in ast.walk(value)
    )
    return next(iter(said), "1" if is_number else "True")
