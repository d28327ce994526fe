"""What stops a project from being verified, each with the one command that mends it."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness_executor.config import Settings
from harness_executor.errors import HarnessError
from harness_executor.evidence.knowing import Knower, know
from harness_executor.evidence.services.registry import find
from harness_executor.evidence.trying import started
from harness_executor.evidence.workbench import Bench, bench_over
from harness_executor.home import Home
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.choice import choose
from harness_executor.sandbox.process import watched_over
from harness_executor.workspace.detect.detection import detect
from harness_executor.workspace.detect.installed import lacking
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Project, as_project, environment_file, load
from harness_executor.workspace.sections import section


@frozen
class Finding:
    """One thing about a project."""

    name: str
    holds: bool
    seen: str
    fix: str = ""
    needed: bool = True


def look_at(home: Home, settings: Settings | None) -> Iterator[Finding]:
    """Everything a verification of this project needs; it is started if settings say in which box."""
    desk = home.desk("doctor")
    with watched_over(desk.path):
        try:
            yield from _look(home, desk, settings)
        finally:
            desk.clear()


def _look(home: Home, desk: Desk, settings: Settings | None) -> Iterator[Finding]:
    root = home.repository.root
    tree = home.repository.tree_of("HEAD")
    head = desk.export(tree, desk.path / root.name)
    yield _written(root, head)
    path = environment_file(head) or environment_file(root)
    try:
        data = load(path) if path else {}
        declared = as_project(data, path or root)
    except HarnessError as error:
        yield Finding("environment.json is read", holds=False, seen=error.message, fix=error.hint)
        return
    yield from _packages(root, head)
    yield from _variables(data, root, path)
    yield from _services(declared, root, settings.addresses if settings else {})
    if settings is None:
        yield Finding("start", holds=True, seen=_said(declared, data), needed=False)
        return
    yield _started(home, desk, tree, settings)


def _written(root: Path, head: Path) -> Finding:
    """Does the commit say how it is started? That is what counts, not the working tree."""
    here, there = environment_file(root), environment_file(head)
    name = "environment.json"
    if here is None and there is None:
        return Finding(
            name,
            holds=False,
            seen="there is none; the files of each base are tried",
            fix="`harness init`",
            needed=False,
        )
    if here is None:
        return Finding(name, holds=True, seen="committed")
    place = here.relative_to(root)
    commit = f"`git add {shlex.quote(str(place))} && git commit -m 'Say how the project is started'`"
    if there is None or there.relative_to(head) != place:
        return Finding(
            name,
            holds=False,
            seen=f"{place} is not committed, and bases are judged by their own",
            fix=commit,
            needed=False,
        )
    if here.read_bytes() != there.read_bytes():
        return Finding(
            name,
            holds=False,
            seen=f"{place} differs from the committed one, which counts",
            fix=commit,
            needed=False,
        )
    return Finding(name, holds=True, seen=f"{place}, committed")


def _packages(root: Path, head: Path) -> Iterator[Finding]:
    found = detect(head, project=root)
    lost = lacking(root, found.main) if found.main else None
    if lost:
        seen = f"not installed in {lost.where}: {', '.join(lost.packages)}"
        yield Finding("packages", holds=False, seen=seen, fix=f"`{lost.command}`")
    elif found.main and found.main.dependencies:
        yield Finding("packages", holds=True, seen="nothing is known to be missing")


def _variables(data: dict[str, Any], root: Path, path: Path | None) -> Iterator[Finding]:
    required = section(section(data, "env_vars"), "required")
    without = [
        name
        for name, entry in required.items()
        if not (isinstance(entry, dict) and entry.get("test_value_ok"))
    ]
    place = path.relative_to(root) if path and path.is_relative_to(root) else "harness/environment.json"
    for name in without:
        fix = f"give env_vars.required.{name} a test_value, and test_value_ok true, in {place}"
        yield Finding(f"variable {name}", holds=False, seen="required, and has no value for tests", fix=fix)


def _services(project: Project, root: Path, given: Mapping[str, str]) -> Iterator[Finding]:
    for service in project.services:
        if service.name in given:
            yield Finding(f"service {service.name}", holds=True, seen="at an address of yours")
            continue
        try:
            found = find(service, root)
        except HarnessError as error:
            yield Finding(
                f"service {service.name}",
                holds=False,
                seen=error.message,
                fix=error.hint,
                needed=service.required,
            )
        else:
            yield Finding(f"service {service.name}", holds=True, seen=", ".join(found.programs.values()))


def _said(project: Project, data: dict[str, Any]) -> str:
    kind = section(data, "project").get("type", "")
    if project.start:
        return f"{project.start.command} (not tried)"
    return "nothing to serve" if kind in ("cli", "library") else "not tried"


def _started(home: Home, desk: Desk, tree: str, settings: Settings) -> Finding:
    """Start the server of HEAD, as a verification would."""
    root = home.repository.root
    try:
        sandbox = choose(settings, root).sandbox()
        made = bench_over(desk, tree, sandbox, home.clock, lambda _: None)
        bench = replace(made, addresses=settings.addresses)
        knower = Knower(root, home.written, lambda: bench, addresses=settings.addresses)
        project = know(desk.path / root.name, knower)
        if project.start is None:
            return Finding("start", holds=True, seen="; ".join(project.notes) or "nothing to serve")
        return _tried(project, bench)
    except HarnessError as error:
        return Finding("start", holds=False, seen=error.message[-1500:], fix=error.hint)


def _tried(project: Project, bench: Bench) -> Finding:
    start = project.needed_start()
    with started(start, bench) as server:
        seen = f"{start.command}: ready in {server.ready_in:.1f} s"
    return Finding("start", holds=True, seen=seen)
