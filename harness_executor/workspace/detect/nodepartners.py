"""The packages of the same repository that a Node program uses, and that count to it."""

from collections.abc import Iterator
from dataclasses import replace

from harness_executor.workspace.detect import nodepackages
from harness_executor.workspace.detect.unit import Unit, units


def partners(unit: Unit) -> tuple[Unit, ...]:
    """The packages of a repository that a unit needs, each after those that it needs itself."""
    if not unit.has("package.json"):
        return ()
    named = {str(nodepackages.manifest(one).get("name") or ""): one for one in units(unit.files)}
    return tuple(_needed(unit, {name: one for name, one in named.items() if name}, set()))


def inner(unit: Unit) -> tuple[Unit, ...]:
    """Those of them that are no programs with a start of their own, such as a package for the database."""
    return tuple(one for one in partners(unit) if "start" not in nodepackages.scripts(one))


def widened(unit: Unit) -> Unit:
    """A unit with the files of the packages that count to it."""
    return replace(unit, partners=tuple(one.folder for one in inner(unit)))


def lent(unit: Unit) -> frozenset[str]:
    """What the packages that count to a unit list themselves."""
    return frozenset(name for one in inner(unit) for name in nodepackages.packages(one))


def _needed(unit: Unit, named: dict[str, Unit], begun: set[str]) -> Iterator[Unit]:
    """Each package that a unit needs, once, however they need each other."""
    begun.add(unit.folder)
    listed = nodepackages.packages(unit)
    for name, one in named.items():
        if name in listed and one.folder not in begun:
            yield from _needed(one, named, begun)
            yield one
