"""Which of the routes of a server can say that it is ready."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from harness_executor.workspace.detect.values import Route

MOST = 400
MOST_PREFIXES = 12
_HEALTHY = re.compile(
    r"/(?:healthz?|health[-_]?check|ready|readyz|readiness|live|livez|liveness|ping|status|heartbeat|alive|up)(?=/|$)",
    re.I,
)
_USUAL = (
    "/health",
    "/healthz",
    "/ready",
    "/api/health",
    "/ping",
    "/status",
    "/api/healthz",
    "/health/",
    "/api/v1/health",
)
_DOCUMENTS = (
    "/openapi.json",
    "/docs",
    "/api/docs",
    "/swagger.json",
    "/api-docs",
    "/schema/openapi.json",
    "/apispec.json",
)


def composed(routes: Iterable[Route], prefixes: Iterable[str]) -> tuple[Route, ...]:
    """The routes as they are, and under each prefix that routers are put under."""
    plain = list(dict.fromkeys(routes))[:MOST]
    under = [prefix.rstrip("/") for prefix in dict.fromkeys(prefixes) if prefix.strip("/")]
    pairs = (first + second for first in under for second in under if first != second)
    chosen = list(islice(chain(under, pairs), MOST_PREFIXES))
    more = [Route(route.method, prefix + route.path, route.file) for prefix in chosen for route in plain]
    return tuple(dict.fromkeys([*plain, *more]))[: 4 * MOST]


def is_about_health(path: str) -> bool:
    """Does a path look like one that says whether all is well?"""
    return bool(_HEALTHY.search(path))


def ready_paths(routes: Iterable[Route], most: int = 40, *, has_data: bool = False) -> tuple[str, ...]:
    """Paths to ask in turn, those that are about health first; the first that answers well is taken.

    The first page of a program with a database often answers before its tables are there: it comes last.
    """
    plain = [route.path for route in routes if route.is_plain]
    healthy = [path for path in plain if is_about_health(path)]
    late = {"/"} if has_data else set()
    others = [path for path in dict.fromkeys(plain) if path not in healthy and path not in late]
    return tuple(dict.fromkeys([*healthy, *_usual(plain), *others[:most], *_DOCUMENTS[:2], "/"]))[: most + 12]


def _usual(plain: list[str]) -> Iterator[str]:
    yield from _USUAL
    yield from (
        f"{prefix}/health"
        for prefix in dict.fromkeys("/" + path.strip("/").split("/")[0] for path in plain[:20])
    )
