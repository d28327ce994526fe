"""Everything found of a project, put together: the programs, the ways to start them, which one is meant."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from harness_executor.errors import UsageError
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect import (
    jsdatabases,
    migrations,
    node,
    nodepartners,
    others,
    python,
    unbuilt,
)
from harness_executor.workspace.detect.declared import declared, started, supported
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.services import services
from harness_executor.workspace.detect.unit import Unit, is_below, is_decoy, units
from harness_executor.workspace.detect.values import Candidate, Kind, Place, Service, Stack, Step
from harness_executor.workspace.detect.variables import example_values, merged

LEAST = 40
"""A way to start that scores less is not meant."""
SURE = 72
"""What a way to start must score in a project whose installation brings a command."""
MOST_CANDIDATES = 40
_SERVED = ("python", "node", "typescript", "go")
"""Languages whose servers are looked for."""
ENVIRONMENTS = (".venv", "venv", "env")
_LIKED = {"backend": 8, "api": 8, "server": 8, "service": 4, "app": 3, "core": 2, "gateway": 3}
_DISLIKED = {
    "frontend": -8,
    "web": -3,
    "client": -8,
    "ui": -8,
    "admin": -6,
    "mobile": -14,
    "packages": -6,
    "worker": -6,
    "libs": -6,
    "lib": -6,
    "landing": -8,
    "website": -8,
}


@frozen
class Detection:
    """A project, as its files show it."""

    root: Path
    stacks: tuple[Stack, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """Every way to start a server, the best first."""
    notes: tuple[str, ...] = ()
    files: Files | None = None
    app: str = "."
    project: Path | None = None
    """Where its packages are."""

    @property
    def main(self) -> Stack | None:
        """The program that is meant."""
        if self.candidates:
            return self.stack_of(self.candidates[0])
        return next(iter(self.stacks), None)

    @property
    def kind(self) -> Kind:
        """What the project is for."""
        if self.candidates:
            return self.candidates[0].kind
        return Kind.CLI if self.main and self.main.entries else Kind.LIBRARY

    def stack_of(self, candidate: Candidate) -> Stack:
        """The program that a candidate starts."""
        key = (candidate.command, candidate.folder, candidate.source)
        owners = [stack for stack in self.stacks if is_below(f"{candidate.folder}/x", stack.folder)]
        exact = [
            stack
            for stack in self.stacks
            if key in {(one.command, one.folder, one.source) for one in stack.candidates}
        ]
        return max(
            exact or owners or self.stacks, key=lambda stack: len(stack.folder) * (stack.folder != ".")
        )

    def services(self, stack: Stack) -> tuple[Service, ...]:
        """What a program talks to."""
        return services(nodepartners.widened(self._unit(stack)), stack)

    def steps(self, stack: Stack, candidate: Candidate) -> tuple[Step, ...]:
        """What may have to be done before a candidate is started."""
        found = migrations.steps(self._unit(stack), stack, candidate)
        python_ = interpreter(self.project or self.root, candidate.folder, stack.folder)
        return tuple(replace(step, command=step.command.replace("{python}", python_)) for step in found)

    def build(self, stack: Stack, said: str) -> str:
        """What makes the files that it ended for want of."""
        return unbuilt.build(self._unit(stack), said)

    def seed(self, stack: Stack) -> str:
        """What fills its database with examples."""
        return migrations.seeds(self._unit(stack), stack)

    def schemas(self, stack: Stack) -> tuple[str, ...]:
        """Files of SQL that make its tables."""
        return migrations.schemas(self._unit(stack))

    def examples(self, stack: Stack) -> dict[str, str]:
        """What its example files set."""
        unit = nodepartners.widened(self._unit(stack))
        return example_values(unit.files, unit.above())

    def _unit(self, stack: Stack) -> Unit:
        files = self.files or Files(self.root)
        return next(unit for unit in units(files) if unit.folder == stack.folder)


def detect(tree: Path, *, project: Path | None = None, app: str = "") -> Detection:
    """What a tree of files is; project is where its packages are, app a folder of it that is meant."""
    files = Files(tree)
    wanted = _wanted(files, app)
    looked = (stack for unit in units(files) for stack in _look(unit, wanted))
    stacks = tuple(_finished(stack, project or tree) for stack in looked)
    ranked = sorted(_ranked(stacks, wanted), key=lambda candidate: -candidate.score)
    if not ranked and all(is_decoy(f"{stack.folder}/x", wanted) for stack in stacks):
        ranked = sorted(_ranked(stacks, wanted, penalty=0), key=lambda candidate: -candidate.score)
    best = tuple(_once(_pages_last(ranked)))[:MOST_CANDIDATES]
    plain = tuple(_ordered(stacks, wanted))
    notes = (*_notes(plain, best), *files.notes)
    return Detection(tree, plain, best, notes, files, wanted, project or tree)


def interpreter(project: Path, folder: str, program: str = "") -> str:
    """The Python of the nearest virtual environment, as a command in a folder names it.

    The folder that imports begin at may lie above that of the program, where its environment is.
    """
    place = max(PurePosixPath(folder), PurePosixPath(program), key=lambda one: len(one.parts))
    for above in (place, *place.parents):
        for name in ENVIRONMENTS:
            if os.access(project / above / name / "bin" / "python", os.X_OK):
                return os.path.relpath(f"/{above}/{name}/bin/python", f"/{folder}")
    return "python3"


def _wanted(files: Files, app: str) -> str:
    place = str(PurePosixPath(app or ".")).removeprefix("./")
    if place == ".":
        return "."
    if files.has(place):
        place = str(PurePosixPath(place).parent)
    if place not in files.folders:
        raise UsageError(
            f"there is no folder {app!r} with files in this project", hint="name one with --app PATH"
        )
    return place


def _look(unit: Unit, wanted: str) -> Iterable[Stack]:
    inner = unit.folder if is_decoy(f"{unit.folder}/x", wanted) else wanted
    found = [stack for stack in (python.look(unit, inner), node.look(unit, inner)) if stack]
    if not found:
        other = others.look(unit, inner)
        found = [other] if other else []
    named, wide = declared(unit), nodepartners.widened(unit)
    for stack in found:
        more = [*stack.candidates]
        if stack.language == "python":
            said = (one for one in started(unit, named) if _is_module(unit, one))
            more += [replace(one, framework=one.framework or stack.framework) for one in said]
        yield replace(
            stack,
            candidates=tuple(supported(more, named)),
            variables=jsdatabases.spoken(merged(wide, stack.variables), stack.dependencies | stack.lent),
        )


def _is_module(unit: Unit, candidate: Candidate) -> bool:
    """Does a command that another file names lead to a module that is there?"""
    words = [word for word in candidate.command.split() if ":" in word and not word.startswith("127.")]
    head = words[0].partition(":")[0].replace(".", "/") if words else ""
    return bool(head) and (unit.has(f"{head}.py") or unit.has(f"{head}/__init__.py"))


def _ranked(stacks: tuple[Stack, ...], wanted: str, penalty: int = 60) -> Iterable[Candidate]:
    for stack in stacks:
        for candidate in stack.candidates:
            source = candidate.source or f"{candidate.folder}/x"
            if not is_below(source, wanted) and not is_below(f"{candidate.folder}/x", wanted):
                continue
            score = candidate.score + _standing(candidate.folder, wanted)
            if is_decoy(source, wanted) or is_decoy(f"{candidate.folder}/x", wanted):
                score -= penalty
            has_command = any(entry.installed for entry in stack.entries)
            is_doubtful = has_command and candidate.port.place is not Place.OPTION
            if score >= (SURE if is_doubtful else LEAST):
                yield replace(candidate, score=score)


def _pages_last(ranked: list[Candidate]) -> list[Candidate]:
    """Every way to start the server that is meant comes before the pages for browsers beside it."""
    first = next(iter(ranked), None)
    if first is None or first.kind is Kind.FRONTEND:
        return ranked
    return sorted(ranked, key=lambda one: one.kind is Kind.FRONTEND and one.folder != first.folder)


def _standing(folder: str, wanted: str) -> int:
    inner = folder if wanted == "." else folder.removeprefix(wanted).strip("/")
    parts = [part.lower() for part in PurePosixPath(inner).parts]
    known = {**_LIKED, **_DISLIKED}
    words = [word for part in parts for word in (part, *part.replace("_", "-").split("-"))]
    deep = [part for part in parts if part not in ("src", "app", "apps", "py", "python", "services")]
    return sum(known.get(word, 0) for word in dict.fromkeys(words)) - 3 * len(deep)


def _ordered(stacks: tuple[Stack, ...], wanted: str) -> list[Stack]:
    inside = [stack for stack in stacks if is_below(f"{stack.folder}/x", wanted)] or list(stacks)
    return sorted(
        inside,
        key=lambda stack: (
            is_decoy(f"{stack.folder}/x", wanted),
            stack.folder.count("/"),
            stack.folder != ".",
        ),
    )


def _finished(stack: Stack, project: Path) -> Stack:
    """A program whose commands name the interpreter that they use."""
    own = interpreter(project, stack.folder)
    commands = replace(
        stack.commands,
        test=stack.commands.test.replace("{python}", own),
        lint=stack.commands.lint.replace("{python}", own),
        typecheck=stack.commands.typecheck.replace("{python}", own),
    )
    entries = tuple(replace(entry, command=entry.command.replace("{python}", own)) for entry in stack.entries)
    folders = {one.folder for one in stack.candidates}
    pythons = {folder: interpreter(project, folder, stack.folder) for folder in folders}
    candidates = tuple(
        replace(one, command=one.command.replace("{python}", pythons[one.folder])) for one in stack.candidates
    )
    return replace(stack, commands=commands, entries=entries, candidates=candidates)


def _once(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    seen: set[tuple[str, str, str]] = set()
    for candidate in candidates:
        key = (candidate.command, candidate.folder, str(sorted(candidate.env.items())))
        if key not in seen:
            seen.add(key)
            yield candidate


def _notes(stacks: tuple[Stack, ...], candidates: tuple[Candidate, ...]) -> Iterable[str]:
    folders = dict.fromkeys(candidate.folder for candidate in candidates)
    if len(folders) > 1:
        listed = ", ".join(folders)
        yield f"there are servers in {listed}; the first is meant unless --app names another"
    if not candidates:
        yield _without_server(stacks)


def _without_server(stacks: tuple[Stack, ...]) -> str:
    """Why there is nothing to start: what can be said of languages whose servers are known."""
    more = "if a server is meant, say how it starts: `harness verify --start 'COMMAND {port}'`"
    listens = next((one.reasons[0] for stack in stacks for one in stack.candidates if one.reasons), "")
    if listens and any(stack.entries for stack in stacks):
        return f"it is taken for a command, though {listens}; {more}"
    if any(stack.language in _SERVED for stack in stacks):
        return "nothing in this project starts a server"
    languages = ", ".join(dict.fromkeys(stack.language for stack in stacks))
    return f"how a server of {languages or 'this project'} is started is not known; {more}"
