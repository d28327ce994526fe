"""The packages of the same repository that a Node program uses, and that count to it."""

from dataclasses import replace

from harness_executor.workspace.detect import nodepackages
from harness_executor.workspace.detect.unit import Unit, units

_DEEPEST = 5


def partners(unit: Unit) -> tuple[Unit, ...]:
    """The packages of a repository that a unit needs, each after those that it needs itself."""
    if not unit.has("package.json"):
        return ()
    named = {str(nodepackages.manifest(one).get("name") or ""): one for one in units(unit.files)}
    found = _needed(unit, {name: one for name, one in named.items() if name}, _DEEPEST)
    return tuple(one for one in found if one.folder != unit.folder)


def inner(unit: Unit) -> tuple[Unit, ...]:
    """Those of them that are no programs with a start of their own, such as a package for the database."""
    return tuple(one for one in partners(unit) if "start" not in nodepackages.scripts(one))


def widened(unit: Unit) -> Unit:
    """A unit with the files of the packages that count to it."""
    return replace(unit, partners=tuple(one.folder for one in inner(unit)))


def lent(unit: Unit) -> frozenset[str]:
    """What the packages that count to a unit list themselves."""
    return frozenset(name for one in inner(unit) for name in nodepackages.packages(one))


def _needed(unit: Unit, named: dict[str, Unit], depth: int) -> list[Unit]:
    if depth == 0:
        return []
    wanted = [one for name, one in named.items() if name in nodepackages.packages(unit) and one != unit]
    found = [deeper for one in wanted for deeper in (*_needed(one, named, depth - 1), one)]
    return list(dict.fromkeys(found))
