"""Commands that a project makes of itself, run from its tree and never from an installed copy."""

import ast
import configparser
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from harness_executor.kernel.values import NoSuchValue
from harness_executor.workspace.importing import import_folders, manifest, modules

_CALL = "import sys; from {module} import {head}; sys.argv[0] = {name!r}; sys.exit({head}{rest}())"


def words_of(tree: Path, folder: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """The words that run a command from the tree, where it is one the project makes of itself."""
    name = argv[0]
    for near in (PurePosixPath(folder), *PurePosixPath(folder).parents):
        place = tree / near
        made = scripts(place).get(name)
        if made:
            return (*_python(tree, folder, name, made), *argv[1:])
        file = binaries(place).get(name)
        if file and (place / file).is_file():
            return ("node", str(PurePosixPath(_up(folder, near)) / file), *argv[1:])
    return argv


def scripts(folder: Path) -> dict[str, str]:
    """The console scripts that a Python project declares: name to `module:function`."""
    data = manifest(folder)
    project, poetry = _section(data, "project"), _section(_section(data, "tool"), "poetry")
    declared = {**_section(project, "scripts"), **_section(poetry, "scripts"), **_of_setup(folder)}
    return {name: made for name, made in declared.items() if isinstance(made, str) and ":" in made}


def binaries(folder: Path) -> dict[str, str]:
    """The commands that a Node project declares: name to file."""
    data = package(folder)
    listed = data.get("bin")
    if isinstance(listed, str):
        listed = {str(data.get("name") or "").split("/")[-1]: listed}
    found = listed.items() if isinstance(listed, dict) else ()
    return {name: file for name, file in found if isinstance(file, str) and not _leads_out(file)}


def package(folder: Path) -> Mapping[str, Any]:
    """What package.json of a folder says; nothing when it has none that can be read."""
    try:
        data = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _python(tree: Path, folder: str, name: str, made: str) -> tuple[str, ...]:
    module, _, function = made.partition(":")
    top = module.split(".")[0].strip()
    if not any(top in modules(tree / place) for place in import_folders(tree, folder)):
        raise NoSuchValue(
            f"`{name}` is made of the package {top}, which is not found in the tree: old and new code "
            "would both be an installed copy; name its folder as PYTHONPATH in startup.env"
        )
    head, dot, rest = function.split("[")[0].strip().partition(".")
    return ("python", "-c", _CALL.format(module=module.strip(), head=head, rest=dot + rest, name=name))


def _of_setup(folder: Path) -> dict[str, str]:
    read = configparser.ConfigParser(interpolation=None)
    try:
        read.read(folder / "setup.cfg", encoding="utf-8")
        lines = read.get("options.entry_points", "console_scripts", fallback="").splitlines()
    except (configparser.Error, ValueError):
        return {}
    pairs = (line.partition("=") for line in (*lines, *_of_program(folder)) if "=" in line)
    return {name.strip(): made.strip() for name, _, made in pairs}


def _of_program(folder: Path) -> list[str]:
    """The lines of `console_scripts` that setup.py has, read and never run."""
    try:
        tree = ast.parse((folder / "setup.py").read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return []
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    listed = [
        value
        for table in tables
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "console_scripts"
    ]
    texts = (part.value for value in listed for part in ast.walk(value) if isinstance(part, ast.Constant))
    return [line for text in texts if isinstance(text, str) for line in text.splitlines()]


def _section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = data.get(name)
    return inner if isinstance(inner, dict) else {}


def _up(folder: str, near: PurePosixPath) -> str:
    """The way from where a command runs to a folder above it."""
    steps = len(PurePosixPath(folder).parts) - len(near.parts)
    return "/".join([".."] * steps) or "."


def _leads_out(file: str) -> bool:
    return file.startswith("/") or ".." in PurePosixPath(file).parts
