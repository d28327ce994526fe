"""A Python program: what it is made with, and how it can be started."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from harness_executor.workspace.detect import (
    pyapps,
    pydatabases,
    pydjango,
    pypackages,
    pypaste,
    pyroutes,
    pyvars,
)
from harness_executor.workspace.detect.pyservers import Module, candidates
from harness_executor.workspace.detect.pysource import Source, assigned, is_main, parse_source
from harness_executor.workspace.detect.routes import composed
from harness_executor.workspace.detect.unit import Unit, is_decoy
from harness_executor.workspace.detect.values import Candidate, Entry, Place, Port, Route, Stack, Variable

MOST_SOURCES = 1500
_FRAMEWORKS = (
    "django",
    "fastapi",
    "flask",
    "litestar",
    "starlette",
    "aiohttp",
    "sanic",
    "quart",
    "tornado",
    "falcon",
    "bottle",
    "pyramid",
)
_CLI_FRAMEWORKS = ("click", "typer", "cyclopts", "fire", "docopt")
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_MANAGES = re.compile(r"django\.core\.management|configurations\.management")
_CLI = ("click", "typer", "argparse", "fire", "docopt", "cyclopts", "optparse")


def look(unit: Unit, wanted: str = ".") -> Stack | None:
    """What a unit is, if it is written in Python."""
    sources = tuple(_sources(unit, wanted))
    manifests = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "manage.py")
    if not sources and not any(unit.has(name) for name in manifests[:3]):
        return None
    known = pypackages.packages(unit)
    modules = tuple(_modules(unit, sources))
    found = [candidate for module in modules for candidate in candidates(unit, module, known)]
    found += [*_django(unit), *pypaste.candidates(unit, known)]
    name, said = pypackages.described(unit)
    chosen = max(found, key=lambda candidate: candidate.score, default=None)
    return Stack(
        folder=unit.folder,
        language="python",
        package_manager=pypackages.package_manager(unit),
        version=pypackages.version(unit),
        framework=chosen.framework if chosen else _used(sources, known),
        name=name,
        description=said,
        dependencies=known,
        needed=pypackages.needed(unit),
        commands=pypackages.checks(unit, known),
        candidates=tuple(found),
        routes=_routes(sources),
        variables=tuple(_variables(sources)),
        entries=tuple(_entries(unit, sources, known)),
        imports=_import_names(unit),
        made=tuple(pypackages.version_files(unit)),
        addresses=tuple(dict.fromkeys(one for source in sources for one in pydatabases.addresses(source)))[
            :20
        ],
    )


def _used(sources: tuple[Source, ...], known: frozenset[str]) -> str:
    """The framework that the code of a program without a server imports."""
    heads = {name.split(".")[0] for source in sources for name in source.imported}
    return next((one for one in (*_CLI_FRAMEWORKS, *_FRAMEWORKS) if one in heads and one in known), "")


def _sources(unit: Unit, wanted: str) -> Iterator[Source]:
    names = [name for name in unit.names if name.endswith(".py") and not _is_test(name)]
    for name in [name for name in names if not is_decoy(name, wanted)][:MOST_SOURCES]:
        source = parse_source(name, unit.files.text(name)) if not _migrates(unit, name) else None
        if source:
            yield source


def _migrates(unit: Unit, name: str) -> bool:
    """Is it the file that Alembic runs, which may make the application to find its tables?"""
    place = PurePosixPath(name)
    return place.name == "env.py" and unit.files.has(str(place.with_name("script.py.mako")))


def _is_test(name: str) -> bool:
    last = PurePosixPath(name).name
    return (
        last.startswith(("test_", "conftest"))
        or last.endswith("_test.py")
        or last in ("setup.py", "noxfile.py", "tests.py")
    )


def _modules(unit: Unit, sources: tuple[Source, ...]) -> Iterator[Module]:
    makers = {made.name: made.framework for source in sources for made in pyapps.factories(source)}
    more = [one for source in sources for one in pyapps.factories(source, makers)]
    makers |= {made.name: made.framework for made in more} | pyapps.subclasses(sources) | pyapps.held(sources)
    objects: dict[str, str] = {}
    for source in sources:
        objects |= {app.name: app.framework for app in pyapps.apps(source, makers)}
    for source in sources:
        apps = tuple(pyapps.apps(source, makers))
        names = {app.name: app.framework for app in apps} | _imported(source, objects)
        names |= _local(source, makers)
        folder, name = _place(unit, source)
        servings = tuple(pyapps.servings(source, names, makers))
        yield Module(
            source,
            folder,
            name,
            unit.folder,
            apps,
            tuple(pyapps.factories(source, makers)),
            servings,
            sum(1 for _ in pyroutes.routes(source)),
            _may_serve(source, servings),
        )


def _may_serve(source: Source, servings: tuple[pyapps.Serving, ...]) -> bool:
    """Is it a program, rather than a module that somebody imports?"""
    has_main = any(is_main(node) for node in source.tree.body)
    return has_main or source.path.endswith("__main__.py") or _serves_at_once(source, servings)


def _serves_at_once(source: Source, servings: tuple[pyapps.Serving, ...]) -> bool:
    """Does it serve when it is imported: at its end, or by a call there of what it defines?"""
    last = [node for node in source.tree.body[-3:] if isinstance(node, ast.Expr | ast.With | ast.Try)]
    own = {one.name for one in source.tree.body if isinstance(one, _DEFINITIONS)}
    named = {part.id for node in last for part in ast.walk(node) if isinstance(part, ast.Name)}
    return bool(last) and (bool(own & named) or any(not one.function for one in servings))


def _imported(source: Source, objects: dict[str, str]) -> dict[str, str]:
    """Applications of other files, by the full names that they have in this one."""
    return {
        full: objects[full.rsplit(".", 1)[-1]]
        for full in source.aliases.values()
        if full.rsplit(".", 1)[-1] in objects
    }


def _local(source: Source, makers: dict[str, str]) -> dict[str, str]:
    """Applications that are made within functions or under `__main__`."""
    return {
        name: framework
        for node in source.nodes
        for name, value in assigned(node)
        if (framework := pyapps.framework_of(source, value, makers))
    }


def _place(unit: Unit, source: Source) -> tuple[str, str]:
    """The folder that the imports of a file begin at, and the name of the file from there."""
    path = PurePosixPath(source.path)
    above = [str(folder) for folder in path.parents]
    top = _package_top(unit, path)
    heads = {name.split(".")[0] for name in source.imported if not name.startswith(".")}
    heads -= sys.stdlib_module_names
    scores = {folder: sum(_offers(unit, folder, head) for head in heads) for folder in above}
    most = max(scores.values(), default=0)
    liked = [folder for folder in above if scores[folder] == most]
    folder = top if top in liked or not most else liked[0]
    inner = path.relative_to(folder).with_suffix("")
    parts = inner.parts[:-1] if inner.name == "__init__" else inner.parts
    return folder, ".".join(parts)


def _package_top(unit: Unit, path: PurePosixPath) -> str:
    """The folder above the outermost package that a file belongs to."""
    folder = path.parent
    while str(folder) != "." and unit.files.has(f"{folder}/__init__.py"):
        folder = folder.parent
    return str(folder)


def _offers(unit: Unit, folder: str, head: str) -> bool:
    place = head if folder == "." else f"{folder}/{head}"
    return unit.files.has(f"{place}.py") or place in unit.files.folders


def _django(unit: Unit) -> list[Candidate]:
    found: list[Candidate] = []
    for name in unit.names:
        if PurePosixPath(name).name == "manage.py" and _MANAGES.search(unit.files.text(name)):
            folder = str(PurePosixPath(name).parent)
            command = "{python} manage.py runserver 127.0.0.1:{port} --noreload"
            reasons = (f"{name} is the program of a Django project",)
            port = Port(Place.OPTION, 8000, "runserver")
            score = 92 - 2 * name.count("/")
            found.append(Candidate(command, score, reasons, folder, "django", {}, port, source=name))
            found += _other_settings(unit, folder, score)
    return found


def _other_settings(unit: Unit, folder: str, score: int) -> Iterator[Candidate]:
    """Settings for developers, where a project has several."""
    for name in unit.names:
        place = PurePosixPath(name)
        is_one = "settings" in place.parts[-2:-1] and place.stem in (
            "local",
            "dev",
            "development",
            "test",
            "testing",
        )
        if is_one and place.is_relative_to(folder):
            module = ".".join(place.relative_to(folder).with_suffix("").parts)
            yield Candidate(
                "{python} manage.py runserver 127.0.0.1:{port} --noreload",
                score - 6,
                (f"{name} has settings for {place.stem}",),
                folder,
                "django",
                {"DJANGO_SETTINGS_MODULE": module},
                Port(Place.OPTION, 8000, "runserver"),
                source=name,
            )


def _routes(sources: tuple[Source, ...]) -> tuple[Route, ...]:
    prefixes = [prefix for source in sources for prefix in pyroutes.included(source) if prefix]
    return composed([route for source in sources for route in pyroutes.routes(source)], prefixes)


def _variables(sources: tuple[Source, ...]) -> Iterator[Variable]:
    settings = pyvars.settings_classes(sources)
    for source in sources:
        yield from pyvars.variables(source, settings)
        yield from pydjango.variables(source)


def _entries(unit: Unit, sources: tuple[Source, ...], known: frozenset[str]) -> Iterator[Entry]:
    yield from pypackages.entries(unit)
    tools = set(_CLI) & (known | {"argparse", "optparse"})
    for source in sources:
        heads = {name.split(".")[0] for name in source.imported}
        inner = unit.inner(source.path)
        if inner.endswith("__main__.py"):
            folder, name = _place(unit, source)
            run = f"{{python}} -m {name.removesuffix('.__main__')}"
            at = unit.inner(folder) if folder != unit.folder else ""
            yield Entry(
                name.split(".")[0], f"PYTHONPATH={at} {run}" if at else run, f"{source.path} is a program"
            )
        elif any(is_main(node) for node in source.tree.body) and (heads & tools or inner.count("/") == 0):
            yield Entry(PurePosixPath(inner).stem, f"{{python}} {inner}", f"{source.path} is a program")


def _import_names(unit: Unit) -> tuple[str, ...]:
    """The packages and modules that others import."""
    found: list[str] = []
    for prefix in ("src/", ""):
        for name in unit.names:
            inner = unit.inner(name)
            rest = inner.removeprefix(prefix)
            if inner.startswith(prefix) and rest.endswith("/__init__.py") and rest.count("/") == 1:
                found.append(rest.split("/")[0])
    alone = [
        unit.inner(name)[:-3]
        for name in unit.names
        if unit.inner(name).endswith(".py") and "/" not in unit.inner(name)
    ]
    single = [
        name
        for name in alone
        if name not in ("setup", "conftest", "noxfile", "manage") and not name.startswith("test")
    ]
    names = [name for name in found or single if not is_decoy(f"{name}/x")]
    return tuple(dict.fromkeys(names))
