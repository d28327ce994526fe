"""Letters to a subagent: typed, the most pressing first, and none after its time."""

import json
import threading
from dataclasses import asdict

import pytest

from harness_executor.errors import ShapeError
from harness_executor.shapes import read
from harness_executor.subagents.mailbox import Letter, LetterKind, Mailbox, Priority


def _letter(name: str, **fields: object) -> Letter:
    return read(Letter, {"id": name, "content": name, **fields})


def _ids(letters: tuple[Letter, ...]) -> list[str]:
    return [letter.id for letter in letters]


def test_a_letter_is_context_of_normal_priority_unless_it_says_more() -> None:
    """The defaults are those of the contract."""
    letter = _letter("a")
    assert (letter.kind, letter.priority, letter.ttl) == (LetterKind.CONTEXT, Priority.NORMAL, None)


def test_every_kind_and_priority_of_the_contract_is_known() -> None:
    """The words are those of the contract, the most pressing first."""
    assert [kind.value for kind in LetterKind] == [
        "context",
        "alert",
        "decision_request",
        "directive",
        "progress",
        "needs_context",
        "heartbeat",
    ]
    assert [priority.value for priority in Priority] == ["critical", "high", "normal", "low"]


@pytest.mark.parametrize(
    "fields", [{"kind": "order"}, {"priority": "urgent"}, {"colour": "red"}, {"ttl": "60"}], ids=str
)
def test_a_letter_of_an_unknown_shape_is_refused(fields: dict[str, object]) -> None:
    """A letter is read as strictly as everything else."""
    with pytest.raises(ShapeError):
        _letter("a", **fields)


def test_a_letter_travels_as_one_line() -> None:
    """Written as JSON and read again it is the same, whatever it holds."""
    letter = Letter("a", "finish\nand submit ✓", kind=LetterKind.ALERT, priority=Priority.CRITICAL, ttl=1.5)
    line = json.dumps(asdict(letter))
    assert "\n" not in line
    assert read(Letter, json.loads(line)) == letter


def test_the_most_pressing_comes_first_then_the_earliest() -> None:
    """Priority decides, then when it was sent, then when it arrived."""
    box = Mailbox()
    for letter in (
        _letter("low", priority="low", sent="2026-01-01T00:00:00"),
        _letter("later", sent="2026-01-01T00:00:02"),
        _letter("sooner", sent="2026-01-01T00:00:01"),
        _letter("as soon", sent="2026-01-01T00:00:01"),
        _letter("critical", priority="critical", sent="2026-01-01T00:00:09"),
        _letter("high", priority="high", sent="2026-01-01T00:00:03"),
    ):
        box.put(letter, 0.0)
    assert _ids(box.take(0.0)) == ["critical", "high", "sooner", "as soon", "later", "low"]


def test_a_letter_is_delivered_once() -> None:
    """What was taken is gone, and counted."""
    box = Mailbox()
    box.put(_letter("a"), 0.0)
    assert _ids(box.take(1.0)) == ["a"]
    assert box.take(2.0) == ()
    assert (box.delivered, box.expired) == (1, 0)


def test_a_letter_past_its_time_is_never_delivered() -> None:
    """It is counted as expired; at the last moment of its time it still comes."""
    box = Mailbox()
    box.put(_letter("short", ttl=5.0), 100.0)
    box.put(_letter("long", ttl=50.0), 100.0)
    box.put(_letter("ever"), 0.0)
    box.put(_letter("just", ttl=6.0), 100.0)
    assert _ids(box.take(106.0)) == ["long", "ever", "just"]
    assert (box.delivered, box.expired) == (3, 1)
    assert box.take(106.0) == ()


def test_none_is_lost_while_one_thread_puts_and_another_takes() -> None:
    """Four writers and a reader at the same time: every letter is delivered exactly once."""
    box, got = Mailbox(), list[str]()

    def write(who: int) -> None:
        for number in range(500):
            box.put(_letter(f"{who}-{number}"), 0.0)

    writers = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        got += _ids(box.take(0.0))
    got += _ids(box.take(0.0))
    assert len(got) == len(set(got)) == box.delivered == 2000
