"""How two answers relate."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.expect import Answer, check, same
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.relations import RELATIONS
from tests.kernel.test_expect import VALUES


@pytest.mark.parametrize(
    ("op", "actual", "value", "fits"),
    [
        (Op.SAME_ITEMS, [1, {"a": 2}, "x"], ["x", 1.0, {"a": 2.0}], True),
        (Op.SAME_ITEMS, [1, 1], [1], False),
        (Op.SAME_ITEMS, [True], [1], False),
        (Op.SAME_ITEMS, "ab", "ba", False),
        (Op.SAME_ITEMS, {"a": 1}, {"a": 1}, True),
        (Op.SUBSET_OF, [2, 1], [1, 2, 3], True),
        (Op.SUBSET_OF, [1, 1], [1, 2], False),
        (Op.SUBSET_OF, {"a": [1]}, {"a": [1], "b": 2}, True),
        (Op.SUBSET_OF, {"a": 1}, {"a": 2}, False),
        (Op.SUBSET_OF, [1], 1, False),
        (Op.SUPERSET_OF, [1, 2, 3], [3], True),
        (Op.SUPERSET_OF, [3], [1, 2, 3], False),
        (Op.SORTED, [1, 2, 2, 3.5], None, True),
        (Op.SORTED, [1, 2], "desc", False),
        (Op.SORTED, ["b", "a"], "desc", True),
        (Op.SORTED, ["a", 1], "asc", False),
        (Op.SORTED, [True, False], "desc", False),
        (Op.SORTED, "ab", "asc", False),
        (Op.UNIQUE, [1, "1", True], None, True),
        (Op.UNIQUE, [1, 1.0], None, False),
        (Op.UNIQUE, {"a": 1}, None, False),
        (Op.LESS_THAN, 1, 1, False),
        (Op.LESS_THAN, 1, 1.5, True),
        (Op.MORE_THAN, 2, 1, True),
        (Op.MORE_THAN, True, 0, False),
        (Op.MORE_THAN, "2", 1, False),
    ],
)
def test_compares(op: Op, actual: Any, value: Any, fits: bool) -> None:
    """Each relation, where it holds and where it does not."""
    assert RELATIONS[op](actual, value) is fits


@given(st.lists(VALUES), st.randoms())
def test_order_does_not_matter_for_items(items: list[Any], chance: Any) -> None:
    """A shuffled list has the same items, and each list is a part of itself and more."""
    shuffled = items[:]
    chance.shuffle(shuffled)
    assert RELATIONS[Op.SAME_ITEMS](items, shuffled)
    assert RELATIONS[Op.SUBSET_OF](items, [*shuffled, 1])
    assert RELATIONS[Op.SUPERSET_OF]([*shuffled, 1], items)
    assert not RELATIONS[Op.SAME_ITEMS](items, [*shuffled, 1])


@given(VALUES, VALUES)
def test_items_are_the_same_exactly_when_values_are(left: Any, right: Any) -> None:
    """One list of one value has the same items as another just when the two values are equal."""
    assert RELATIONS[Op.SAME_ITEMS]([left], [right]) is same(left, right)


@pytest.mark.parametrize("op", Op)
def test_every_comparison_gives_an_answer(op: Op) -> None:
    """No comparison breaks on any kind of value."""
    for body in ("1", '"a"', "[1]", '{"a": 1}', "null"):
        for value in (None, 1, "a", [1], {"a": 1}):
            (_, assertion) = check(Expect(200, json=(JsonCheck("$", op, value),)), Answer(200, (), body))
            assert assertion.passed in (True, False)
