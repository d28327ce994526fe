"""The web applications in a Python file: objects, functions that make one, and what serves them."""

import ast
from collections.abc import Iterator

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.pyports import best, option_of, port_of
from harness_executor.workspace.detect.pysource import (
    Source,
    argument,
    assigned,
    is_main,
    keyword,
    top_level,
    words,
)
from harness_executor.workspace.detect.values import Place, Port

_FASTHTML = ("FastHTML", "fast_app")
"""Its pages import everything from `fasthtml.common`, so that the names stand alone."""
CLASSES = {
    "fastapi.FastAPI": "fastapi",
    "fastapi.applications.FastAPI": "fastapi",
    "flask.Flask": "flask",
    "flask.app.Flask": "flask",
    "apiflask.APIFlask": "flask",
    "flask_openapi3.OpenAPI": "flask",
    "flask_openapi3.openapi.OpenAPI": "flask",
    "flask_api.FlaskAPI": "flask",
    "eve.Eve": "flask",
    "dash.Dash": "dash",
    "quart.Quart": "quart",
    "starlette.applications.Starlette": "starlette",
    "litestar.Litestar": "litestar",
    "litestar.app.Litestar": "litestar",
    "starlite.Starlite": "litestar",
    "sanic.Sanic": "sanic",
    "sanic.app.Sanic": "sanic",
    "bottle.Bottle": "bottle",
    "bottle.default_app": "bottle",
    "aiohttp.web.Application": "aiohttp",
    "tornado.web.Application": "tornado",
    "falcon.App": "falcon",
    "falcon.API": "falcon",
    "falcon.asgi.App": "falcon-asgi",
    "blacksheep.Application": "blacksheep",
    "blacksheep.server.Application": "blacksheep",
    "robyn.Robyn": "robyn",
    "connexion.App": "connexion",
    "connexion.FlaskApp": "connexion",
    "connexion.AsyncApp": "connexion-asgi",
    "socketio.ASGIApp": "socketio",
    "socketio.WSGIApp": "socketio-wsgi",
    "engineio.ASGIApp": "socketio",
    "strawberry.asgi.GraphQL": "strawberry",
    "ariadne.asgi.GraphQL": "ariadne",
    **{
        f"{module}{name}": "fasthtml"
        for module in ("fasthtml.common.", "fasthtml.", "")
        for name in _FASTHTML
    },
    "django.core.wsgi.get_wsgi_application": "django",
    "django.core.asgi.get_asgi_application": "django-asgi",
    "ninja.NinjaAPI": "",
}
"""What makes an application, and of which framework."""

_SERVING = {
    "uvicorn.run": "uvicorn",
    "uvicorn.Config": "uvicorn",
    "hypercorn.run": "hypercorn",
    "waitress.serve": "waitress",
    "aiohttp.web.run_app": "aiohttp",
    "aiohttp.web.TCPSite": "aiohttp",
    **{
        f"websockets.{module}serve": "websockets"
        for module in ("", "server.", "asyncio.server.", "sync.server.")
    },
    "bottle.run": "bottle",
    "http.server.HTTPServer": "http.server",
    "http.server.ThreadingHTTPServer": "http.server",
    "socketserver.TCPServer": "http.server",
    "socketserver.ThreadingTCPServer": "http.server",
    "wsgiref.simple_server.make_server": "wsgiref",
    "werkzeug.serving.run_simple": "werkzeug",
    "gevent.pywsgi.WSGIServer": "gevent",
    "tornado.httpserver.HTTPServer": "",
    "eventlet.wsgi.server": "eventlet",
    "asyncio.start_server": "asyncio",
    "cherrypy.quickstart": "cherrypy",
}
"""Calls that serve."""

_PORT_AT = {"wsgiref": 1, "werkzeug": 1, "bottle": 9, "aiohttp": 2, "websockets": 2}
_METHODS = ("run", "listen", "run_app", "bind", "start")


@frozen
class App:
    """An application object at the top of a module."""

    name: str
    framework: str


@frozen
class Factory:
    """A function that gives an application."""

    name: str
    framework: str
    required: tuple[str, ...] = ()
    """The arguments that it cannot do without."""


@frozen
class Serving:
    """A place in the code that serves."""

    by: str
    port: Port
    target: str = ""
    """The application, when it is named as `module:name`."""
    guarded: bool = False
    """Is it run only when the file is the program?"""
    function: str = ""
    """The function or class at the top of the file that it is in, if it is in one."""


def factories(source: Source, makers: dict[str, str] | None = None) -> Iterator[Factory]:
    """The functions that make and return an application, or return what one of makers gives."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            framework = _made_in(source, node) or _handed_on(source, node, makers or {})
            if framework:
                yield Factory(node.name, framework, _required(node))


def apps(source: Source, makers: dict[str, str]) -> Iterator[App]:
    """The application objects; makers are the functions of the project that give one, with the framework."""
    for node in top_level(source.tree):
        for name, value in assigned(node):
            framework = framework_of(source, value, makers)
            if framework:
                yield App(name, framework)


def subclasses(sources: tuple[Source, ...]) -> dict[str, str]:
    """The classes of a project that are made from one of a framework, each with the framework."""
    bases = [
        (node.name, [source.meaning(base) for base in node.bases])
        for source in sources
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    ]
    found: dict[str, str] = {}
    for _ in range(3):
        for name, above in bases:
            known = [CLASSES.get(base) or found.get(base.rsplit(".", 1)[-1], "") for base in above]
            framework = next(filter(None, known), "")
            if framework:
                found[name] = framework
    return found


def held(sources: tuple[Source, ...]) -> dict[str, str]:
    """What objects of the project's own classes hold or make, as `Class.name`, each with the framework."""
    found: dict[str, str] = {}
    classes = [
        (source, node) for source in sources for node in source.nodes if isinstance(node, ast.ClassDef)
    ]
    for source, node in classes:
        for part in ast.walk(node):
            for name, value in (*assigned(part), *_set_on_self(part)):
                found[f"{node.name}.{name}"] = framework_of(source, value, {})
        for part in (part for part in node.body if isinstance(part, ast.FunctionDef)):
            given = source.meaning(getattr(part.body[-1], "value", None)).removeprefix("self.")
            found[f"{node.name}.{part.name}"] = _made_in(source, part) or found.get(
                f"{node.name}.{given}", ""
            )
    return {name: framework for name, framework in found.items() if framework}


def _set_on_self(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that a statement sets of `self`, each with its value."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        owner = target.value if isinstance(target, ast.Attribute) else None
        if isinstance(target, ast.Attribute) and isinstance(owner, ast.Name) and owner.id == "self":
            yield target.attr, node.value


def servings(
    source: Source, names: dict[str, str], makers: dict[str, str] | None = None
) -> Iterator[Serving]:
    """What serves in a file; names are its applications, makers what gives one."""
    mains = [node for node in source.tree.body if is_main(node)]
    guarded = {id(part) for main in mains for part in ast.walk(main)}
    functions = {
        id(part): node.name
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for part in ast.walk(node)
    }
    own = _subclasses(source)
    for name, call in source.calls():
        by = _by(source, name, call, names, own) or _at_once(source, call, makers or {})
        if by:
            within = bool(mains) and (id(call) in guarded or id(call) in functions)
            function = functions.get(id(call), "")
            yield Serving(by, _port(source, by, call), words(argument(call, 0)), within, function)


def _by(source: Source, name: str, call: ast.Call, names: dict[str, str], own: set[str]) -> str:
    if name in _SERVING:
        return _SERVING[name]
    owner, _, method = name.rpartition(".")
    if method in _METHODS and owner in names:
        return names[owner]
    if method == "run" and owner.endswith(("app", "application")) and keyword(call, "port"):
        return "flask" if any(module.startswith("flask") for module in source.imported) else "app"
    if method == "run" and owner.endswith("socketio"):
        return "flask"
    is_tornado = any(module.startswith("tornado") for module in source.imported)
    if method in ("listen", "bind") and is_tornado:
        return "tornado"
    return "http.server" if method in own or name in own else ""


def _at_once(source: Source, call: ast.Call, makers: dict[str, str]) -> str:
    """The framework of an application that is served where it is made: `make_app().run()`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS:
        return ""
    return framework_of(source, call.func.value, makers)


def _subclasses(source: Source) -> set[str]:
    """Classes of the file that are servers of the standard library."""
    servers = {name for name, by in _SERVING.items() if by == "http.server"}
    return {
        node.name
        for node in source.nodes
        if isinstance(node, ast.ClassDef) and any(source.meaning(base) in servers for base in node.bases)
    }


def _port(source: Source, by: str, call: ast.Call) -> Port:
    given = keyword(call, "port") or keyword(call, "server_port")
    if given is None and by in ("http.server", "gevent", "eventlet"):
        address = argument(call, 0, "server_address")
        pair = source.values.get(address.id) if isinstance(address, ast.Name) else address
        given = pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else None
    if given is None and keyword(call, "sock") is not None:
        return _bound(source)
    if given is None and by in ("tornado", *_PORT_AT):
        given = argument(call, _PORT_AT.get(by, 0))
    if given is None and by == "flask":
        given = argument(call, 1)
    if by == "cherrypy":
        return _of_settings(source, "server.socket_port", 8080)
    found = port_of(source, given)
    if found.place in (Place.UNKNOWN, Place.FIXED):
        found = best(option_of(source), found) if given is not None else found
    defaults = {"flask": 5000, "uvicorn": 8000, "aiohttp": 8080, "bottle": 8080, "quart": 5000, "sanic": 8000}
    if found.place is Place.UNKNOWN and given is None and by in defaults:
        return Port(Place.FIXED, defaults[by])
    return found


def _bound(source: Source) -> Port:
    """The port of a socket that the file binds itself, and then serves on."""
    binding = [call for name, call in source.calls() if name.rsplit(".", 1)[-1] in ("bind", "bind_socket")]
    given = [keyword(call, "port") or argument(call, 0) for call in binding]
    inner = [one.elts[1] if isinstance(one, ast.Tuple) and len(one.elts) == 2 else one for one in given]
    return best(*(port_of(source, one) for one in inner), option_of(source))


def _of_settings(source: Source, key: str, usual: int) -> Port:
    """The port that a file sets by this key of a table."""
    values = [
        value
        for node in source.nodes
        if isinstance(node, ast.Dict)
        for name, value in zip(node.keys, node.values, strict=True)
        if name is not None and words(name) == key
    ]
    found = best(*(port_of(source, value) for value in values))
    return found if found.place is not Place.UNKNOWN or values else Port(Place.FIXED, usual)


def framework_of(source: Source, value: ast.AST, makers: dict[str, str]) -> str:
    """The framework of what an expression gives, if it gives an application."""
    while isinstance(value, ast.Await):
        value = value.value
    within = makers.get(_asked_of_object(source, value), "")
    if within or not isinstance(value, ast.Call):
        return within
    name = source.meaning(value.func)
    return CLASSES.get(name) or makers.get(name.rsplit(".", 1)[-1].lstrip("."), "") or _wrapped(source, value)


def _asked_of_object(source: Source, value: ast.AST) -> str:
    """What `Maker().app`, or `maker.make()` of an object at the top, is asked for: `Maker.app`."""
    asked = value.func if isinstance(value, ast.Call) else value
    if not isinstance(asked, ast.Attribute):
        return ""
    owner = asked.value
    made = source.values.get(owner.id) if isinstance(owner, ast.Name) else owner
    return f"{_last(source, made.func)}.{asked.attr}" if isinstance(made, ast.Call) else ""


def _last(source: Source, node: ast.expr) -> str:
    return source.meaning(node).rsplit(".", 1)[-1]


def _wrapped(source: Source, call: ast.Call) -> str:
    """The framework of an application that is handed to middleware, such as CORS around it."""
    first = call.args[0] if call.args else None
    return CLASSES.get(source.meaning(first.func), "") if isinstance(first, ast.Call) else ""


def _made_in(source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    made: dict[str, str] = {}
    returned: list[ast.expr] = []
    for node in ast.walk(function):
        for name, value in assigned(node):
            framework = framework_of(source, value, {})
            if framework:
                made[name] = framework
        if isinstance(node, ast.Return) and node.value is not None:
            returned.append(node.value)
    for value in returned:
        if isinstance(value, ast.Name) and value.id in made:
            return made[value.id]
        framework = framework_of(source, value, {})
        if framework:
            return framework
    return ""


def _handed_on(
    source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef, makers: dict[str, str]
) -> str:
    """The framework of what a function without arguments has another one make: `return create_app(store)`."""
    last = function.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    if _required(function) or not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return ""
    return framework_of(source, value, makers)


def _required(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    without = plain[: len(plain) - len(given.defaults)]
    only = [arg for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
    return tuple(arg.arg for arg in (*without, *only))
