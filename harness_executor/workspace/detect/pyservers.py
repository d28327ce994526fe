"""The ways in which a Python application can be served."""

import shlex
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import PurePosixPath

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect import pypackages
from harness_executor.workspace.detect.pyapps import App, Factory, Serving
from harness_executor.workspace.detect.pysource import Source
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Candidate, Place, Port

ASGI = (
    "fastapi",
    "starlette",
    "litestar",
    "falcon-asgi",
    "blacksheep",
    "connexion-asgi",
    "django-asgi",
    "quart",
    "strawberry",
    "ariadne",
    "fasthtml",
    "socketio",
)
_ASGI_SERVERS = {
    "uvicorn": "{python} -m uvicorn{factory} %s --host 127.0.0.1 --port {port}",
    "hypercorn": "{python} -m hypercorn %s --bind 127.0.0.1:{port}",
    "daphne": "{python} -m daphne -b 127.0.0.1 -p {port} %s",
    "granian": "{python} -m granian --interface asgi{factory} --host 127.0.0.1 --port {port} %s",
}
_WSGI_SERVERS = {
    "gunicorn": "{python} -m gunicorn %s --bind 127.0.0.1:{port}",
    "waitress": "{python} -m waitress --listen=127.0.0.1:{port}{call} %s",
}
_OWN = {
    "flask": "{python} -m flask --app %s run --host 127.0.0.1 --port {port}",
    "quart": "{python} -m quart --app %s run --host 127.0.0.1 --port {port}",
    "sanic": "{python} -m sanic %s --host 127.0.0.1 --port {port} --single-process",
    "bottle": "{python} -m bottle --bind 127.0.0.1:{port} %s",
    "aiohttp": "{python} -m aiohttp.web -H 127.0.0.1 -P {port} %s",
}
"""Programs that frameworks bring themselves."""
_OLD_FLASK = "{python} -m flask run --host 127.0.0.1 --port {port}"
_OLD_SANIC = "{python} -m sanic %s --host 127.0.0.1 --port {port}"
_LITESTAR = "{python} -m litestar --app %s run --host 127.0.0.1 --port {port}"
_SERVERS = ("uvicorn", "hypercorn", "waitress", "gevent", "eventlet", "werkzeug", "app")

_UVICORN = (
    "uvicorn",
    "fastapi-extra-standard",
    "fastapi-extra-all",
    "litestar-extra-standard",
    "uvicorn-worker",
    "python-fasthtml",
)
_GOOD_FILES = ("main", "app", "wsgi", "asgi", "server", "api", "run", "application", "__main__")
_OPTION = Port(Place.OPTION, name="--port")


@frozen
class Module:
    """A Python file, and what was found in it."""

    source: Source
    folder: str
    """The folder that its imports begin at."""
    name: str
    """Its name for `import`."""
    unit: str = "."
    apps: tuple[App, ...] = ()
    factories: tuple[Factory, ...] = ()
    servings: tuple[Serving, ...] = ()
    routes: int = 0
    is_program: bool = False
    """Does it serve when it is run, rather than when somebody calls it?"""


@frozen
class Target:
    """An application, by the name that servers know it by."""

    name: str
    framework: str
    score: int
    reason: str
    module: Module
    factory: Factory | None = None
    env: dict[str, str] = field(default_factory=dict)


def candidates(unit: Unit, module: Module, known: frozenset[str]) -> Iterator[Candidate]:
    """Every way to start what a module has."""
    for target in _targets(module):
        yield from _served(target, known)
    yield from _scripts(unit, module)
    yield from _commands(unit, module)


def _targets(module: Module) -> Iterator[Target]:
    path = module.source.path
    bonus = _bonus(module)
    env = {"PYTHONPATH": "src"} if _in_src(module) else {}
    for app in module.apps:
        liked = 4 if app.name in ("app", "application", "api") else 0
        reason = f"{path} makes `{app.name}`, an application of {app.framework}"
        name = f"{module.name}:{app.name}" + (".server" if app.framework == "dash" else "")
        yield Target(name, app.framework, 80 + bonus + liked, reason, module, None, env)
    for factory in module.factories:
        liked = 4 if factory.name in ("create_app", "make_app", "get_app", "app_factory") else 0
        reason = f"{path} has {factory.name}(), which makes an application of {factory.framework}"
        yield Target(
            f"{module.name}:{factory.name}",
            factory.framework,
            74 + bonus + liked,
            reason,
            module,
            factory,
            env,
        )


def _served(target: Target, known: frozenset[str]) -> Iterator[Candidate]:
    needs = target.factory.required if target.factory else ()
    if target.framework == "aiohttp":
        if target.factory and len(needs) == 1:
            yield _candidate(target, _OWN["aiohttp"], 0, "aiohttp serves a function that takes arguments")
    elif needs:
        yield from _guessed(target, needs)
    elif target.framework in _OWN and target.framework != "quart":
        yield _candidate(target, _OWN[target.framework], 2, f"{target.framework} brings a server")
        yield from _by_older(target)
    else:
        yield from _by_server(target, known)


def _by_server(target: Target, known: frozenset[str]) -> Iterator[Candidate]:
    """The servers that speak the protocol of an application, those among the dependencies first."""
    for name, command in (_ASGI_SERVERS if target.framework in ASGI else _WSGI_SERVERS).items():
        has = name in known or (name == "uvicorn" and bool(known & set(_UVICORN)))
        fits = not target.factory or name == "gunicorn" or "{factory}" in command or "{call}" in command
        if fits and (has or name in ("uvicorn", "gunicorn")):
            reason = f"{name} is among the dependencies" if has else f"{name} is not among the dependencies"
            calls = target.factory and name == "gunicorn"
            given = replace(target, name=f"{target.name}()") if calls else target
            yield _candidate(given, command, 0 if has else -14, reason)
    if target.framework == "connexion":
        more = 1 if known & {"uvicorn", "connexion-extra-uvicorn"} else -15
        newer = "connexion since 3 makes applications of ASGI"
        yield _candidate(target, _ASGI_SERVERS["uvicorn"], more, newer)
    if target.framework == "litestar":
        yield _candidate(target, _LITESTAR, -6, "litestar brings a server")
    if target.framework == "quart":
        yield _candidate(target, _OWN["quart"], 1, "quart brings a server")


def _candidate(target: Target, command: str, more: int, reason: str) -> Candidate:
    whole = command.replace("{factory}", " --factory" if target.factory else "")
    whole = whole.replace("{call}", " --call" if target.factory else "")
    whole = whole.replace("%s", shlex.quote(target.name))
    return Candidate(
        whole,
        target.score + more,
        (target.reason, reason),
        _folder(target.module),
        target.framework.removesuffix("-asgi").removesuffix("-wsgi"),
        target.env,
        _OPTION,
        source=target.module.source.path,
    )


def _by_older(target: Target) -> Iterator[Candidate]:
    """Flask before 2.2 takes its application from a variable only, Sanic before 22.9 has fewer options."""
    if target.framework == "flask":
        said, env = "older versions of flask read FLASK_APP", {**target.env, "FLASK_APP": target.name}
        yield replace(_candidate(target, _OLD_FLASK, -4, said), env=env)
    elif target.framework == "sanic" and not target.factory:
        named = replace(target, name=target.name.replace(":", "."))
        yield _candidate(named, _OLD_SANIC, -4, "older versions of sanic take a name with a dot")


def _guessed(target: Target, needs: tuple[str, ...]) -> Iterator[Candidate]:
    if len(needs) == 1 and target.framework == "flask":
        for number, value in enumerate(("development", "default", "testing", "dev")):
            name = f"{target.name}('{value}')"
            whole = _OWN["flask"] % shlex.quote(name)
            reasons = (target.reason, f"{needs[0]} is not known; {value!r} is a guess")
            at = target.module.source.path
            yield Candidate(
                whole,
                target.score - 20 - number,
                reasons,
                _folder(target.module),
                "flask",
                target.env,
                _OPTION,
                source=at,
            )


def _scripts(unit: Unit, module: Module) -> Iterator[Candidate]:
    for serving in module.servings[:1] if module.is_program else ():
        more = 12 if _sets_up(module.source) else 0
        command, folder = _run(unit, module)
        env = {"PYTHONPATH": "src"} if _in_src(module) and " -m " in command else {}
        way = Candidate(command, more, (f"{module.source.path} serves when it is run",), folder, env=env)
        yield _by_itself(way, module, serving)


def _commands(unit: Unit, module: Module) -> Iterator[Candidate]:
    """What the commands that the project installs serve at once."""
    entries = {entry.command: entry for entry in pypackages.entries(unit)}
    for serving in module.servings:
        call = f"from {module.name} import {serving.function}; {serving.function}()"
        entry = entries.get(f"{{python}} -c '{call}'")
        if entry:
            env = {"PYTHONPATH": "src"} if _in_src(module) else {}
            reasons = (f"{entry.reason} is installed as a command, which serves",)
            way = Candidate(entry.command, 8, reasons, _folder(module), env=env)
            yield _by_itself(way, module, serving)


def _by_itself(way: Candidate, module: Module, serving: Serving) -> Candidate:
    """A way whose own code serves, with its port and its framework."""
    port = serving.port
    score = {Place.OPTION: 74, Place.ENVIRONMENT: 74, Place.UNKNOWN: 58}.get(port.place, 68)
    command, env = way.command, dict(way.env)
    if port.place is Place.OPTION:
        parts = port.name if port.name.endswith("=") else f"{port.name} ".lstrip()
        command += f" {parts}{{port}}"
    elif port.place is Place.ENVIRONMENT:
        env[port.name] = "{port}"
    said = {
        Place.FIXED: f"port {port.number} is fixed in the code",
        Place.UNKNOWN: "its port is not known",
    }
    how = said.get(port.place, f"its port is set by {port.name.rstrip('=') or 'an argument'}")
    own = "" if serving.by in _SERVERS else serving.by
    return replace(
        way,
        command=command,
        score=score + way.score + _bonus(module),
        reasons=(*way.reasons, how),
        framework=own
        if own in ("http.server", "tornado", "aiohttp", "websockets")
        else _first(module) or own,
        env=env,
        port=port,
        source=module.source.path,
    )


def _run(unit: Unit, module: Module) -> tuple[str, str]:
    """How a file is run, and where."""
    path = module.source.path
    if path.endswith("__main__.py") or any(name.startswith(".") for name in module.source.imported):
        name = module.name.removesuffix(".__main__")
        return f"{{python}} -m {shlex.quote(name)}", _folder(module)
    inner = unit.inner(path)
    if "/" in inner and "." in module.name:
        return f"{{python}} -m {shlex.quote(module.name)}", _folder(module)
    return f"{{python}} {shlex.quote(inner)}", unit.folder


def _first(module: Module) -> str:
    made = [*(app.framework for app in module.apps), *(one.framework for one in module.factories)]
    return next(iter(made), "").removesuffix("-asgi").removesuffix("-wsgi")


def _folder(module: Module) -> str:
    return str(PurePosixPath(module.folder).parent) if _in_src(module) else module.folder


def _in_src(module: Module) -> bool:
    return PurePosixPath(module.folder).name == "src" and module.folder != module.unit


def _bonus(module: Module) -> int:
    stem = PurePosixPath(module.source.path).stem
    liked = 5 if stem in _GOOD_FILES else 0
    routed = 3 + min(3, module.routes // 3) if module.routes else 0
    return liked + routed - 2 * min(3, module.source.path.count("/"))


def _sets_up(source: Source) -> bool:
    """Does the file prepare something when it is run, such as its tables?"""
    names = {name.rsplit(".", 1)[-1].lower() for name, _ in source.calls()}
    makes = (
        "init_db",
        "create_all",
        "create_tables",
        "init_database",
        "setup_db",
        "create_db",
        "initdb",
        "seed",
        "setup_database",
    )
    return any(name in makes for name in names) and not any(name == "on_event" for name in names)
