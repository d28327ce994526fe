"""What was taken over from another format, and what was not."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from harness_executor.errors import ShapeError, UsageError
from harness_executor.kernel.scenario import Scenario, problem_of
from harness_executor.shapes import read

DROPPED = frozenset(
    ("host", "content-length", "connection", "accept-encoding", "user-agent", "postman-token", "cookie")
)
"""Headers that the harness sets itself, or that were good for one moment only."""
SECRET = re.compile(r"authorization|token|secret|api-?key|password|cookie", re.IGNORECASE)
_HOLE = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_KINDS = {
    "guid": "uuid",
    "uuid": "uuid",
    "timestamp": "int",
    "isotimestamp": "datetime",
    "datetime": "datetime",
}


@dataclass
class Taken:
    """Scenarios as data, with a line for everything that could not be said as a scenario."""

    scenarios: list[dict[str, Any]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def add(self, name: str, why: str, steps: list[dict[str, Any]], **more: Any) -> None:
        """One more scenario, under a name of its own."""
        names = {one["name"] for one in self.scenarios}
        unique = next(
            said for said in (name, *(f"{name} ({n})" for n in range(2, 9999))) if said not in names
        )
        self.scenarios.append(
            {"name": unique, "why": why or name, "kind": "unchanged", **more, "steps": steps}
        )

    def checked(self) -> tuple[Scenario, ...]:
        """The scenarios, as strictly read as a file; raises UsageError."""
        try:
            found = read(tuple[Scenario, ...], self.scenarios)
        except ShapeError as error:
            raise UsageError(
                f"what was found is no scenario: {error.message}", hint="correct the file"
            ) from error
        problem = problem_of(found)
        if problem:
            raise UsageError(problem, hint="nothing was written")
        return found


def entries(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; what is none says nothing."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def inside(value: Any, name: str) -> Mapping[str, Any]:
    """An object within an object; what is none says nothing."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def path_of(url: str) -> str:
    """Path and query of an address, whatever host or variable it begins with."""
    bare = re.sub(r"^\{\{[^{}]*\}\}", "", url.strip())
    if "://" in bare:
        try:
            parts = urlsplit(bare)
        except ValueError as error:
            raise UsageError(
                f"the address {url[:200]!r} cannot be read: {error}", hint="correct it"
            ) from error
        bare = parts.path + (f"?{parts.query}" if parts.query else "")
    return bare if bare.startswith("/") else f"/{bare}"


def holes(value: Any) -> Any:
    """A value in which the variables of other tools are written as ours."""
    match value:
        case str():
            return _HOLE.sub(lambda hole: "{{ " + name_of(hole[1]) + " }}", value)
        case Mapping():
            return {key: holes(inner) for key, inner in value.items()}
        case list():
            return [holes(inner) for inner in value]
    return value


def name_of(name: str) -> str:
    """The name of a variable as we write it; what other tools draw at random is drawn."""
    plain = next(iter(name.strip().removeprefix("encodeURIComponent(").removesuffix(")").split()), "_")
    if plain.startswith("$"):
        kind = plain[1:].lower().removeprefix("random")
        words = ("email", "int", "url", "uuid", "word", "phone", "float", "bool")
        return "random." + _KINDS.get(kind, next((word for word in words if word in kind), "word"))
    return re.sub(r"\W", "_", plain) if not plain[0].isdigit() else "_" + re.sub(r"\W", "_", plain)


def body_of(text: str, kind: str = "") -> dict[str, Any]:
    """A raw body as JSON where it is JSON."""
    from harness_executor.evidence.streams import meant  # noqa: PLC0415 - only bodies need it

    value = meant(text)
    is_json = not isinstance(value, str) and ("json" in kind or isinstance(value, dict | list))
    return {"json": value} if is_json and value is not None else {"body": text}
