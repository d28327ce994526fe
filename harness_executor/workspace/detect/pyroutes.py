"""The routes of a Python web application, as they are written in one file."""

import ast
from collections.abc import Iterator

from harness_executor.workspace.detect.pysource import Source, argument, keyword, words
from harness_executor.workspace.detect.values import Route

_VERBS = ("get", "post", "put", "patch", "delete", "head", "options")
_PREFIXED = ("APIRouter", "Blueprint", "APIBlueprint", "Router", "Controller")
_INCLUDES = {
    "include_router": "prefix",
    "register_blueprint": "url_prefix",
    "add_subapp": "prefix",
    "mount": "path",
}
_DJANGO = ("django.urls.path", "django.urls.re_path", "django.conf.urls.url", "path", "re_path", "url")


def routes(source: Source) -> Iterator[Route]:
    """Every route of a file, with the prefix of its own router."""
    prefixes = own_prefixes(source)
    for name, call in source.calls():
        for method, path in _of_call(source, name, call):
            owner = name.rpartition(".")[0]
            yield Route(method, joined(prefixes.get(owner, ""), path), source.path)
    for path in _compared(source):
        yield Route("GET", path, source.path)


def own_prefixes(source: Source) -> dict[str, str]:
    """The prefixes of the routers that a file makes."""
    return {
        name: words(keyword(value, "prefix")) or words(keyword(value, "url_prefix"))
        for name, value in source.values.items()
        if isinstance(value, ast.Call) and source.meaning(value.func).rsplit(".", 1)[-1] in _PREFIXED
    }


def included(source: Source) -> Iterator[str]:
    """The prefixes under which routers are put in a file, after that of the router they are put into."""
    own = own_prefixes(source)
    for name, call in source.calls():
        owner, _, method = name.rpartition(".")
        if method in _INCLUDES:
            place = keyword(call, _INCLUDES[method]) or (argument(call, 0) if method == "mount" else None)
            yield own.get(owner, "").rstrip("/") + words(place)
        elif name in _DJANGO and len(call.args) > 1 and _is_include(source, call.args[1]):
            yield "/" + _regex_plain(words(call.args[0]))


def joined(prefix: str, path: str) -> str:
    """A path below a prefix."""
    whole = prefix.rstrip("/") + ("" if path.startswith("/") or not path else "/") + path
    return whole if whole.startswith("/") else "/" + whole


def _of_call(source: Source, name: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    method = name.rsplit(".", 1)[-1]
    path = words(argument(call, 0, "path")) or words(keyword(call, "rule"))
    if name in _DJANGO and len(call.args) > 1:
        if not _is_include(source, call.args[1]):
            yield "ANY", "/" + _regex_plain(path)
    elif "." in name and method in _VERBS and call.args and path[:1] in ("", "/"):
        yield from [(method.upper(), path)] if words(call.args[0]) == path else []
    elif method == "register" and "outer" in name and len(call.args) > 1 and path:
        yield "ANY", f"/{path.strip('/')}/"
    elif method in ("route", "api_route", "add_url_rule", "Route", "add_route") and path.startswith("/"):
        yield from ((verb, path) for verb in _methods(call))
    elif method == "add_route" and words(argument(call, 1, "pattern")).startswith("/"):
        yield (path if path.lower() in _VERBS else "GET").upper(), words(argument(call, 1, "pattern"))
    elif method.startswith("add_") and method[4:] in _VERBS and path.startswith("/"):
        yield method[4:].upper(), path
    elif method in ("add_resource", "add_namespace"):
        yield from (("ANY", words(given)) for given in call.args[1:] if words(given).startswith("/"))
    elif method == "Application" and name.startswith("tornado"):
        yield from (("ANY", _regex_plain(path)) for path in _pairs(argument(call, 0)))


def _methods(call: ast.Call) -> tuple[str, ...]:
    given = keyword(call, "methods") or keyword(call, "method")
    if given is None:
        return ("GET",)
    listed = given.elts if isinstance(given, ast.List | ast.Tuple | ast.Set) else [given]
    return tuple(words(item).upper() for item in listed if words(item)) or ("GET",)


def _pairs(node: ast.AST | None) -> Iterator[str]:
    """The first of each pair in a list, as tornado has its routes."""
    if isinstance(node, ast.List):
        for item in node.elts:
            if isinstance(item, ast.Tuple) and item.elts and words(item.elts[0]).startswith("/"):
                yield words(item.elts[0])


def _compared(source: Source) -> Iterator[str]:
    """Paths that a handler of the standard library compares with."""
    if not any(isinstance(node, ast.FunctionDef) and node.name == "do_GET" for node in source.nodes):
        return
    for node in source.nodes:
        texts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            texts = [*node.comparators]
        elif isinstance(node, ast.MatchValue):
            texts = [node.value]
        elif isinstance(node, ast.Dict):
            texts = [key for key in node.keys if key is not None]
        yield from (words(text) for text in texts if words(text).startswith("/"))


def _is_include(source: Source, node: ast.AST) -> bool:
    name = (
        source.meaning(node.func).rsplit(".", 1)[-1] if isinstance(node, ast.Call) else source.meaning(node)
    )
    return name in ("include", "admin.site.urls") or name.endswith("site.urls")


def _regex_plain(path: str) -> str:
    return path.lstrip("^").rstrip("$").removesuffix("/?")
