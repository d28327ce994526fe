"""Routes of Node programs that are files, each where its framework looks for it."""

import re
from collections.abc import Iterator

from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Route

_CODE = r"\.(?:js|mjs|ts|mts|jsx|tsx)"
_NEXT = re.compile(rf"(?:src/)?(?:pages/(api/[\w/-]{{1,100}})|app/([\w/()-]{{0,100}}?)/?route){_CODE}")
_NITRO = re.compile(
    rf"(?:src/)?server/(?:routes/|(?=api/))([\w/\[\]-]{{1,100}})(?:\.(get|post|put|patch|delete))?{_CODE}"
)
_SVELTE = re.compile(rf"src/routes/(?:([\w/()\[\].-]{{1,100}})/)?\+server{_CODE}")
_GROUP = re.compile(r"\([^)/]*\)/?")
"""A folder that is no part of the path."""


def pages(unit: Unit) -> Iterator[Route]:
    """The routes that the names of its files say: Next, Nitro with Nuxt, and SvelteKit."""
    for name in unit.names:
        inner = unit.inner(name)
        found = _NEXT.fullmatch(inner) or _NITRO.fullmatch(inner) or _SVELTE.fullmatch(inner)
        if found:
            method = (found[2] or "get") if found.re is _NITRO else "get"
            path = found[1] or (found[2] or "" if found.re is _NEXT else "")
            yield Route(method.upper(), _plain(path), name)


def _plain(path: str) -> str:
    return re.sub(r"(?:^|/)index$", "", "/" + _GROUP.sub("", path).strip("/")) or "/"
