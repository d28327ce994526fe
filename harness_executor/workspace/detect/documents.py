"""The pages that a project lacks, from what was found: a map for people and coding agents, no boilerplate."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from harness_executor.workspace.detect.detection import Detection
from harness_executor.workspace.detect.unit import is_below, is_decoy
from harness_executor.workspace.detect.values import Route, Stack

_SAID = {
    "tests": "tests",
    "test": "tests",
    "__tests__": "tests",
    "spec": "tests",
    "docs": "documentation",
    "migrations": "migrations of the database",
    "alembic": "migrations of the database",
    "prisma": "the schema of the database",
    "scripts": "scripts for developers",
    "templates": "templates of pages",
    "static": "files served as they are",
    "public": "files served as they are",
    "routes": "routes",
    "routers": "routes",
    "controllers": "what answers requests",
    "views": "what answers requests",
    "models": "what is kept in the database",
    "schemas": "the shapes of data",
    "services": "what the program does",
    "middleware": "what every request passes through",
    "config": "settings",
    "examples": "examples",
    "frontend": "the pages for browsers",
    "backend": "the server",
    "packages": "packages of the workspace",
    "apps": "programs of the workspace",
    "bin": "commands",
    "src": "the code",
    "lib": "the code",
    "harness": "how the harness starts and checks this project",
}
_CHECKS = {
    "install_command": "install what it needs",
    "build_command": "build",
    "test_command": "test",
    "lint_command": "lint",
    "typecheck_command": "check types",
}
Data = Mapping[str, Any]


def agents(found: Detection, data: Data) -> str:
    """AGENTS.md: what this is, its commands, its map, how it is started and proved."""
    parts = [
        f"# {_name(data)}",
        _about(data),
        "## Commands",
        _commands(data),
        "## Map",
        _map(found),
        *_entry(data),
        *_server(data),
        *_routes(found),
        "## How a change is proved",
        "`harness verify --base main --scenarios FILE` starts the code before and after a change, and sends\n"
        "the requests of a scenario file to both. `harness/environment.json` says how it is started.",
        "## Before you hand over",
        _before(data),
        "More: [docs/ARCHITECTURE.md](docs/ARCHITECTURE.md) and [docs/DEVELOPMENT.md](docs/DEVELOPMENT.md).",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def architecture(found: Detection, data: Data) -> str:
    """docs/ARCHITECTURE.md: the programs, their folders, their routes and what they talk to."""
    parts = [
        f"# Architecture of {_name(data)}",
        _about(data),
        "## Programs",
        _programs(found),
        "## Folders",
        _map(found),
    ]
    stack = found.main
    if stack and stack.routes:
        parts += ["## Routes", _listed_routes(stack.routes, 60)]
    parts += _services(data)
    return "\n\n".join(part for part in parts if part) + "\n"


def development(found: Detection, data: Data) -> str:
    """docs/DEVELOPMENT.md: install, start, check, variables."""
    parts = [f"# Working on {_name(data)}", "## Commands", _commands(data), *_server(data), *_services(data)]
    variables = data.get("env_vars") or {}
    rows = [
        f"| `{name}` | {'yes' if kind == 'required' else 'no'} | {entry.get('purpose', '')} |"
        for kind in ("required", "optional")
        for name, entry in (variables.get(kind) or {}).items()
    ]
    if rows:
        parts += [
            "## Environment variables",
            "\n".join(["| name | required | |", "|---|---|---|", *rows[:60]]),
        ]
    if found.notes:
        parts += ["## Notes", "\n".join(f"- {note}" for note in found.notes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _name(data: Data) -> str:
    return str(data["project"]["name"]) or "this project"


def _about(data: Data) -> str:
    project, runtime = data["project"], data.get("runtime") or {}
    made = " with ".join(part for part in (project["language"], project["framework"]) if part)
    kind = {"web-api": "A web API", "frontend": "A web page", "cli": "A command-line program"}.get(
        project["type"], "A library"
    )
    manager = (
        f"; packages are installed by {runtime['package_manager']}" if runtime.get("package_manager") else ""
    )
    said = f"{kind}{f', written in {made}' if made else ''}{manager}."
    return f"{project['description']}\n\n{said}" if project["description"] else said


def _commands(data: Data) -> str:
    runtime, startup = data.get("runtime") or {}, data.get("startup") or {}
    rows = [(str(runtime[key]), said) for key, said in _CHECKS.items() if runtime.get(key)]
    rows += [(str(step["command"]), step.get("name", "")) for step in startup.get("steps") or []]
    if startup.get("command"):
        place = "" if startup.get("working_dir") in (".", None) else f"cd {startup['working_dir']} && "
        given = "".join(f"{name}={value} " for name, value in (startup.get("env") or {}).items() if value)
        rows.append((place + given + str(startup["command"]), "start; {port} is any free port"))
    if not rows:
        return "No command was found in its files."
    width = min(60, max(len(command) for command, _ in rows))
    return "```sh\n" + "\n".join(f"{command:<{width}}  # {said}" for command, said in rows) + "\n```"


def _map(found: Detection) -> str:
    rows = list(_places(found))[:40]
    width = max((len(name) for name, _ in rows), default=0)
    return "```text\n" + "\n".join(f"{name:<{width}}  {said}".rstrip() for name, said in rows) + "\n```"


def _places(found: Detection) -> Iterator[tuple[str, str]]:
    files = found.files
    if files is None:
        return
    stack = found.main
    known = {candidate.source: "the server starts here" for candidate in reversed(found.candidates[:3])}
    top = sorted({name.split("/")[0] + "/" for name in files.names if "/" in name})
    for folder in top:
        if not folder.startswith("."):
            count = sum(1 for name in files.names if name.startswith(folder))
            yield (
                folder,
                f"{_SAID.get(folder.rstrip('/'), '')} ({count} file{'s' if count > 1 else ''})".strip(),
            )
    for name in files.names:
        if name in known and not is_decoy(name):
            yield name, known[name]
        elif (
            "/" not in name
            and name.endswith((".py", ".js", ".ts", ".toml", ".json", ".mjs", ".go"))
            and "lock" not in name
        ):
            yield name, ""
    if stack and stack.folder != ".":
        inner = {
            name.removeprefix(f"{stack.folder}/").split("/")[0]
            for name in files.names
            if is_below(name, stack.folder)
        }
        yield from (
            (f"{stack.folder}/{name}", _SAID.get(name, ""))
            for name in sorted(inner)[:15]
            if not name.startswith(".")
        )


def _entry(data: Data) -> Iterator[str]:
    entries = data.get("entry_points") or []
    if entries:
        yield "## Entry points"
        yield "\n".join(f"- `{entry['name']}`: `{entry['command']}`" for entry in entries[:15])
    if data.get("imports"):
        yield "It is imported as " + ", ".join(f"`{name}`" for name in data["imports"][:5]) + "."


def _server(data: Data) -> Iterator[str]:
    startup = data.get("startup") or {}
    if not startup.get("command"):
        return
    readiness = startup.get("readiness") or {}
    config = readiness.get("config") or {}
    port = config.get("port")
    taken = (
        f"It listens on port {port}, which is fixed in the code."
        if port
        else "It listens on any port that it is given."
    )
    ready = (
        f"It is ready when `GET {config['endpoint']}` answers {config.get('expected_status', '2xx')}."
        if config.get("endpoint")
        else "It is ready when it listens."
    )
    needed = ", ".join(f"`{name}`" for name in ((data.get("env_vars") or {}).get("required") or {}))
    yield "## The server"
    yield " ".join(
        part for part in (taken, ready, f"It needs these variables: {needed}." if needed else "") if part
    )
    yield from _services(data, "It talks to")


def _services(data: Data, said: str = "It talks to") -> Iterator[str]:
    services = data.get("services") or []
    if services:
        yield "\n".join(
            f"- {said} {service['type']} (`{service['name']}`): {service.get('purpose', '')}"
            for service in services
        )


def _routes(found: Detection) -> Iterator[str]:
    stack = found.main
    if stack and stack.routes and found.candidates:
        yield "## Routes"
        yield _listed_routes(stack.routes, 20)


def _listed_routes(routes: Iterable[Route], most: int) -> str:
    direct = [route for route in routes if route.file]
    firsts = {(route.file, route.method, route.path.rsplit("/", 1)[-1]): route for route in reversed(direct)}
    rows = [f"- `{route.method} {route.path}` in {route.file}" for route in reversed(list(firsts.values()))]
    more = f"\n- and {len(rows) - most} more" if len(rows) > most else ""
    return "As written in the code; routers may put them under a prefix.\n\n" + "\n".join(rows[:most]) + more


def _programs(found: Detection) -> str:
    return (
        "\n".join(_program(stack) for stack in found.stacks[:20] if not is_decoy(f"{stack.folder}/x"))
        or "None was found."
    )


def _program(stack: Stack) -> str:
    made = " with ".join(part for part in (stack.language, stack.framework) if part)
    place = "the root" if stack.folder == "." else f"`{PurePosixPath(stack.folder)}`"
    return f"- {stack.name or place}: {made}, in {place}" + (
        f". {stack.description}" if stack.description else ""
    )


def _before(data: Data) -> str:
    runtime = data.get("runtime") or {}
    checks = [
        f"`{runtime[key]}`"
        for key in ("lint_command", "typecheck_command", "test_command")
        if runtime.get(key)
    ]
    rows = [f"{' and '.join(checks)} must not be worse than before."] if checks else []
    rows += ["Nothing of the routes above changes for a client unless that is what was asked for."]
    rows += ["No secrets and no generated files are committed."]
    return "\n".join(f"{number}. {row}" for number, row in enumerate(rows, 1))
