"""What a project's own files hand to its programs: its compose files, and a `.env` that no code reads."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from harness_executor.workspace.detect.declared import COMPOSE
from harness_executor.workspace.detect.reading import section
from harness_executor.workspace.detect.unit import Unit

_READS = re.compile(r"dotenv|decouple|environs|read_env|loadEnvFile|env-file|['\"/]\.env\b")
"""What code says that reads a `.env`."""
_DEFAULT = re.compile(r"\$\{\w+:?-([^${}]*)\}")


def given(unit: Unit) -> dict[str, str]:
    """The variables that a program is started with, as far as they say it plainly; the nearest file wins."""
    found: dict[str, str] = {}
    for text in _unread(unit):
        found = {**pairs_of(text), **found}
    services = list(_services(unit))
    for _, folder, data in services:
        if _is_made_from(unit, folder, data):
            found |= {name: value for name, value in _environment(data).items() if "$" not in value}
    unknown = {"", *(name for name, _, _ in services)}
    return {
        name: value
        for name, value in found.items()
        if value.partition(":")[0] not in unknown and "$" not in value
    }


def found_by_itself(unit: Unit) -> frozenset[str]:
    """What a committed `.env` sets, where the program reads it itself or it refers to other values."""
    beside = pairs_of(unit.text(".env")) if _reads_its_own(unit) else {}
    above = {name for text in _unread(unit) for name, value in pairs_of(text).items() if "$" in value}
    return frozenset(beside) | above


def pairs_of(text: str) -> dict[str, str]:
    """The variables that a file of lines such as NAME=value sets."""
    return dict(_pairs(text))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and re.fullmatch(r"[A-Za-z_]\w*", name.strip()):
            quoted = re.match(r"(['\"`])(.*?)\1\s*(?:#.*)?$", value.strip())
            plain = quoted[2] if quoted else f" {value}".split(" #")[0].strip().strip("'\"")
            yield name.strip(), plain


def _unread(unit: Unit) -> Iterator[str]:
    """Each `.env` that git keeps and that the program does not find by itself, the nearest first."""
    for folder in unit.above():
        is_own = folder == unit.folder
        if not is_own or not _reads_its_own(unit):
            yield unit.files.text(f"{folder}/.env".removeprefix("./"))


def _reads_its_own(unit: Unit) -> bool:
    """Does anything of a program read the `.env` beside it? Tools of JavaScript do, unasked."""
    if unit.has("package.json"):
        return True
    lists = [name for name in unit.names if name.endswith((".py", ".toml", ".txt", "Pipfile", "setup.cfg"))]
    return any(_READS.search(unit.files.text(name)) for name in lists)


def _services(unit: Unit) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """What the compose files of a program and above it start, each with the folder of the file."""
    for folder in unit.above():
        prefix = "" if folder == "." else f"{folder}/"
        for name in unit.files.like(*(f"{prefix}{pattern}" for pattern in COMPOSE)):
            if str(PurePosixPath(name).parent) == folder and "prod" not in name:
                services = section(unit.files.yaml(name), "services")
                yield from ((service, folder, section(services, service)) for service in services)


def _is_made_from(unit: Unit, folder: str, data: Mapping[str, Any]) -> bool:
    """Is a service of a compose file made from this program?"""
    build = data.get("build")
    context = build.get("context", ".") if isinstance(build, dict) else build
    if not isinstance(context, str) or "$" in context or ".." in context:
        return False
    place = str(PurePosixPath(folder, context))
    return place in (unit.folder, folder)


def _environment(data: Mapping[str, Any]) -> dict[str, str]:
    listed = data.get("environment")
    if isinstance(listed, dict):
        return {str(name): _text(value) for name, value in listed.items()}
    lines = [str(item) for item in listed] if isinstance(listed, list) else []
    return {name: _text(value) for name, _, value in (line.partition("=") for line in lines)}


def _text(value: Any) -> str:
    plain = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    default = _DEFAULT.fullmatch(plain)
    return default[1] if default else plain
