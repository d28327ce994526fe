"""May a frozen scenario become another? Once, only where it failed, and never for less than it must show."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT, canonical
from harness_executor.kernel.expectation import Expect, FileCheck, JsonCheck, Op
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.heldout import draws
from harness_executor.kernel.lean import lean
from harness_executor.kernel.scenario import NONZERO, Scenario, Step, problem_of

CAPTURE = "capture"
"""What failed where an answer lacked a value that later steps use."""
_STATUS = ("status", "exit_code")
_VALUELESS = (Op.EXISTS, Op.TYPE)


@frozen
class Dispute:
    """What an executor says of an expectation that nobody asked for."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    expectation: str
    """The item it was sent back with."""
    reason: str


@frozen
class Shortfall:
    """Where a scenario failed on the change as it did on base."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    scenario: str
    step: int
    """The number of the step, from 0."""
    failed: tuple[str, ...]
    """The kinds of comparison that failed there; none when no answer came."""
    words: str
    """What was asked, expected and got."""


@frozen
class Ruling:
    """What a verifier says of one disputed scenario."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    scenario: str
    """Its name."""
    quote: str
    """The words of the request or the interface, copied, that ask for what it expects."""
    reason: str
    amended: Scenario | None = None
    """The scenario as it should have been; nothing when it is upheld."""


def amended(frozen: tuple[Scenario, ...], rulings: tuple[Ruling, ...]) -> tuple[Scenario, ...]:
    """The scenarios with those replaced that were amended; none is added, and none goes."""
    new = {ruling.scenario: ruling.amended for ruling in rulings if ruling.amended is not None}
    return tuple(new.get(scenario.name, scenario) for scenario in frozen)


def problem_of_rulings(
    frozen: tuple[Scenario, ...], missed: tuple[Shortfall, ...], rulings: tuple[Ruling, ...]
) -> str:
    """What makes rulings unusable, or nothing."""
    names = sorted(short.scenario for short in missed)
    if sorted(ruling.scenario for ruling in rulings) != names:
        return f"rule once on each of these, and on nothing else: {', '.join(map(repr, names))}"
    known = {scenario.name: scenario for scenario in frozen}
    places = {short.scenario: short for short in missed}
    for ruling in rulings:
        if not ruling.reason.strip():
            return f"{ruling.scenario}: a ruling has a reason"
        if ruling.amended is not None:
            found = _unfair(known[ruling.scenario], ruling.amended, places[ruling.scenario])
            problem = problem_of((ruling.amended,)) or next(found, "")
            if problem:
                return f"{ruling.scenario}: {problem.removeprefix(f'{ruling.scenario}: ')}"
    return ""


def _unfair(old: Scenario, new: Scenario, short: Shortfall) -> Iterator[str]:
    if (new.name, new.kind) != (old.name, old.kind):
        yield "an amended scenario keeps its name and its kind"
    if new == old:
        yield "nothing is amended; to uphold it, leave `amended` out"
    if (dict(new.let), new.steps[: short.step]) != (dict(old.let), old.steps[: short.step]):
        yield f"`let` and the steps before step {short.step + 1}, which failed, stay as they are"
    if len(new.steps) < len(old.steps):
        yield "no step may be left out"
    if draws(old) and not draws(new):
        yield "values that are drawn stay drawn"
    for number, (before, after) in enumerate(zip(old.steps, new.steps, strict=False)):
        yield from _other(before, after, short, number)
        yield from _weaker(before, after, short, number)
        yield from _fitted(before.expect, after.expect, number)


def _other(old: Step, new: Step, short: Shortfall, number: int) -> Iterator[str]:
    """What a step does stays; what it remembers may be found elsewhere if just that was not there."""
    if (new.acts, new.effect) != (old.acts, old.effect):
        yield f"step {number + 1} goes on doing the same: only what it expects may change"
    may_move = number == short.step and CAPTURE in short.failed
    if new.capture != old.capture and not (may_move and new.capture.keys() <= old.capture.keys()):
        yield f"step {number + 1} goes on remembering the same: only what was not there may move"


def _weaker(old: Step, new: Step, short: Shortfall, number: int) -> Iterator[str]:
    before, after = _comparisons(old.expect), _comparisons(new.expect)
    for text, (field, kinds) in before.items():
        failed = any(kind in short.failed for kind in kinds)
        may_go = failed and (number == short.step or field not in _STATUS)
        if text not in after and not may_go:
            yield f"step {number + 1} has to keep {kinds[0]!r} as it is: only what failed may change"
    if any(field not in _STATUS for field, _ in before.values()) and not any(
        field not in _STATUS for field, _ in after.values()
    ):
        yield f"step {number + 1} has to look at more than the status"


def _fitted(old: Expect, new: Expect, number: int) -> Iterator[str]:
    """What fails may go or become looser; it may not become what the change happens to answer."""
    values = {canonical(check.value) for check in old.json}
    checks = [check for check in new.json if check not in old.json and check.op not in _VALUELESS]
    other = [check.path for check in checks if canonical(check.value) not in values]
    if new.status != old.status and not _is_looser(new.status, old.status):
        other.append("status")
    if new.exit_code != old.exit_code and not _fails_as_well(new.exit_code, old.exit_code):
        other.append("exit_code")
    known = set(_comparisons(old))
    fields = [field for text, (field, _) in _comparisons(new).items() if text not in known]
    other += [field for field in fields if field not in ("json", *_STATUS)]
    if other:
        what = ", ".join(dict.fromkeys(other))
        yield f"step {number + 1} may leave out or loosen what failed, not expect something else: {what}"


def _is_looser(new: Any, old: Any) -> bool:
    """Does a status allow everything that another does?"""
    match old, new:
        case int(), str():
            return f"{old // 100}xx" == new
        case int(), tuple():
            return old in new and all(one // 100 == old // 100 for one in new)
        case tuple(), tuple():
            return set(old) <= set(new) and {one // 100 for one in new} == {one // 100 for one in old}
    return False


def _fails_as_well(new: Any, old: Any) -> bool:
    """Does an exit code allow everything that another does, and still no success?"""
    before, after = (_codes(code) for code in (old, new))
    if 0 in before or not before:
        return False
    return new == NONZERO or (0 not in after and before <= after and NONZERO not in before)


def _codes(code: Any) -> set[int | str]:
    return set(code) if isinstance(code, tuple) else {0 if code is None else code}


def _comparisons(expect: Expect) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Every comparison as a text of its own, with its field and the kinds a failed one is reported as."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for name in (field.name for field in fields(expect) if field.name != "files"):
        for item in _items(getattr(expect, name)):
            found[f"{name} {canonical(lean(item))}"] = (name, (_kind(name, item),))
    for place, file in expect.files.items():
        created = f"file_created {place}"
        found |= {f"files {place} {text}": ("files", (kind, created)) for text, kind in _of_file(place, file)}
        found[f"files {place} exists {file.exists}"] = ("files", (created,))
    return found


def _of_file(place: str, file: FileCheck) -> Iterator[tuple[str, str]]:
    """What is compared of a file that is there, each with the kind it is reported as."""
    yield from ((f"contains {part}", f"file {place}_contains") for part in file.contains)
    yield from ((f"matches {pattern}", f"file {place}_matches") for pattern in file.matches)
    if file.equals is not None:
        yield f"equals {file.equals}", f"file {place} equals"


def _items(value: Any) -> tuple[Any, ...]:
    match value:
        case None | () | "":
            return ()
        case Mapping():
            return tuple(value.items())
        case tuple() if not all(isinstance(one, int) for one in value):
            return value
    return (value,)


def _kind(field: str, item: Any) -> str:
    match field, item:
        case "status", _:
            return "status_code"
        case "headers", (name, _):
            return f"header {name} contains"
        case "json", JsonCheck():
            return f"json_path {item.path} {item.op.value}"
    return field
