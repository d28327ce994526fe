"""Expectations as JavaScript, for tools whose tests are scripts."""

import json

from harness_executor.kernel import jsonpath
from harness_executor.kernel.expectation import Expect, Op

FIND = (
    "const find = (value, parts) => parts.reduce((all, part) => all.flatMap(one => one === null || typeof one"
    " !== 'object' ? [] : part === null ? Object.values(one) : Array.isArray(one) && part < 0 ? (-part <="
    " one.length ? [one[one.length + part]] : []) : Object.hasOwn(one, part) ? [one[part]] : []), [value]);"
)
"""Defines `find`, which gives every value at a path."""
SAME = (
    "const plain = it => Array.isArray(it) ? it.map(plain) : it && typeof it === 'object' ?"
    " Object.fromEntries(Object.keys(it).sort().map(key => [key, plain(it[key])])) : it;"
    " const same = (one, other) => JSON.stringify(plain(one)) === JSON.stringify(plain(other));"
)
"""Defines `same`, which compares as JSON."""
_TYPE = "(it === null ? 'null' : Array.isArray(it) ? 'array' : typeof it)"
_SIZE = (
    "(typeof it === 'string' ? [...it].length : it && typeof it === 'object' ? Object.keys(it).length : -1)"
)
_NUMBERS = "typeof it === 'number' && typeof value === 'number' && "
CONDITIONS = {
    Op.EQUALS: "same(it, value)",
    Op.NOT_EQUALS: "!same(it, value)",
    Op.TYPE: f"(value === 'integer' ? Number.isInteger(it) : {_TYPE} === value)",
    Op.LENGTH: f"{_SIZE} === value",
    Op.AT_LEAST: _NUMBERS + "it >= value",
    Op.AT_MOST: _NUMBERS + "it <= value",
    Op.LESS_THAN: _NUMBERS + "it < value",
    Op.MORE_THAN: _NUMBERS + "it > value",
}
"""What holds of `it`, which was found, and `value`; other comparisons are not said here."""


def found_at(path: str, body: str) -> str:
    """An expression for the list of values at a path."""
    return f"find({body}, {json.dumps(list(jsonpath.parse(path)))})"


def status_holds(expect: Expect, status: str) -> str:
    """An expression that is true for a status that is expected."""
    match expect.status:
        case None:
            return f"{status} < 400"
        case str():
            pattern = expect.status.lower().replace("x", "[0-9]")
            return f"new RegExp({json.dumps(f'^(?:{pattern})$')}).test(String({status}))"
        case int():
            return f"{status} === {expect.status}"
    return f"{list(expect.status)}.includes({status})"
