"""The build that a program turns out to need, when it ends for want of what one makes."""

import re

from harness_executor.workspace.detect import nodebuilds, nodepackages
from harness_executor.workspace.detect.unit import Unit

_LOST = re.compile(
    r"(?:Cannot find(?: module)?|Could not find a production build in the|ENOENT: no such file[^,\n]*, \w+) "
    r"['\"]([^'\"\n]{1,300})['\"]"
)
_OUTPUT = re.compile(r"(?:^|/)(?:\.?(?:dist|build|out|output|next|nuxt)|\w{1,30}[-_](?:dist|build))(?:/|$)")
"""Folders that builds make."""
_PAGES = ("build:frontend", "build:client", "build:web", "build:ui", "client:build", "frontend:build")
"""Scripts that make only the pages that a server hands out."""
_FOR_BROWSERS = re.compile(r"front|client|web|ui\b|public", re.I)


def build(unit: Unit, said: str) -> str:
    """The command that makes what a program says is not there, if it lies where builds put things."""
    found = (_inner(unit, match[1]) for match in _LOST.finditer(said))
    lost = [path for path in found if _OUTPUT.search(path) and "node_modules/" not in path]
    if not lost:
        return ""
    own = nodepackages.scripts(unit)
    pages = next((nodepackages.run(unit, name) for name in _PAGES if name in own), "")
    if not nodebuilds.maker(unit) or (pages and any(map(_FOR_BROWSERS.search, lost))):
        return pages
    return nodebuilds.whole(unit)


def _inner(unit: Unit, path: str) -> str:
    """A path without what lies above the project, wherever that is."""
    return path.rpartition(f"/{unit.files.root.name}/")[2] if path.startswith("/") else path
