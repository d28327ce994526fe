"""Scenario files that people write, in JSON or YAML; what is wrong is named with its line."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from harness_executor.errors import ShapeError, UsageError
from harness_executor.kernel.canonical import Ambiguous, canonical, parse
from harness_executor.kernel.scenario import Scenario, problem_of
from harness_executor.shapes import read

Where = tuple[str | int, ...]


class _Once(yaml.SafeLoader):
    """YAML in which a key stands once; the second one would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - as PyYAML calls it
        names = [key.value for key, _ in node.value]
        for number, (key, _) in enumerate(node.value):
            if key.value in names[:number]:
                raise Ambiguous(f"line {key.start_mark.line + 1}: key {key.value!r} appears twice")
        return super().construct_mapping(node, deep)


def load_scenarios(path: Path) -> tuple[Scenario, ...]:
    """The scenarios of a file: a list, or an object whose `scenarios` is one."""
    if not path.is_file():
        raise UsageError(f"there is no scenario file {path}", hint="name one with --scenarios FILE")
    text = _text(path)
    data = _data(path, text)
    prefix: Where = ()
    if isinstance(data, dict) and set(data) <= {"version", "scenarios"} and "scenarios" in data:
        data, prefix = data["scenarios"], ("scenarios",)
    try:
        scenarios = read(tuple[Scenario, ...], data)
    except ShapeError as error:
        raise UsageError(
            _located(path, text, prefix, error), hint="docs/SCENARIOS.md lists every key"
        ) from error
    problem = problem_of(scenarios)
    if problem:
        raise UsageError(f"{path.name}: {problem}", hint="docs/SCENARIOS.md shows how scenarios are written")
    return scenarios


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: {error}", hint="save the file as UTF-8") from error
    return re.sub("^\t+", lambda tabs: "    " * len(tabs[0]), text, flags=re.MULTILINE)


def _data(path: Path, text: str) -> Any:
    try:
        data = parse(text) if path.suffix == ".json" else yaml.load(text, Loader=_Once)  # noqa: S506 - a safe loader
        canonical(data)
    except Ambiguous as error:
        raise UsageError(f"{path.name}: {error}", hint="correct the file") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path.name}: {error}", hint="correct the file") from error
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{path.name}: {error}", hint="put dates in quotes; values are JSON values"
        ) from error
    return data


def _located(path: Path, text: str, prefix: Where, error: ShapeError) -> str:
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
