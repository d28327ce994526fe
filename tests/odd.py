"""Data with something odd in each of its places, one at a time."""

import copy
from collections.abc import Iterator
from typing import Any

_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, "", "a", "0", "{{", "{{ }}", "{{$}}", "http://[", "://"),
    *([], [1], ["a"], [[]], [{}], [None], {}, {"a": 1}, {"a": None}, {"$ref": "#/"}, {"$ref": 1}, {"": ""}),
)
"""What nobody expects: another type, nothing, too much, or half of something."""


def oddities(data: Any) -> Iterator[Any]:
    """The same data, again and again, with each odd value in each place."""
    for place in _places(data):
        for odd in _ODD:
            yield _with(data, place, odd)


def _places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield from _places(value, (*at, key))


def _with(data: Any, place: tuple[Any, ...], odd: Any) -> Any:
    if not place:
        return odd
    made = holder = copy.deepcopy(data)
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = odd
    return made
