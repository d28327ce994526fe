"""Digests stay true when a type gets a field more."""

from dataclasses import dataclass, field

from harness_executor.kernel.lean import LATER, lean
from harness_executor.kernel.scenario import Kind


@dataclass(frozen=True)
class Old:
    """A value as it was."""

    name: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class New:
    """The same value with two fields more."""

    name: str
    tags: tuple[str, ...] = ()
    note: str = field(default="", metadata=LATER)
    extra: dict[str, int] = field(default_factory=dict, metadata=LATER)


def test_a_later_field_that_says_nothing_is_left_out() -> None:
    """Old and new values have the same data while the new fields have their default."""
    assert lean(New("a", ("x",))) == lean(Old("a", ("x",))) == {"name": "a", "tags": ["x"]}


def test_a_later_field_that_says_something_counts() -> None:
    """A value that uses the new field has other data."""
    assert lean(New("a", note="n", extra={"k": 1})) == {
        "name": "a",
        "tags": [],
        "note": "n",
        "extra": {"k": 1},
    }


def test_everything_becomes_plain_data() -> None:
    """Words of a list, keys and values inside others are plain JSON."""
    assert lean({"kinds": (Kind.NEW,), "inner": [Old("b")]}) == {
        "kinds": ["new"],
        "inner": [{"name": "b", "tags": []}],
    }
