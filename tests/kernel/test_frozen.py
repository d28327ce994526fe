"""Frozen values: they behave as frozen dataclasses do, whose methods are made at once."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest

from harness_executor.kernel.frozen import frozen


@dataclass(frozen=True)
class Usual:
    """What the standard library makes."""

    name: str
    parts: tuple[int, ...] = ()
    seen: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)
    kind: ClassVar[str] = "kind"


@frozen
class Ours:
    """The same, made by us."""

    name: str
    parts: tuple[int, ...] = ()
    seen: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)
    kind: ClassVar[str] = "kind"


@frozen
class Nested(Ours):
    """One with a field more, and something to do once it is made."""

    depth: int = 0
    twice: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", self.depth * 2)


@frozen
class Empty:
    """One without a field."""


@pytest.mark.parametrize(
    ("given", "named"),
    [(("a",), {}), (("a", (1, 2)), {"note": "x"}), ((), {"name": "b", "seen": ["c"]})],
)
def test_it_is_what_the_standard_library_would_make(
    given: tuple[object, ...], named: dict[str, object]
) -> None:
    """Fields, text, parts and copies are the same."""
    usual, ours = (kind(*given, **named) for kind in (Usual, Ours))  # type: ignore[arg-type]
    assert repr(ours) == repr(usual).replace("Usual", "Ours")
    assert asdict(ours) == asdict(usual)
    assert [one.name for one in fields(ours)] == [one.name for one in fields(usual)]
    assert is_dataclass(ours)
    assert Ours.__match_args__ == Usual.__match_args__
    assert copy.deepcopy(ours) == ours == pickle.loads(pickle.dumps(ours))  # noqa: S301 - our own
    assert replace(ours, name="z") == Ours("z", ours.parts, ours.seen)


def test_equal_are_those_of_one_class_with_the_same_fields() -> None:
    """What is not compared does not count; another class is never the same."""
    assert Ours("a", note="x") == Ours("a", note="y")
    assert Ours("a") != Ours("b")
    assert Ours("a") != Nested("a")
    assert Ours("a").__eq__("a") is NotImplemented
    assert Empty() == Empty()
    assert len({Empty(), Empty()}) == 1


def test_values_can_be_kept_in_sets() -> None:
    """Equal values have one hash, and one that holds a list has none."""

    @frozen
    class Point:
        """A place."""

        x: int
        y: int = 0

    assert {Point(1), Point(1, 0), Point(2)} == {Point(1), Point(2)}
    with pytest.raises(TypeError, match="unhashable"):
        hash(Ours("a"))


def test_nothing_can_be_set_or_deleted() -> None:
    """What was made stays as it is."""
    ours = Ours("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        ours.name = "b"  # type: ignore[misc]  # that is the point
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del ours.name
    assert ours.name == "a"


def test_wrong_arguments_are_refused_from_the_first_on() -> None:
    """The method that is made at the first call names what is missing, and what is too much."""

    @frozen
    class Late:
        """One that was never made before."""

        name: str

    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Late()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        Late("a", other=1)  # type: ignore[call-arg]
    assert Late("a").name == "a"


def test_a_default_is_made_anew_for_each() -> None:
    """Two values share no list."""
    assert Ours("a").seen is not Ours("a").seen


def test_a_class_may_have_more_fields_and_something_to_do() -> None:
    """Fields of the class below come first, and `__post_init__` is called."""
    nested = Nested("a", depth=3)
    assert (nested.name, nested.depth, nested.twice) == ("a", 3, 6)
    assert repr(nested) == "Nested(name='a', parts=(), seen=[], depth=3, twice=6)"


def test_a_method_of_the_class_itself_is_kept() -> None:
    """Whoever writes a method means it."""

    @frozen
    class Shy:
        """One that does not tell."""

        word: str

        def __repr__(self) -> str:
            return "Shy(...)"

    assert repr(Shy("secret")) == "Shy(...)"
