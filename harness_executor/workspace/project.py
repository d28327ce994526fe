"""What a project says about itself: how it is started and how it is checked."""

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Origin, Side
from harness_executor.workspace.chores import Chore, read_chores
from harness_executor.workspace.hints import read_hints
from harness_executor.workspace.needs import Service, read_services
from harness_executor.workspace.readiness import Readiness, read_readiness
from harness_executor.workspace.sections import section, texts, words

__all__ = [
    "PLACES",
    "Chore",
    "Project",
    "Readiness",
    "Service",
    "Start",
    "as_project",
    "environment_file",
    "load",
    "read_project",
]

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


@frozen
class Start:
    """How the server of a project is started."""

    command: str
    working_dir: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    readiness: Readiness = field(default_factory=Readiness)
    chores: tuple[Chore, ...] = ()
    """What has to be done in a fresh copy first, such as installing packages."""
    base_command: str = ""
    """How the old code is started, when that differs."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Further ports by name; 0 for any that is free."""
    services: tuple[Service, ...] = ()
    """What has to run beside it."""
    origin: Origin = Origin.PROJECT
    """Who said the command."""
    base_origin: Origin = Origin.PROJECT
    """Who said how the old code is started."""

    def on(self, side: Side) -> "Start":
        """How one side is started."""
        if side is Side.CHANGE or not self.base_command:
            return self
        return replace(self, command=self.base_command, origin=self.base_origin)


@frozen
class Project:
    """The commands of a project."""

    start: Start | None
    checks: Mapping[str, str]
    notes: tuple[str, ...] = ()
    check_env: Mapping[str, str] = field(default_factory=dict)
    """Variables of the checks."""
    own_env: Mapping[str, str] = field(default_factory=dict)
    """Those of them which the server does not get."""
    services: tuple[Service, ...] = ()
    chores: tuple[Chore, ...] = ()
    """What is done before a start, whether there is one or not."""
    test_report: str = ""
    """A pattern of report files that the tests write."""
    ground: Start = field(default_factory=lambda: Start(""))
    """What programs find where no server is started: a start without a command."""
    auth: Mapping[str, Any] = field(default_factory=dict)
    """How somebody logs in, as the project declares it."""
    type: str = ""
    """What it says it is: `web-api`, `cli`, `library` and others."""
    hints: tuple[str, ...] = ()
    """What it says its users do, quoted."""
    dropped: tuple[str, ...] = ()
    """Checks that base declares, and a file in its place does not have so."""

    @property
    def has_server(self) -> bool:
        """Is there a server to start, or should there be one?"""
        return self.start is not None or self.type not in ("cli", "library")

    def start_for(self, *, server: bool) -> Start:
        """What scenarios are carried out on: the server if they need one, else programs alone."""
        return self.needed_start() if server else self.ground

    def needed_start(self) -> Start:
        """How the server is started; refuses when nobody said."""
        if self.start is None:
            raise UsageError(
                "nothing says how the server is started",
                hint="give --start 'COMMAND --port {port}', or startup.command in harness/environment.json; "
                "a project without a server says so: project.type is cli or library",
            )
        return self.start


def read_project(tree: Path, *, start: str = "", base_start: str = "") -> Project:
    """The commands of an exported tree; a start command given by the user wins."""
    path = environment_file(tree)
    said = f"commands come from {path.relative_to(tree)}" if path else "there is no harness/environment.json"
    project = as_project(load(path) if path else {}, path or tree, start=start, base_start=base_start)
    return replace(project, notes=(said,))


def environment_file(tree: Path) -> Path | None:
    """Where a tree says how it is started, if it does."""
    return next((tree / place for place in PLACES if (tree / place).is_file()), None)


def as_project(
    data: Mapping[str, Any],
    place: Path,
    *,
    start: str = "",
    base_start: str = "",
    origin: Origin = Origin.PROJECT,
) -> Project:
    """What the data of an environment.json means; the place is for words."""
    services = read_services(data, place)
    chores = read_chores(data, services, place)
    runtime, testing = section(data, "runtime"), section(data, "test_environment")
    found = replace(_start(data, place, services, chores), origin=origin, base_origin=origin)
    own = texts(section(testing, "check_env"))
    return Project(
        _with_commands(found, start, base_start),
        {
            name: words(runtime[key], f"runtime.{key}", place)
            for name, key in _CHECKS.items()
            if runtime.get(key)
        },
        (),
        {**_given(data), **own},
        own,
        services,
        chores,
        _test_report(runtime, place),
        replace(found, command="", base_command=""),
        section(data, "auth"),
        str(section(data, "project").get("type") or ""),
        read_hints(data),
    )


def _with_commands(found: Start, start: str, base_start: str) -> Start | None:
    """The user's commands over the project's; without any, or with nothing to wait for, no server."""
    own = {found.command: found.origin, found.on(Side.BASE).command: found.base_origin}
    if base_start:
        found = replace(found, base_command=base_start, base_origin=own.get(base_start, Origin.OPTION))
    if start:
        given = own.get(start, Origin.OPTION)
        return replace(found, command=start, origin=given, base_command=base_start)
    return None if not found.command or found.readiness.type == "none" else found


def _test_report(runtime: Mapping[str, Any], path: Path) -> str:
    pattern = PurePosixPath(str(runtime.get("test_report") or ""))
    if pattern.is_absolute() or ".." in pattern.parts:
        raise UsageError(
            f"{path.name}: runtime.test_report {str(pattern)!r} leads out of the project",
            hint="name files relative to the project's root, such as build/reports/*.xml",
        )
    return "" if str(pattern) == "." else str(pattern)


def load(path: Path) -> dict[str, Any]:
    """The data of an environment.json."""
    try:
        data = parse(path.read_text(encoding="utf-8"))
    except (Ambiguous, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name}: {error}", hint="correct harness/environment.json") from error
    if not isinstance(data, dict):
        raise UsageError(f"{path.name} is not a JSON object", hint="correct harness/environment.json")
    return data


def _start(
    data: Mapping[str, Any], path: Path, services: tuple[Service, ...], chores: tuple[Chore, ...]
) -> Start:
    startup = section(data, "startup")
    command = startup.get("command") or section(data, "runtime").get("dev_command") or ""
    given = (startup.get("args") or []) if command else []
    arguments = given if isinstance(given, list | str) else [given]
    parts = (words(command, "startup.command", path), words(arguments, "startup.args", path))
    return Start(
        " ".join(filter(None, parts)),
        _working_dir(startup, path),
        {**_given(data), **texts(section(startup, "env"))},
        read_readiness(section(startup, "readiness"), path),
        chores,
        words(startup.get("base_command") or "", "startup.base_command", path),
        _ports(startup, path),
        services,
    )


def _given(data: Mapping[str, Any]) -> dict[str, str]:
    """The variables of server and checks alike."""
    return {**_required(data), **texts(section(section(data, "test_environment"), "env_vars"))}


def _working_dir(startup: Mapping[str, Any], path: Path) -> str:
    folder = PurePosixPath(str(startup.get("working_dir") or "."))
    if folder.is_absolute() or ".." in folder.parts:
        raise UsageError(
            f"{path.name}: startup.working_dir {str(folder)!r} leads out of the project",
            hint="name a folder relative to the project's root",
        )
    return str(folder)


def _ports(startup: Mapping[str, Any], path: Path) -> dict[str, int]:
    ports = section(startup, "ports")
    for name, number in ports.items():
        if not name.isidentifier() or type(number) is not int or not 0 <= number <= 65_535:
            raise UsageError(
                f"{path.name}: startup.ports.{name} is {number!r}",
                hint="a name, and a number of a port or 0 for any; {port.NAME} is filled in",
            )
    return dict(ports)


def _required(data: Mapping[str, Any]) -> dict[str, str]:
    required = section(section(data, "env_vars"), "required")
    listed = data.get("secrets") if isinstance(data.get("secrets"), list) else []
    named = {
        str(one.get("name")): one for one in listed or [] if isinstance(one, Mapping) and one.get("name")
    }
    usable = {
        name: entry
        for name, entry in {**named, **required}.items()
        if isinstance(entry, Mapping) and entry.get("test_value_ok")
    }
    return {name: str(entry.get("test_value", "")) for name, entry in usable.items()}
