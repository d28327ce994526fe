"""Values that never change: frozen dataclasses whose methods are made when they are first needed.

`dataclass(frozen=True)` compiles six methods for each class while it is imported, most of which a command
never calls; for all of ours together that is a third of the time it takes to load the program.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a dataclass of which nothing can be set, as `dataclass(frozen=True)` does."""
    own = vars(cls).keys()
    made: Any = dataclass(init=False, repr=False, eq=False)(cls)
    compared = [one.name for one in fields(made) if one.compare]
    seen: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()

    def __init__(self: Any, *given: Any, **named: Any) -> None:  # noqa: N807 - it becomes that method
        made.__init__ = _initializer(made)
        made.__init__(self, *given, **named)

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807 - as above
        return seen(self) == seen(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807 - as above
        return hash((made, seen(self)))

    methods = (__init__, __eq__, __hash__, _shown, _refuse_to_set, _refuse_to_delete)
    for name, method in zip(_NAMES, methods, strict=True):
        if name not in own:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]  # it is the class that was given


_NAMES = ("__init__", "__eq__", "__hash__", "__repr__", "__setattr__", "__delattr__")


@recursive_repr()
def _shown(self: Any) -> str:
    parts = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _refuse_to_set(_self: Any, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _initializer(cls: Any) -> Callable[..., None]:
    """The method that takes the fields of a class, and sets them."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    lines = [line for one in fields(cls) for line in _setting(one, known)]
    after = ["    self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    given = [_parameter(one, known) for one in fields(cls) if one.init]
    source = "\n".join([f"def __init__(self, {', '.join(given)}):", *lines, *after, "    pass"])
    exec(source, known)  # noqa: S102 - made of names of fields alone
    return known["__init__"]  # type: ignore[no-any-return]  # that is what was defined


def _parameter(one: "Field[Any]", known: dict[str, Any]) -> str:
    if one.default is not MISSING:
        known[f"_default_{one.name}"] = one.default
        return f"{one.name}=_default_{one.name}"
    return one.name if one.default_factory is MISSING else f"{one.name}=_missing"


def _setting(one: "Field[Any]", known: dict[str, Any]) -> list[str]:
    value = one.name if one.init else "_missing"
    if one.default_factory is not MISSING:
        known[f"_make_{one.name}"] = one.default_factory
        value = f"_make_{one.name}() if {value} is _missing else {value}"
    elif not one.init:
        return []
    return [f"    _set(self, {one.name!r}, {value})"]
