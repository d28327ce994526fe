"""Documents that people write, in JSON or YAML: read strictly, and what is wrong has its line."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from harness_executor.errors import ShapeError, UsageError
from harness_executor.kernel.canonical import Ambiguous, canonical, parse

Where = tuple[str | int, ...]

MOST_BYTES = 8_000_000
_FOLDED = "\x85\u2028\u2029\ufeff"
"""What YAML reads as the end of a line, or not at all, unless it is escaped."""
_WIDE = 1_000_000
_MOST_VALUES = 1_000_000
"""How many values a document may stand for, those that YAML repeats counted each time."""


class _Once(yaml.SafeLoader):
    """YAML in which a key stands once; the second one would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - as PyYAML calls it
        names = [key.value for key, _ in node.value]
        for number, (key, _) in enumerate(node.value):
            if key.value in names[:number]:
                raise Ambiguous(f"line {key.start_mark.line + 1}: key {key.value!r} appears twice")
        return super().construct_mapping(node, deep)


def text_of(path: Path) -> str:
    """The text of a file, of a size that a person could write; tabs that indent are spaces."""
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path.name} has more than {MOST_BYTES} bytes", hint="divide the file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: {error}", hint="save the file as UTF-8") from error
    return re.sub("^\t+", lambda tabs: "    " * len(tabs[0]), text, flags=re.MULTILINE)


def data_of(path: Path, text: str) -> Any:
    """What a text says, as JSON data; a file whose name ends in .json is JSON, any other YAML."""
    try:
        data = parse(text) if path.suffix == ".json" else yaml.load(text, Loader=_Once)  # noqa: S506 - a safe loader
        _refuse_bombs(data)
        canonical(data)
    except Ambiguous as error:
        raise UsageError(f"{path.name}: {error}", hint="correct the file") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path.name}: {error}", hint="correct the file") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{path.name}: {error}", hint="put dates in quotes; values are JSON values"
        ) from error
    return data


def text_for(data: Any) -> str:
    """JSON data as a YAML text that is read again as exactly that."""
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=_WIDE)
    if set(text) & set(_FOLDED):
        return yaml.safe_dump(data, allow_unicode=False, sort_keys=False, width=_WIDE)
    return text


def _refuse_bombs(data: Any) -> None:
    """Refuse a document whose aliases make something endless of a few lines."""
    sizes: dict[int, int] = {}

    def size(value: Any) -> int:
        if not isinstance(value, dict | list):
            return 1
        if id(value) not in sizes:
            sizes[id(value)] = _MOST_VALUES + 1  # while it is being counted: it holds itself
            sizes[id(value)] = 1 + sum(map(size, _inside(value)))
        return sizes[id(value)]

    if size(data) > _MOST_VALUES:
        raise Ambiguous(f"it stands for more than {_MOST_VALUES} values, or holds itself")


def _inside(value: dict[Any, Any] | list[Any]) -> Iterator[Any]:
    yield from value.values() if isinstance(value, dict) else value


def located(path: Path, text: str, prefix: Where, error: ShapeError) -> str:
    """Every problem of a document, with its line and its place."""
    said = []
    root = None
    with suppress(yaml.YAMLError):
        root = yaml.compose(text.replace("\t", " "), Loader=yaml.SafeLoader)
    for where, what in error.problems:
        place = ".".join(str(part) for part in (*prefix, *where))
        said.append(f"{path.name}, line {_line(root, (*prefix, *where))}: {place}: {what}")
    return "\n".join(dict.fromkeys(said))


def _line(node: Any, where: Where) -> int:
    line = node.start_mark.line + 1 if node else 1
    for part in where:
        pairs = node.value if isinstance(node, yaml.MappingNode | yaml.SequenceNode) else []
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in pairs if key.value == str(part)), None)
        else:
            found = (pairs[part], pairs[part]) if isinstance(part, int) and part < len(pairs) else None
        if found is None:
            return int(line)
        line, node = found[0].start_mark.line + 1, found[1]
    return int(line)
