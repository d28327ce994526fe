"""Find text in the tree."""

import stat
from itertools import islice
from typing import Any, ClassVar

from harness_executor.config import program
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box
from harness_executor.tools.base import Place, Tool
from harness_executor.tools.finding import SECONDS, Finder, Ground, Hit
from harness_executor.tools.ignoring import Ignoring
from harness_executor.tools.place import OUTPUT, Spot

_MOST = 200


@frozen
class Search:
    """What to look for."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    pattern: str
    """A regular expression; empty lists the files."""
    path: str = "."
    glob: str = ""
    """Only these files, such as *.py."""


def searching_tools(place: Place, box: Box) -> tuple[Tool, ...]:
    """Tools that find; ripgrep finds where it is installed."""
    searcher = Searcher(place, box, program("rg", outside=place.root))
    return (searcher.tool(),)


@frozen
class Searcher:
    """Finds in a place."""

    place: Place
    box: Box
    ripgrep: str | None
    """The program, if there is one."""
    seconds: float = SECONDS

    def tool(self) -> Tool:
        """The search as a tool."""
        words = "Find lines by regular expression, or list files; leaves out ignored files."
        return Tool("search", words, Search, self._search, reads=True, spill=self.place.outputs)

    def _search(self, ask: Search) -> str:
        spot = self.place.find(ask.path)
        found = spot.stat()
        if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            return _listed([])
        ground, shown = _ground(spot, ask.glob, is_folder=stat.S_ISDIR(found.st_mode))
        if not ask.pattern:
            return _listed([shown + name for name in islice(ground.names(), _MOST + 1)])
        return _listed(
            [f"{shown}{hit.name}:{hit.number}: {hit.text}" for hit in self._hits(ground, ask.pattern)]
        )

    def _hits(self, ground: Ground, pattern: str) -> list[Hit]:
        finder = Finder(self.box, self.place, _MOST + 1, self.seconds)
        found = finder.by_ripgrep(self.ripgrep, ground, pattern) if self.ripgrep else None
        return finder.by_walking(ground, pattern) if found is None else found


def _ground(spot: Spot, glob: str, *, is_folder: bool) -> tuple[Ground, str]:
    """Where is looked, and what stands before the names found there."""
    if spot.prefix == OUTPUT:
        return Ground(spot.base, spot.root, spot.inner), OUTPUT
    if spot.inner == ".":
        return Ground(spot.base, spot.root, "", glob), spot.prefix
    if is_folder and Ignoring(spot.root).hides_folder(spot.inner):
        inner = spot.root.below(spot.inner)
        return Ground(spot.base / spot.inner, inner, "", glob), f"{spot.prefix}{spot.inner}/"
    return Ground(spot.base, spot.root, spot.inner, glob), spot.prefix


def _listed(found: list[str]) -> str:
    if len(found) > _MOST:
        found = [*found[:_MOST], "… more; narrow the search"]
    return "\n".join(found).encode(errors="replace").decode() or "nothing found"
