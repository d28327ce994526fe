"""Scenario files that people write, in JSON or YAML; what is wrong is named with its line."""

from pathlib import Path
from typing import Any

import yaml

from harness_executor.errors import ShapeError, UsageError
from harness_executor.kernel.canonical import Ambiguous, canonical, parse
from harness_executor.kernel.scenario import Scenario, problem_of
from harness_executor.shapes import read

Where = tuple[str | int, ...]


def load_scenarios(path: Path) -> tuple[Scenario, ...]:
    """The scenarios of a file: a list, or an object whose `scenarios` is one."""
    if not path.is_file():
        raise UsageError(f"there is no scenario file {path}", hint="name one with --scenarios FILE")
    text = path.read_text(encoding="utf-8").replace("\t", "    ")
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


def _data(path: Path, text: str) -> Any:
    try:
        data = parse(text) if path.suffix == ".json" else yaml.safe_load(text)
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
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    said = []
    for where, what in error.problems:
        place = ".".join(str(part) for part in (*prefix, *where))
        said.append(f"{path.name}, line {_line(root, (*prefix, *where))}: {place}: {what}")
    return "\n".join(dict.fromkeys(said))


def _line(node: Any, where: Where) -> int:
    line = node.start_mark.line + 1
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
