"""How two answers relate: as collections, in order, and as numbers."""

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from harness_executor.kernel.canonical import canonical
from harness_executor.kernel.expectation import Op


def _is_within(part: Any, whole: Any) -> bool:
    """Is every element there at least as often, or every pair there?"""
    if isinstance(part, list) and isinstance(whole, list):
        return not _counted(part) - _counted(whole)
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _key(part[key]) == _key(whole[key]) for key in part)
    return False


def _is_sorted(actual: Any, order: Any) -> bool:
    if not isinstance(actual, list):
        return False
    if not all(map(_is_number, actual)) and not all(isinstance(item, str) for item in actual):
        return False
    return all(left >= right if order == "desc" else left <= right for left, right in pairwise(actual))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _counted(items: list[Any]) -> Counter[str]:
    return Counter(map(_key, items))


def _key(value: Any) -> str:
    return canonical(_even(value))


def _even(value: Any) -> Any:
    """The same value with whole numbers written in one way: 1.0 is 1."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _even(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_even(inner) for inner in value]
    return value


def _numbers(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda actual, value: _is_number(actual) and _is_number(value) and compare(actual, value)


RELATIONS: Mapping[Op, Callable[[Any, Any], bool]] = {
    Op.AT_LEAST: _numbers(operator.ge),
    Op.AT_MOST: _numbers(operator.le),
    Op.LESS_THAN: _numbers(operator.lt),
    Op.MORE_THAN: _numbers(operator.gt),
    Op.SAME_ITEMS: lambda actual, value: _is_within(actual, value) and _is_within(value, actual),
    Op.SUBSET_OF: _is_within,
    Op.SUPERSET_OF: lambda actual, value: _is_within(value, actual),
    Op.SORTED: _is_sorted,
    Op.UNIQUE: lambda actual, _: isinstance(actual, list) and len(_counted(actual)) == len(actual),
}
"""Whether what was found stands in a relation to a value."""
