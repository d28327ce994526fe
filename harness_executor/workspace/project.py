"""What a project says about itself: how it is started and how it is checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.kernel.canonical import Ambiguous, parse

PLACES = (
    ".harness/config/environment.json",
    ".harness/environment.json",
    "harness/environment.json",
    "harness/config/environment.json",
    ".claude/harness/environment.json",
)

_CHECKS = {
    "build": "build_command",
    "lint": "lint_command",
    "typecheck": "typecheck_command",
    "test": "test_command",
}


@dataclass(frozen=True)
class Readiness:
    """When a server counts as up."""

    type: str = "tcp"
    endpoint: str = "/"
    expected_status: int | None = None
    pattern: str = ""
    port: int | None = None
    timeout_seconds: float = 30.0


@dataclass(frozen=True)
class Start:
    """How the server of a project is started."""

    command: str
    working_dir: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    readiness: Readiness = Readiness()
    setup: tuple[str, ...] = ()
    """What has to be done in a fresh copy first, such as installing packages."""


@dataclass(frozen=True)
class Project:
    """The commands of a project."""

    start: Start | None
    checks: Mapping[str, str]
    notes: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()

    def needed_start(self) -> Start:
        """How the server is started; refuses when nobody said."""
        if self.start is None:
            raise UsageError(
                "nothing says how the server is started",
                hint="give --start 'COMMAND --port {port}', or startup.command in harness/environment.json",
            )
        return self.start


def read_project(tree: Path, *, start: str = "") -> Project:
    """The commands of an exported tree; a start command given by the user wins."""
    path = next((tree / place for place in PLACES if (tree / place).is_file()), None)
    data = _load(path) if path else {}
    notes = (
        (f"commands come from {path.relative_to(tree)}",)
        if path
        else ("there is no harness/environment.json",)
    )
    found = _start(data, path or tree)
    setup = _setup(_section(data, "test_environment"), path or tree)
    if start:
        found = replace(found or Start(start), command=start)
    if found:
        found = replace(found, setup=setup)
    runtime = _section(data, "runtime")
    checks = {name: str(runtime[key]) for name, key in _CHECKS.items() if runtime.get(key)}
    return Project(found, checks, notes, setup)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = parse(path.read_text(encoding="utf-8"))
    except (Ambiguous, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name}: {error}", hint="correct harness/environment.json") from error
    if not isinstance(data, dict):
        raise UsageError(f"{path.name} is not a JSON object", hint="correct harness/environment.json")
    return data


def _start(data: Mapping[str, Any], path: Path) -> Start | None:
    startup = _section(data, "startup")
    command = startup.get("command") or _section(data, "runtime").get("dev_command")
    if not command:
        return None
    arguments = startup.get("args") or []
    words = [command, *arguments] if isinstance(command, str) else list(command)
    test_env = {**_section(_section(data, "test_environment"), "env_vars"), **_section(startup, "env")}
    text = " ".join(str(word) for word in words)
    if "\0" in text:
        raise UsageError(f"{path.name}: startup.command holds a NUL", hint="take it out")
    return Start(
        text,
        _working_dir(startup, path),
        {str(name): str(value) for name, value in {**_required(data), **test_env}.items()},
        _readiness(_section(startup, "readiness"), path),
    )


def _setup(section: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    commands = section.get("setup_commands") or []
    if not isinstance(commands, list) or not all(isinstance(command, str) for command in commands):
        raise UsageError(
            f"{path.name}: test_environment.setup_commands is {commands!r}", hint="a list of commands"
        )
    return tuple(commands)


def _working_dir(startup: Mapping[str, Any], path: Path) -> str:
    folder = PurePosixPath(str(startup.get("working_dir") or "."))
    if folder.is_absolute() or ".." in folder.parts:
        raise UsageError(
            f"{path.name}: startup.working_dir {str(folder)!r} leads out of the project",
            hint="name a folder relative to the project's root",
        )
    return str(folder)


def _required(data: Mapping[str, Any]) -> dict[str, str]:
    required = _section(_section(data, "env_vars"), "required")
    usable = {
        name: entry
        for name, entry in required.items()
        if isinstance(entry, Mapping) and entry.get("test_value_ok")
    }
    return {name: str(entry.get("test_value", "")) for name, entry in usable.items()}


def _readiness(data: Mapping[str, Any], path: Path) -> Readiness:
    config = {**data, **_section(data, "config")}
    kind = str(data.get("type") or "tcp")
    kind = {"log_pattern": "log"}.get(kind, kind)
    if kind not in ("http", "tcp", "log"):
        raise UsageError(
            f"{path.name}: startup.readiness.type is {kind!r}",
            hint="http, tcp and log_pattern can be waited for",
        )
    port = str(config.get("port"))
    try:
        return Readiness(
            kind,
            "/" + str(config.get("endpoint") or "").lstrip("/"),
            int(config.get("expected_status") or 0) or None,
            re.compile(str(config.get("pattern") or "")).pattern,
            int(port) if port.isdigit() else None,
            float(config.get("timeout_seconds") or 30),
        )
    except (TypeError, ValueError, re.error) as error:
        raise UsageError(
            f"{path.name}: startup.readiness: {error}",
            hint="expected_status and timeout_seconds are numbers, pattern is a regular expression",
        ) from error


def _section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}
