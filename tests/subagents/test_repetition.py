"""Is a model making the same calls with the same results, again and again?"""

from harness_executor.providers.base import ToolCall, ToolResult
from harness_executor.subagents.repetition import LONGEST, STOP, WARN, Repetition, warning


def _played(*rounds: tuple[str, str]) -> Repetition:
    """After calls with these names and results."""
    repetition = Repetition()
    for number, (name, text) in enumerate(rounds):
        call = ToolCall(f"id-{number}", name, {"path": name})
        repetition = repetition.after((call,), (ToolResult(call.id, text),))
    return repetition


A, B, C = ("a", "one"), ("b", "two"), ("c", "three")


def test_the_same_call_with_the_same_result_is_counted() -> None:
    """Each time in a row counts, whatever the call's id is."""
    assert [_played(*[A] * times).times for times in range(1, 8)] == [1, 2, 3, 4, 5, 6, 7]


def test_another_result_is_no_repetition() -> None:
    """Asking again until something changes is polling, which is allowed for ever."""
    assert _played(*[("a", str(number)) for number in range(100)]).times == 1


def test_another_call_between_begins_anew() -> None:
    """Five times, something else, and once more is once."""
    assert _played(*[A] * 5, B, A).times == 1


def test_alternating_calls_are_counted_as_pairs() -> None:
    """A and B in turn are as much of a loop as A alone."""
    assert _played(*[A, B] * 2).times == 2
    assert _played(*[A, B] * WARN).times == WARN
    assert _played(*[A, B] * STOP).times == STOP
    assert _played(C, *[A, B] * WARN, A).times == WARN


def test_a_longer_round_is_counted_too() -> None:
    """A, B and C in turn are a loop, and a round longer than that which is looked at is none."""
    assert _played(*[A, B, C] * STOP).times == STOP
    longer = [(str(number), "same") for number in range(LONGEST + 1)]
    assert _played(*longer * STOP).times == 1


def test_an_alternation_with_a_new_result_is_none() -> None:
    """An edit that fails the tests in another way each time is work."""
    rounds = [one for number in range(10) for one in (A, ("b", f"failure {number}"))]
    assert _played(*rounds).times == 1


def test_all_calls_of_a_reply_count_together() -> None:
    """A reply with one more call is another reply."""
    one, two = ToolCall("1", "a", {}), ToolCall("2", "b", {})
    results = (ToolResult("1", "x"), ToolResult("2", "y"))
    repetition = Repetition().after((one, two), results).after((one,), results[:1])
    assert repetition.times == 1
    assert repetition.after((one,), results[:1]).times == 2


def test_an_error_and_the_same_words_are_not_the_same() -> None:
    """A result that says what an error said before is another result."""
    call = ToolCall("1", "a", {})
    repetition = Repetition().after((call,), (ToolResult("1", "x", is_error=True),))
    assert repetition.after((call,), (ToolResult("1", "x"),)).times == 1


def test_arguments_that_are_no_json_can_be_compared() -> None:
    """A number that JSON does not have breaks nothing."""
    call = ToolCall("1", "a", {"x": float("nan")})
    result = (ToolResult("1", "\ud800"),)
    assert Repetition().after((call,), result).after((call,), result).times == 2


def test_only_as_much_is_remembered_as_is_needed() -> None:
    """A thousand rounds take no more memory than the longest loop."""
    assert len(_played(*[A, B, C] * 400).rounds) == STOP * LONGEST


def test_the_warning_says_what_happens_next() -> None:
    """The model is told how often it was, and when it will be stopped."""
    assert "3 times" in warning(3)
    assert f"At {STOP} times" in warning(3)
