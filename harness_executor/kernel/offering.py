"""What does a change offer that no scenario touches?"""

import re
from collections.abc import Iterable

from harness_executor.kernel.acts import Call, Program
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.scenario import Scenario

ANY = "ANY"
"""The method of a route whose methods are not known."""
RUN = "RUN"
"""Stands in the place of a method for a word of a command line."""

_HOLE = re.compile(r"\{\{.*?\}\}")
_PARAMETER = re.compile(r"^[:*]|[{<(\[*?$^\\]")


@frozen
class Offer:
    """A route, or a word of a command line, that a change adds."""

    method: str
    path: str
    """The path as the code writes it, or the word."""
    file: str = ""

    def __str__(self) -> str:
        shown = f"`{self.path}` on the command line" if self.method == RUN else f"{self.method} {self.path}"
        return f"{shown} ({self.file})" if self.file else shown


def untouched(offers: Iterable[Offer], scenarios: Iterable[Scenario]) -> tuple[Offer, ...]:
    """Those that no step of any scenario asks for."""
    acts = [act for scenario in scenarios for step in scenario.steps for act in step.acts]
    return tuple(offer for offer in offers if not any(_touches(act, offer) for act in acts))


def _touches(act: object, offer: Offer) -> bool:
    match act:
        case Call():
            return _same_method(act, offer) and _leads_to(_segments(act.path.split("?")[0]), offer)
        case Program():
            return offer.method == RUN and any(_says(word, offer.path) for word in act.argv)
    return False


def _same_method(call: Call, offer: Offer) -> bool:
    reads = {"GET", "HEAD"}
    method = call.method.upper()
    return offer.method in (ANY, method) or (method in reads and offer.method in reads)


def _leads_to(asked: list[str], offer: Offer) -> bool:
    """Does a path end as the route does? Routers may be put under a prefix that the route does not tell."""
    wanted = _segments(offer.path)
    if len(asked) < len(wanted) or (not wanted and asked):
        return False
    ends = asked[len(asked) - len(wanted) :]
    return all(
        _is_open(two) or _HOLE.search(one) or one == two for one, two in zip(ends, wanted, strict=True)
    )


def _is_open(segment: str) -> bool:
    return bool(_PARAMETER.search(segment))


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _says(word: str, wanted: str) -> bool:
    return word == wanted or word.startswith(f"{wanted}=")
