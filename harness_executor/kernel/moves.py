"""Tests that are no longer there under their names: those that came stand for one of them each."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

_TITLED = re.compile(r"\.[cm]?[jt]sx?$")
"""Files whose tests have titles, in which brackets are no parameters."""

Pairs = Iterator[tuple[str, str]]


def find_again(gone: Iterable[str], came: Iterable[str], renamed: Mapping[str, str]) -> set[str]:
    """Those of the tests that are gone which have another name, other parameters or another file now."""
    all_gone = dict.fromkeys(gone)
    left, free = dict(all_gone), dict.fromkeys(came)
    for pairs in (partial(_by_body, renamed), _by_case, _by_file):
        for test, place in pairs(left, free):
            if test in left and place in free:
                del left[test], free[place]
    return all_gone.keys() - left.keys()


def _by_body(renamed: Mapping[str, str], left: Iterable[str], _free: Iterable[str]) -> Pairs:
    yield from [(test, renamed[test]) for test in left if test in renamed]


def _by_case(left: Iterable[str], free: Iterable[str]) -> Pairs:
    """Cases of one function, where as many have come as are gone."""
    came = _grouped(free, _family)
    for family, tests in _grouped(left, _family).items():
        if len(came.get(family, ())) >= len(tests):
            yield from zip(tests, came[family], strict=False)


def _by_file(left: Iterable[str], free: Mapping[str, None]) -> Pairs:
    """Tests of one name, first in the file to which most of those around them went."""
    places = _grouped(free, _name)

    def found(test: str) -> list[str]:
        return [place for place in places.get(_name(test), ()) if place in free]

    def certainty(tests: list[str]) -> tuple[int, bool]:
        return len(tests), any(_is_alike(place, tests[0]) for place in found(tests[0]))

    for tests in sorted(_grouped(left, _file).values(), key=certainty, reverse=True):
        shared = Counter(_file(place) for test in tests for place in found(test))
        for test in tests:
            near = [(shared[_file(place)], _is_alike(place, test), place) for place in found(test)]
            yield from ((test, place) for *_, place in sorted(near)[-1:])


def _grouped(tests: Iterable[str], called: Callable[[str], str]) -> dict[str, list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for test in tests:
        if word := called(test):
            groups[word].append(test)
    return dict(groups)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _name(test: str) -> str:
    return test.partition("::")[2]


def _family(test: str) -> str:
    """The function of a case, without its parameters."""
    name, bracket, _ = _name(test).partition("[")
    is_function = bool(bracket) and all(word.isidentifier() for word in name.split("::"))
    return f"{_file(test)}::{name}" if is_function and not _TITLED.search(_file(test)) else ""


def _is_alike(place: str, test: str) -> bool:
    """Do two files have the same name, in whatever folder?"""
    return _file(place).rpartition("/")[2] == _file(test).rpartition("/")[2]
