"""The environment.json of a project, from what was found and tried."""

import shlex
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.detection import Detection
from harness_executor.workspace.detect.values import Candidate, Kind, Service, Stack, Step, Variable

MAKER = "harness init"
_CHECKS = ("build", "test", "lint", "typecheck")


@frozen
class Choice:
    """The way to start that was taken, and what was seen of it."""

    candidate: Candidate | None = None
    steps: tuple[Step, ...] = ()
    readiness: Mapping[str, Any] = field(default_factory=dict)
    confirmed: bool = False
    said: str = ""
    """What trying it showed."""
    installs: bool = True
    """Does a program of its own install the packages, where a fresh copy finds them?"""
    services: tuple[Service, ...] | None = None
    """The services it was started with; without them, those that the files show to be needed."""
    fills: bool = True
    """Are files of SQL run in them first, where no step makes the tables?"""


def environment(found: Detection, choice: Choice, when: str = "") -> dict[str, Any]:
    """What is written into environment.json."""
    stack = found.stack_of(choice.candidate) if choice.candidate else found.main
    data: dict[str, Any] = {
        "version": "2.0",
        "generated_by": MAKER,
        "generated_at": when,
        "project": _project(found, stack, choice),
        "runtime": _runtime(stack, choice) if stack else {},
    }
    if choice.candidate and stack:
        needed = choice.services
        if needed is None:
            needed = tuple(service for service in found.services(stack) if service.required)
        data["startup"] = _startup(choice.candidate, choice)
        data["services"] = [_service(service, found.schemas(stack), choice) for service in needed]
        data["env_vars"] = _variables(stack, needed, choice.candidate)
        data["ports"] = {"server": choice.candidate.port.number} if choice.candidate.port.number else {}
    elif stack:
        data["entry_points"] = [
            {"name": entry.name, "command": entry.command} for entry in stack.entries[:20]
        ]
        data["imports"] = list(stack.imports[:10])
        data |= {"startup": {"build": True}} if stack.making else {}
    if stack and stack.made:
        written = [within(stack.folder, _version_file(name)) for name in stack.made]
        data["test_environment"] = {"setup_commands": written}
    data["_meta"] = _meta(found, stack, choice)
    return data


def _version_file(name: str) -> str:
    """The command that writes a version where an installation would have."""
    lines = ("__version__ = version = '0.0.0'", "__version_tuple__ = version_tuple = (0, 0, 0)")
    text = " ".join(f'"{line}"' for line in lines)
    return f"test -e {name} || printf '%s\\n' {text} > {name}"


def _project(found: Detection, stack: Stack | None, choice: Choice) -> dict[str, Any]:
    kind = choice.candidate.kind if choice.candidate else found.kind
    if not choice.candidate and kind in (Kind.SERVER, Kind.FRONTEND):
        kind = Kind.LIBRARY
    name = (stack.name if stack else "") or found.root.name
    framework = (choice.candidate.framework if choice.candidate else "") or (stack.framework if stack else "")
    return {
        "name": name,
        "type": kind.value,
        "language": stack.language if stack else "",
        "description": stack.description if stack else "",
        "framework": framework,
    }


def _runtime(stack: Stack, choice: Choice) -> dict[str, Any]:
    commands = stack.commands
    data: dict[str, Any] = {
        "language": stack.language,
        "version": stack.version,
        "package_manager": stack.package_manager,
    }
    if commands.install and choice.installs:
        data["install_command"] = within(stack.folder, commands.install)
    for name in _CHECKS:
        command = getattr(commands, name)
        if name == "build":
            command = (choice.candidate.build if choice.candidate else stack.making) or command
        if command:
            data[f"{name}_command"] = within(stack.folder, command)
    return data


def _startup(candidate: Candidate, choice: Choice) -> dict[str, Any]:
    data: dict[str, Any] = {
        "command": candidate.command,
        "working_dir": candidate.folder,
        "env": dict(candidate.env),
    }
    if candidate.build:
        data["build"] = True
    if choice.steps:
        data["steps"] = [_step(step, candidate.folder) for step in choice.steps]
    readiness = dict(choice.readiness) or {"type": "tcp", "config": {}}
    if candidate.fixed_port:
        readiness["config"] = {**readiness.get("config", {}), "port": candidate.fixed_port}
    data["readiness"] = readiness
    return data


def _step(step: Step, folder: str) -> dict[str, Any]:
    inputs = {"inputs": list(step.inputs)} if step.inputs and folder == "." else {}
    marks = {mark: True for mark in ("clears", "lingers") if getattr(step, mark)}
    return {"name": step.name, "command": within(folder, step.command), **inputs, **marks}


def _service(service: Service, schemas: tuple[str, ...], choice: Choice) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": service.name,
        "type": service.type,
        "required": service.required,
        "purpose": "; ".join(service.reasons),
        "connection": dict(service.connection),
    }
    is_sql = service.type in ("postgresql", "mysql", "mariadb")
    if is_sql and schemas and choice.fills and not choice.steps:
        data["setup"] = {"sql": list(schemas)}
    return data


def _variables(stack: Stack, needed: tuple[Service, ...], candidate: Candidate) -> dict[str, Any]:
    told = {name for service in needed if service.required for name in _places(service)}
    lost = [_places(service) for service in needed if not service.required]
    dead = {name: value for places in lost for name, value in places.items()}
    more = {name: _address(service) for service in needed for name in service.more}
    taken = told | set(candidate.env)
    left = [
        replace(
            variable,
            required=variable.required or variable.name in more,
            test_value=more.get(variable.name) or dead.get(variable.name) or variable.test_value,
        )
        for variable in stack.variables
        if variable.name not in taken
    ]
    return {
        "required": {one.name: _required(one) for one in left if one.required},
        "optional": {one.name: _optional(one) for one in left if not one.required},
    }


def _address(service: Service) -> str:
    """The address of a service: filled in when it runs, and one that reads well where it does not."""
    usual = str(service.connection.get("default_url", ""))
    return f"{{service.{service.name}.url}}" if service.required else usual


def _places(service: Service) -> dict[str, str]:
    """The variables that tell where a service is, each with what it says when nobody runs it."""
    usual = {
        "url_env": str(service.connection.get("default_url", "")),
        "port_env": str(service.connection.get("default_port", "")),
        "host_env": "127.0.0.1",
    }
    return {
        str(name): usual.get(part, "") for part, name in service.connection.items() if part.endswith("_env")
    }


def _required(variable: Variable) -> dict[str, Any]:
    return {
        "purpose": variable.purpose,
        "sensitive": variable.sensitive,
        "test_value_ok": True,
        "test_value": variable.test_value,
    }


def _optional(variable: Variable) -> dict[str, Any]:
    default = {} if variable.sensitive else {"default": variable.default}
    return {"purpose": variable.purpose, "sensitive": variable.sensitive, **default}


def _meta(found: Detection, stack: Stack | None, choice: Choice) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "confirmed": choice.confirmed,
        "tried": choice.said,
        "candidates": [_candidate(one) for one in found.candidates[:8]],
        "notes": list(found.notes),
    }
    if stack:
        extra = [service for service in found.services(stack) if not service.required]
        meta["optional_services"] = [{"name": one.name, "type": one.type} for one in extra]
        seed = found.seed(stack)
        if seed:
            meta["seed_command"] = within(stack.folder, seed)
    return meta


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "command": candidate.command,
        "working_dir": candidate.folder,
        "score": candidate.score,
        "reasons": list(candidate.reasons),
        "port": candidate.port.place.value,
    }


def within(folder: str, command: str) -> str:
    """A command that is run in a folder of the project."""
    return command if folder == "." else f"cd {shlex.quote(folder)} && {command}"
