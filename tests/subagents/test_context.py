"""Keeps a conversation within the model's window: old results go first, then everything but the task."""

import random
from collections.abc import Sequence

import pytest

from harness_executor.providers.base import Reply, Said, ToolCall, ToolResult, Usage
from harness_executor.providers.measure import size
from harness_executor.subagents.context import ENOUGH, FULL, KEEP, RATE, Context
from harness_executor.subagents.notes import Notes

OPENING = "# Request\n\nadd GET /stats\n\n# Plan\n\ncount them"
FAILURE = "`make test` failed (time 1)\n\n" + "E   a line before\n" * 20 + "E   assert 404 == 200"
Turns = Sequence[Said | Reply]


def _round(at: int, text: str, says: str = "", written: str = "x") -> list[Said | Reply]:
    call = ToolCall(f"call-{at}", "read_file", {"path": f"{at}.py", "more": written})
    return [Reply(says, (call,), usage=None), Said(results=(ToolResult(call.id, text),))]


def _talk(*results: str, **more: str) -> list[Said | Reply]:
    """A conversation with these results."""
    turns: list[Said | Reply] = [Said(OPENING)]
    for at, text in enumerate(results):
        turns += _round(at, text, **more)
    return turns


def _results(turns: Turns) -> list[str]:
    return [result.text for turn in turns if isinstance(turn, Said) for result in turn.results]


def _is_sound(turns: Turns) -> bool:
    """Turns alternate from ours to ours, and each call is answered by the next turn, and nothing else is."""
    if not all(isinstance(turn, Said) == (at % 2 == 0) for at, turn in enumerate(turns)):
        return False
    for at in range(1, len(turns), 2):
        reply, said = turns[at], turns[at + 1] if at + 1 < len(turns) else Said()
        assert isinstance(reply, Reply)
        assert isinstance(said, Said)
        if [call.id for call in reply.calls] != [result.call_id for result in said.results]:
            return False
    first = turns[0]
    return isinstance(first, Said) and not first.results and isinstance(turns[-1], Said)


def test_before_the_first_reply_a_token_is_three_bytes() -> None:
    """Nothing is known yet but bytes."""
    assert Context(1000, 300).estimate([Said("x" * 584)]) == 300


def test_after_a_reply_the_service_knows_better() -> None:
    """What it read is taken as it is; only the reply and what follows is estimated."""
    reply = Reply("ok", usage=Usage(5000, 10))
    said = Said("y" * 3000)
    estimate = Context(10_000, 0).estimate([Said("x" * 15_000), reply, said])
    assert 5000 + (size(reply) + size(said)) / 3 <= estimate <= 5000 + (size(reply) + size(said)) / 3 + 1


def test_text_of_many_tokens_is_counted_as_such() -> None:
    """Where a service says that a byte is worth more than a third of a token, so is the next one."""
    turns: Turns = [Said("x" * 9_984), Reply("", usage=Usage(8000, 1)), Said("y" * 984)]
    assert Context(100_000, 0).estimate(turns) == pytest.approx(8000 + 0.8 * (16 + 1000), abs=1)


def test_a_conversation_with_room_is_not_full() -> None:
    """Up to three quarters of the room nothing has to go."""
    assert not Context(1000, 0).is_full([Said("x" * 2200)])
    assert Context(1000, 0).is_full([Said("x" * 2300)])


def test_the_oldest_results_go_first() -> None:
    """As many as are needed, and the last ones stay; calls keep their results."""
    turns = _talk(*(letter * 3000 for letter in "abcdefgh"))
    context = Context(int(8 * 1000 / FULL), 0)
    made = context.compacted(turns, Notes(OPENING))
    assert [text[0] for text in _results(made)] == ["[", "[", "[", "[", "e", "f", "g", "h"]
    assert len(made) == len(turns)
    assert made[0] == Said(OPENING)
    assert _is_sound(made)


def test_what_is_left_out_is_named() -> None:
    """A long result that was kept in a file says in which; any other can be asked for again."""
    turns = _talk("a" * 3000 + "… all of it is in @output/7.txt …", *("b" * 3000,) * 7)
    first, second, *_ = _results(Context(9000, 0).compacted(turns, Notes(OPENING)))
    assert first == "[left out to save room; all of it is in @output/7.txt]"
    assert second == "[left out to save room; use the tool again if needed]"


def test_short_results_stay() -> None:
    """Replacing them would save nothing."""
    turns = _talk("ok", *("b" * 3000,) * 8)
    assert _results(Context(9000, 0).compacted(turns, Notes(OPENING)))[0] == "ok"


def test_an_open_failure_is_not_left_out() -> None:
    """A result that holds it stays whole, however old it is."""
    notes = Notes(OPENING, failure=FAILURE)
    turns = _talk(FAILURE, *("b" * 3000,) * 8)
    made = Context(9000, 0).compacted(turns, notes)
    assert _results(made)[0] == FAILURE
    assert "b" * 3000 not in _results(made)[1]


def test_an_error_stays_an_error() -> None:
    """What is left out of a failed call still says that it failed."""
    turns = _talk(*("b" * 3000,) * 8)
    turns[2] = Said(results=(ToolResult("call-0", "e" * 3000, is_error=True),))
    made = Context(9000, 0).compacted(turns, Notes(OPENING))[2]
    assert isinstance(made, Said)
    assert made.results[0].is_error


def _notes() -> Notes:
    notes = Notes(OPENING, failure=FAILURE, touched=["b.py", "a.py", "b.py"])
    for line in ("read_file a.py", "edit_file a.py", "edit_file a.py", "shell make test"):
        notes.did(line)
    notes.news.append("From the coordinator:\n- directive, high: mind the tests")
    return notes


def test_a_conversation_that_is_all_words_is_summed_up() -> None:
    """The task stands first and word for word; then failures, files, the trail and the model's last words."""
    turns = _talk(*["ok"] * 30, says="I think so.", written="w" * 900)
    context = Context(6000, 0)
    made = context.compacted(turns, _notes())
    assert _is_sound(made)
    first = made[0]
    assert isinstance(first, Said)
    assert first.text.startswith(f"{OPENING}\n\n# Where things stand")
    assert f"## Still failing\n\n{FAILURE}\n" in first.text
    assert "a.py, b.py" in first.text
    assert "- read_file a.py\n- edit_file a.py (2 times)\n- shell make test\n" in first.text
    assert "mind the tests" in first.text
    assert "> I think so." in first.text
    assert context.estimate(made) <= ENOUGH * context.room
    assert tuple(made[1:]) == tuple(turns[-len(made) + 1 :])


def test_a_failure_in_the_last_turns_is_not_said_twice() -> None:
    """What the last turns still show is not repeated in the summary."""
    turns = [*_talk(*["ok"] * 30, written="w" * 900), *_round(99, FAILURE)]
    made = Context(6000, 0).compacted(turns, _notes())
    assert str(made).count("assert 404 == 200") == 1
    assert _results(made)[-1] == FAILURE


def test_a_second_summary_has_the_first_task_and_the_whole_trail() -> None:
    """Nothing is nested: the task stands there once, however often room was made."""
    context, notes = Context(6000, 0), _notes()
    turns: Turns = _talk(*["ok"] * 30, written="w" * 900)
    for again in range(5):
        turns = [*context.compacted(turns, notes)]
        for at in range(30):
            turns = [*turns, *_round(1000 * again + at, "ok", written="w" * 900)]
        notes.did(f"again {again}")
    made = context.compacted(turns, notes)
    assert str(made).count("add GET /stats") == 1
    assert str(made).count("Where things stand") == 1
    assert "read_file a.py" in str(made[0])
    assert "again 4" in str(made[0])


def test_a_last_result_that_is_too_long_is_shortened() -> None:
    """Its beginning and its end stay, and the model is told."""
    turns = _talk("ok", "A" * 20_000 + "Z" * 20_000)
    context = Context(4000, 0)
    made = context.compacted(turns, Notes(OPENING))
    last = _results(made)[-1]
    assert last.startswith("AAA")
    assert last.endswith("ZZZ")
    assert "left out to save room" in last
    assert context.estimate(made) <= FULL * context.room
    assert _is_sound(made)


def test_a_reply_that_is_too_long_goes_with_its_results() -> None:
    """The task is left, with a trail of what was done."""
    turns = _talk("ok", "ok", written="w" * 20_000)
    context = Context(4000, 0)
    made = context.compacted(turns, _notes())
    assert len(made) == 1
    assert "shell make test" in str(made[0])


def test_a_task_that_is_too_long_stays_as_it_is() -> None:
    """What cannot be shorter is not changed, so that the service can say so."""
    turns = [Said("x" * 30_000)]
    assert Context(1000, 0).compacted(turns, Notes("x" * 30_000)) == tuple(turns)


def test_a_paused_reply_stays_behind_the_reply_before_it() -> None:
    """A summary never begins its last turns between a reply and the one that goes on from it."""
    turns = _talk(*["ok"] * 20, written="w" * 900)
    paused: Turns = [*turns[:-1], Reply("more", usage=None), turns[-1]]
    made = Context(6000, 0).compacted(paused, _notes())
    assert isinstance(made[0], Said)
    assert isinstance(made[1], Reply)
    assert made[1].text != "more"


def test_after_making_room_old_counts_are_not_believed() -> None:
    """What a service counted was another conversation."""
    turns = _talk(*("b" * 3000,) * 8)
    turns[-2] = Reply("", (ToolCall("call-7", "read_file", {}),), usage=Usage(9000, 1))
    made = Context(9000, 0).compacted(turns, Notes(OPENING))
    assert {turn.usage for turn in made if isinstance(turn, Reply)} == {None}


def test_a_service_that_says_full_is_believed() -> None:
    """Less fits from then on, and the next conversation of that size makes room in time."""
    context = Context(100_000, 0)
    turns = _talk(*("b" * 3000,) * 8)
    assert not context.is_full(turns)
    context.overflowed(turns)
    assert context.room < 8500
    made = context.compacted(turns, Notes(OPENING))
    assert context.estimate(made) <= 0.6 * context.estimate(turns)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_was_said_the_task_and_the_failure_stay(seed: int) -> None:
    """Conversations of any shape stay sound, fit, and hold task and failure word for word."""
    draw = random.Random(seed)
    notes = Notes(OPENING)
    turns: Turns = [Said(OPENING)]
    context = Context(6000, 900)
    for at in range(120):
        fails = draw.random() < 0.1
        notes.failure = FAILURE if fails else notes.failure
        text = FAILURE if fails else draw.choice("abc") * draw.randrange(0, 9000)
        turns = [*turns, *_round(at, text, "w" * draw.randrange(0, 300), "v" * draw.randrange(0, 1500))]
        notes.did(f"round {at}")
        if context.is_full(turns):
            turns = context.compacted(turns, notes)
        first = turns[0]
        assert isinstance(first, Said)
        assert first.text.startswith(OPENING)
        assert any(notes.failure in text for text in (first.text, *_results(turns)))
        assert _is_sound(turns)
        assert context.estimate(turns) <= FULL * context.room
    assert len(turns) < 200


def test_the_last_turns_are_those_the_model_just_saw() -> None:
    """At least the last two rounds of results stay whole while dropping others is enough."""
    turns = _talk(*(letter * 3000 for letter in "abcdefgh"))
    made = Context(8500, 0).compacted(turns, Notes(OPENING))
    assert KEEP == 4
    assert made[-KEEP:] == tuple(turns[-KEEP:])
    assert pytest.approx(1 / 3) == RATE
