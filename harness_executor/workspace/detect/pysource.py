"""One Python file, parsed: what it imports, and what names in it stand for."""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.reading import LONGEST_NUMBER


@frozen
class Source:
    """A parsed file."""

    path: str
    tree: ast.Module
    _found: dict[str, list[ast.AST]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every part of it."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def aliases(self) -> dict[str, str]:
        """What imported names stand for: `web` for `aiohttp.web`."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found |= {
                    alias.asname or alias.name.split(".")[0]: alias.name
                    if alias.asname
                    else alias.name.split(".")[0]
                    for alias in node.names
                }
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                dot = "" if module.endswith(".") else "."
                found |= {alias.asname or alias.name: f"{module}{dot}{alias.name}" for alias in node.names}
        return found

    @cached_property
    def imported(self) -> frozenset[str]:
        """The modules that it imports, as they are written."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add("." * node.level + (node.module or ""))
        return frozenset(names)

    @cached_property
    def values(self) -> dict[str, ast.expr]:
        """What the names at the top of the file are set to."""
        found: dict[str, ast.expr] = {}
        for node in top_level(self.tree):
            for name, value in assigned(node):
                found.setdefault(name, value)
        return found

    def meaning(self, node: ast.AST | None) -> str:
        """The full name that an expression stands for, or nothing."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.aliases.get(node.id, node.id), *reversed(parts)])

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Every call, with the full name of what is called."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield self.meaning(node.func), node


def parse_source(path: str, text: str) -> Source | None:
    """A parsed file, or nothing when it is not Python of this version."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Source(path, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that are run on import, those of `if` and `try` included."""
    waiting = tree.body[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and not is_main(node):
            waiting += [*node.body, *node.orelse][::-1]
        elif isinstance(node, ast.Try | ast.With):
            waiting += node.body[::-1]


def assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement sets, each with its value; the first of several that one call gives."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
            is_first_of_call = first is not target and isinstance(node.value, ast.Call)
            if isinstance(first, ast.Name) and (first is target or is_first_of_call):
                yield first.id, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value


def is_main(node: ast.AST) -> bool:
    """Is this `if __name__ == "__main__":`?"""
    return isinstance(node, ast.If) and "__name__" in {
        part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)
    }


def literal(node: ast.AST | None) -> str | int | float | bool | None:
    """The value of a constant that can be written out, or nothing."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool):
        is_endless = isinstance(node.value, int) and node.value.bit_length() > LONGEST_NUMBER
        return None if is_endless else node.value
    return None


def written(node: ast.AST) -> str:
    """An expression as code; nothing if it goes deeper than anybody writes."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""


def words(node: ast.AST | None) -> str:
    """The text of a constant text, or nothing."""
    value = literal(node)
    return value if isinstance(value, str) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The argument of that name."""
    return next((given.value for given in call.keywords if given.arg == name), None)


def argument(call: ast.Call, place: int, name: str = "") -> ast.expr | None:
    """The argument at a place, or of a name."""
    if len(call.args) > place and not isinstance(call.args[place], ast.Starred):
        return call.args[place]
    return keyword(call, name) if name else None
