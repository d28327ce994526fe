"""JavaScript and TypeScript, read without a parser: what listens, where, and to which paths."""

import re
from collections.abc import Iterator

from harness_executor.workspace.detect.jsvars import READ, unpacked
from harness_executor.workspace.detect.values import Place, Port, Route

_LINE = r"(?:^|(?<=[\s;{},]))//[^\n]*"
_COMMENT = re.compile(rf"/\*.*?\*/|{_LINE}|(?P<unclosed>/\*.*)", re.S)
"""A comment, or what begins as one and never ends, such as a path of `/api/*`."""
_REST = re.compile(_LINE)
_LISTEN = re.compile(r"\.listen\s*\(\s*(.{0,160})", re.S)
_SERVES = re.compile(
    r"\.listen\s*\((?!\s*['\"][A-Za-z][\w:.-]*['\"]\s*,)|\bserve\s*\(\s*[{a]|Deno\.serve|Bun\.serve"
    r"|new\s+Server\s*\(|\.start\(\s*\)|server\.init"
)
"""What opens a port; what only waits for an event of a name does not."""
_SERVED = re.compile(
    r"(?:\bserve\s*\(|\bexport\s+default)\s*\{.{0,400}?\bport\b(?:\s*:\s*([^,}\n]{1,100})|\s*[,}])", re.S
)
_NAME = r"[A-Za-z_$][\w$]{0,60}"
_ROUTE = re.compile(
    rf"\b({_NAME})\s*(?:<[^>\n]{{0,80}}>)?\.(get|post|put|patch|delete|all|head|use|mount|register|basePath|route)\s*(?:<[^>()\n]{{0,200}}>)?"
    r"\(\s*['\"`]([^'\"`\s]{1,120})['\"`]"
)
_OBJECT = re.compile(
    r"method\s*:\s*['\"](\w{3,7})['\"][^{}]{0,200}?(?:path|url)\s*:\s*['\"]([^'\"\s]{1,120})['\"]"
)
_TURNED = re.compile(
    r"(?:path|url)\s*:\s*['\"]([^'\"\s]{1,120})['\"][^{}]{0,200}?method\s*:\s*['\"](\w{3,7})['\"]"
)
_CONTROLLER = re.compile(r"@Controller\s*\(\s*(?:\{[^}]{0,200}?path\s*:\s*)?(?:['\"`]([^'\"`]{0,80})['\"`])?")
_DECORATED = re.compile(r"@(Get|Post|Put|Patch|Delete|All)\s*\(\s*(?:['\"`]([^'\"`]{0,80})['\"`])?\s*\)")
_GLOBAL = re.compile(r"setGlobalPrefix\s*\(\s*['\"`]([^'\"`]{1,60})['\"`]")
_PREFIX = re.compile(r"\bprefix\s*:\s*['\"`](/[^'\"`\s]{1,60})['\"`]")
_COMPARED = re.compile(r"(?:\.url|pathname|\.path)\s*={2,3}\s*['\"`](/[^'\"`\s]{0,80})['\"`]")
_TABLE = re.compile(r"\broutes\s*:\s*\{")
_KEY = re.compile(r"^[ \t]*['\"](/[^'\"\s]{0,80})['\"]\s*:", re.M)
"""A route of Bun's own server."""
_PORTS = r"(?:APP_|SERVER_|API_|HTTP_|NODE_)?PORT"
_ASKED = re.compile(rf"\(\s*['\"]({_PORTS})['\"]")
"""A variable for the port of a program, asked for by a function of its own."""
_ROUTERS = re.compile(
    r"app|router|route|server|fastify|api|instance|koa|hono|r|f|v\d|routes?|.*(?:Router|Routes|App|Server)",
    re.I,
)


_VERBS = ("get", "post", "put", "patch", "delete", "all", "head")


def bare(text: str) -> str:
    """The code without its comments."""
    return _COMMENT.sub(lambda found: _REST.sub(" ", found["unclosed"] or " "), text)


def serves(text: str) -> bool:
    """Does the code open a port?"""
    return bool(_SERVES.search(text))


def port_in(text: str, everything: str = "") -> Port:
    """The port that a file listens on; everything is the code of the whole program."""
    for match in _LISTEN.finditer(text):
        given = _first_argument(match[1])
        found = _port(given, text, everything)
        if found.place is not Place.UNKNOWN:
            return found
    served = _SERVED.search(text)
    found = _port(served[1] or "port", text, everything) if served else Port()
    return found if found.place is not Place.UNKNOWN else _named_port(everything)


def routes(text: str, path: str) -> Iterator[Route]:
    """The routes in a file."""
    for match in _ROUTE.finditer(text):
        owner, verb, place = match.groups()
        is_route = verb in _VERBS and place.startswith("/") and _ROUTERS.fullmatch(owner)
        if is_route:
            yield Route("ANY" if verb == "all" else verb.upper(), place, path)
    for match in _OBJECT.finditer(text):
        yield Route(match[1].upper().replace("*", "ANY"), match[2], path)
    for match in _TURNED.finditer(text):
        yield Route(match[2].upper(), match[1], path)
    yield from (Route("GET", match[1], path) for match in _COMPARED.finditer(text))
    table = _TABLE.search(text) if "Bun." in text else None
    yield from (
        Route("GET", match[1], path) for match in _KEY.finditer(text, table.end() if table else len(text))
    )
    yield from _nest(text, path)


def prefixes(text: str) -> Iterator[str]:
    """The prefixes under which routers are put."""
    for match in _ROUTE.finditer(text):
        if match[2] in ("use", "mount", "basePath", "route", "register") and match[3].startswith("/"):
            yield match[3]
    yield from ("/" + match[1].strip("/") for match in _GLOBAL.finditer(text))
    yield from (match[1] for match in _PREFIX.finditer(text))


def _nest(text: str, path: str) -> Iterator[Route]:
    controllers = list(_CONTROLLER.finditer(text))
    for number, match in enumerate(controllers):
        end = controllers[number + 1].start() if number + 1 < len(controllers) else len(text)
        base = (match[1] or "").strip("/")
        for inner in _DECORATED.finditer(text, match.end(), end):
            whole = "/".join(part for part in (base, (inner[2] or "").strip("/")) if part)
            yield Route("ANY" if inner[1] == "All" else inner[1].upper(), f"/{whole}", path)


def _first_argument(text: str) -> str:
    inner = re.match(r"\{[^{}]{0,140}?\bport\s*(?::\s*([^,}]{1,100}))?[,}\s]", text)
    if inner:
        return inner[1] or "port"
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (letter == "," and depth == 0):
            return text[:place]
    return text


def _port(given: str, text: str, everything: str, depth: int = 3) -> Port:
    said = given.strip()
    if said.isdecimal():
        return Port(Place.FIXED, int(said)) if 0 < int(said) < 65_536 else Port()
    read = READ.search(said)
    if read:
        number = re.search(r"(?:\|\||\?\?|:|,)\s*['\"]?(\d{2,5})", said[read.end() :])
        return Port(Place.ENVIRONMENT, int(number[1]) if number else None, read[1] or read[2])
    name = re.match(rf"(?:\+|Number\(|parseInt\(|normalizePort\()?\s*(?:{_NAME}\.){{0,3}}({_NAME})", said)
    if not name or depth == 0:
        return Port()
    for where in (text, everything):
        variable, default = unpacked(where).get(name[1], ("", ""))
        if variable:
            return Port(Place.ENVIRONMENT, int(default) if default.isdecimal() else None, variable)
        set_to = re.search(
            rf"\b{re.escape(name[1])}\s*(?::\s*(?:number|string)\s*)?[:=](?![=>])\s*([^;\n]{{1,160}})", where
        )
        found = _port(set_to[1], where, everything, depth - 1) if set_to else Port()
        if found.place is not Place.UNKNOWN:
            return found
    return Port()


def _named_port(everything: str) -> Port:
    names = [match[1] or match[2] for match in READ.finditer(everything)]
    names += [match[1] for match in _ASKED.finditer(everything)]
    own = [name for name in names if re.fullmatch(_PORTS, name)]
    return Port(Place.ENVIRONMENT, None, own[0]) if own else Port()
