"""A subagent's conversation: ask the model, use the tools, until there is an acceptable result."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import ProviderError, ReplyRejected
from harness_executor.providers.base import Reply, Said
from harness_executor.providers.registry import connect
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.subagents.jobs import Answering, Beat, Job, Message, Role, Spent
from harness_executor.subagents.loop import ASK_AGAIN, SUBMIT, Conversation
from harness_executor.subagents.replies import PlanReply, WorkReply
from harness_executor.tools.base import Place
from harness_executor.tools.files import reading_tools, writing_tools
from harness_executor.tools.shell import Terminal
from tests.subagents.conftest import SUCCESS, Office, call, submit

BAD = submit({"status": "done"})


def _conversation(job: Job, heard: list[Message] | None = None) -> Conversation:
    place = Place(Path(job.root), Path(job.scratch) / "output")
    terminal = Terminal(place, PlainSandbox(), Path(job.scratch) / "shell.log")
    return Conversation(
        job=job,
        provider=connect(job.model),
        system="You are the executor.",
        model="m",
        tools=(*reading_tools(place), *writing_tools(place), *terminal.tools()),
        terminal=terminal,
        say=(heard if heard is not None else []).append,
    )


def _told(conversation: Conversation) -> list[str]:
    """What the model was told after its job: texts and results of tools."""
    said = [turn for turn in conversation.turns[1:] if isinstance(turn, Said)]
    return [text for turn in said for text in (turn.text, *(result.text for result in turn.results)) if text]


def _counting(office: Office) -> str:
    """A check that counts its runs and fails."""
    return f"echo run >> {office.scratch / 'runs'}; echo boom; exit 1"


def _runs(office: Office) -> int:
    return len((office.scratch / "runs").read_text().splitlines())


def test_gives_the_result_that_was_submitted(office: Office) -> None:
    """A result handed over through the tool ends the conversation."""
    assert _conversation(office.job(submit())).run() == WorkReply("success", "added the route")


def test_gives_the_result_that_was_written_as_text(office: Office) -> None:
    """A message with one fenced result ends the conversation too."""
    text = '```json\n{"status": "failed", "summary": "no"}\n```'
    assert _conversation(office.job({"text": text})).run() == WorkReply("failed", "no")


def test_asks_for_the_result_the_job_wants(office: Office) -> None:
    """The kind of result decides what is accepted."""
    plan = {"summary": "s", "contract": "c", "phases": [{"name": "n", "objective": "o"}]}
    job = office.job(submit(), submit(plan), role=Role.PLANNER, answering=Answering.PLAN)
    conversation = _conversation(job)
    assert isinstance(conversation.run(), PlanReply)
    assert "contract: is missing" in _told(conversation)[0]


def test_uses_tools_and_tells_their_results(office: Office) -> None:
    """Every call of a message is carried out in order, and its result goes back under its id."""
    both = {
        "calls": [
            {"name": "write_file", "arguments": {"path": "a.txt", "content": "hello\n"}},
            {"name": "read_file", "arguments": {"path": "a.txt"}},
        ]
    }
    conversation = _conversation(office.job(both, submit()))
    conversation.run()
    asked, answered = conversation.turns[1:3]
    assert isinstance(asked, Reply)
    assert isinstance(answered, Said)
    assert [result.call_id for result in answered.results] == [made.id for made in asked.calls]
    assert [result.text for result in answered.results] == ["wrote 1 lines to a.txt", "1\thello"]


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (call("read_file", path="../secret"), "outside the project"),
        (call("read_file", path="absent.py"), "there is no file"),
        (call("read_file", file="a.py"), "the arguments do not fit"),
        (call("read_file", path="a.py", first="1"), "first: Input should be a valid integer"),
        (call("shell", command="a\0b"), "null byte"),
        (call("shell", command="ls", cwd="/"), "cwd: unknown key"),
        (call("delete_file", path="a.py"), "there is no tool delete_file"),
    ],
    ids=["outside", "absent", "wrong key", "wrong type", "NUL", "own cwd", "unknown tool"],
)
def test_a_tool_that_fails_is_told_to_the_model(office: Office, mistake: Any, words: str) -> None:
    """An error of a tool goes back to the model as an error, and the work goes on."""
    conversation = _conversation(office.job(mistake, submit()))
    assert conversation.run() == WorkReply("success", "added the route")
    answered = conversation.turns[2]
    assert isinstance(answered, Said)
    assert answered.results[0].is_error
    assert words in answered.results[0].text


def test_a_result_that_is_not_acceptable_is_sent_back_with_its_error(office: Office) -> None:
    """The model is told what was wrong, and may submit again."""
    conversation = _conversation(office.job(BAD, submit()))
    assert conversation.run() == WorkReply("success", "added the route")
    assert "summary: is missing" in _told(conversation)[0]
    assert "submit_result" in _told(conversation)[0]


def test_asks_again_at_most_twice(office: Office) -> None:
    """After two more tries the result is rejected by name; a third good one comes too late."""
    conversation = _conversation(office.job(BAD, BAD, BAD, submit()))
    with pytest.raises(
        ReplyRejected, match=r"no acceptable result after 3 tries: .*summary: is missing"
    ) as error:
        conversation.run()
    assert error.value.hint
    assert ASK_AGAIN == 2
    assert len(_told(conversation)) == 2


def test_every_way_of_missing_the_result_counts(office: Office) -> None:
    """Prose, a cut-off message and a wrong result use up the same tries."""
    job = office.job({"text": "All done!"}, {"text": "{", "stop": "length"}, BAD, submit())
    with pytest.raises(ReplyRejected, match="after 3 tries"):
        _conversation(job).run()


def test_using_tools_between_does_not_give_new_tries(office: Office) -> None:
    """Tries are counted over the whole conversation."""
    look = call("read_file", path=".")
    with pytest.raises(ReplyRejected, match="after 3 tries"):
        _conversation(office.job(BAD, look, BAD, look, BAD, submit())).run()


@pytest.mark.parametrize(
    "cut",
    [
        {**submit(), "stop": "length"},
        {"text": f"```json\n{SUCCESS}\n```".replace("'", '"'), "stop": "length"},
    ],
    ids=["submitted", "as text"],
)
def test_a_message_that_was_cut_off_is_never_read(office: Office, cut: Mapping[str, Any]) -> None:
    """Even a whole result is not taken from a message that ended for want of room."""
    conversation = _conversation(office.job(cut, submit({"status": "failed", "summary": "no"})))
    assert conversation.run() == WorkReply("failed", "no")
    assert "cut off" in _told(conversation)[0]


def test_tools_of_a_message_that_was_cut_off_are_not_used(office: Office) -> None:
    """A call that may have lost its end is answered with an error, and not carried out."""
    cut = {**call("write_file", path="a.txt", content="half"), "stop": "length"}
    conversation = _conversation(office.job(cut, submit()))
    conversation.run()
    assert "cut off" in _told(conversation)[0]
    assert not (office.tree / "a.txt").exists()


def test_a_refusal_of_the_model_is_named(office: Office) -> None:
    """A model that declines ends the job at once, with what to do."""
    with pytest.raises(ProviderError, match="the model declined the request") as error:
        _conversation(office.job({"text": "I cannot", "stop": "refusal"}, submit())).run()
    assert error.value.hint


def test_two_results_at_once_are_asked_again(office: Office) -> None:
    """Of two results none is picked."""
    failed = {"name": SUBMIT, "arguments": {"status": "failed", "summary": "or not"}}
    two = {"calls": [{"name": SUBMIT, "arguments": SUCCESS}, failed]}
    conversation = _conversation(office.job(two, submit()))
    assert conversation.run() == WorkReply("success", "added the route")
    answered = conversation.turns[2]
    assert isinstance(answered, Said)
    assert len(answered.results) == 2
    assert all("more than once" in result.text for result in answered.results)


def test_a_result_next_to_other_calls_is_asked_again(office: Office) -> None:
    """An edit that came with the result is not silently dropped: the model is told to do it first."""
    edit = {"name": "write_file", "arguments": {"path": "a.txt", "content": "hello"}}
    together = {"calls": [edit, {"name": SUBMIT, "arguments": SUCCESS}]}
    conversation = _conversation(office.job(together, {"calls": [edit]}, submit()))
    conversation.run()
    assert "none of them was carried out" in _told(conversation)[0]
    assert (office.tree / "a.txt").read_text() == "hello"


def test_what_the_model_is_told_of_its_mistakes_is_short(office: Office) -> None:
    """A result with thousands of mistakes is answered with the first of them."""
    conversation = _conversation(
        office.job(submit({**SUCCESS, "files_changed": list(range(5000))}), submit())
    )
    conversation.run()
    assert len(_told(conversation)[0]) < 3000


def test_gives_up_after_the_last_turn(office: Office) -> None:
    """A model that only uses tools is stopped after its turns."""
    job = office.job(*[call("read_file", path=".")] * 6, max_turns=5)
    heard: list[Message] = []
    with pytest.raises(ReplyRejected, match="no result after 5 turns") as error:
        _conversation(job, heard).run()
    assert error.value.hint
    assert sum(isinstance(message, Spent) for message in heard) == 5


def test_a_model_that_has_no_answer_ends_the_job(office: Office) -> None:
    """An error of the provider is not answered with another call."""
    with pytest.raises(ProviderError, match="has 1 replies, reply 2 was asked for"):
        _conversation(office.job(call("read_file", path="."))).run()


def test_a_success_is_checked_before_it_is_handed_over(office: Office) -> None:
    """The check runs in the tree; when it passes, the result is handed over as it was."""
    (office.tree / "ok").touch()
    heard: list[Message] = []
    job = office.job(submit(), check="test -e ok")
    assert _conversation(job, heard).run() == WorkReply("success", "added the route")
    assert Beat(1, "checking: test -e ok") in heard


def test_a_failed_check_is_sent_back_until_it_passes(office: Office) -> None:
    """The model sees the output of the check, mends it and submits again."""
    mend = call("write_file", path="ok", content="")
    job = office.job(submit(), mend, submit(), check="echo looking for ok; test -e ok")
    conversation = _conversation(job)
    assert conversation.run() == WorkReply("success", "added the route")
    assert "looking for ok" in _told(conversation)[0]
    assert "failed (time 1)" in _told(conversation)[0]


def test_a_check_sends_work_back_at_most_three_times(office: Office) -> None:
    """After three times the work is handed over with the failure written on it."""
    conversation = _conversation(office.job(*[submit()] * 9, check=_counting(office)))
    result = conversation.run()
    assert isinstance(result, WorkReply)
    assert (result.validation_result, result.validation_output) == ("fail", "boom\n")
    assert len(_told(conversation)) == 3
    assert _runs(office) == 4


def test_a_lower_cap_of_checks_is_obeyed(office: Office) -> None:
    """With no mending allowed the first failure is handed over."""
    result = _conversation(office.job(submit(), check=_counting(office), self_fix=0)).run()
    assert isinstance(result, WorkReply)
    assert result.validation_result == "fail"
    assert _runs(office) == 1


def test_a_claim_that_the_check_passed_does_not_count(office: Office) -> None:
    """What the model says of its own check is overwritten by what was seen."""
    claimed = submit({**SUCCESS, "validation_result": "pass", "validation_output": "all green"})
    result = _conversation(office.job(claimed, check="echo red; exit 1", self_fix=0)).run()
    assert isinstance(result, WorkReply)
    assert (result.validation_result, result.validation_output) == ("fail", "red\n")


@pytest.mark.parametrize("status", ["failed", "blocked"])
def test_only_a_success_is_checked(office: Office, status: str) -> None:
    """Work that is given up is handed over without a check."""
    job = office.job(submit({"status": status, "summary": "no"}), check=_counting(office))
    assert _conversation(job).run() == WorkReply(status, "no")  # type: ignore[arg-type]
    assert not (office.scratch / "runs").exists()


def test_every_turn_is_reported_with_what_it_used(office: Office) -> None:
    """For each model call there is a beat before it and a charge after it, and tools count to their turn."""
    heard: list[Message] = []
    look = call("read_file", path=".")
    _conversation(office.job(look, call("shell", command="true"), submit()), heard).run()
    beats = [(message.turn, message.doing) for message in heard if isinstance(message, Beat)]
    assert beats == [
        (1, "asking the model"),
        (1, "read_file ."),
        (2, "asking the model"),
        (2, "shell true"),
        (3, "asking the model"),
    ]
    assert [message.call for message in heard if isinstance(message, Spent)] == [1, 2, 3]


def test_the_conversation_only_grows(office: Office) -> None:
    """Each request repeats the one before and adds to it, so that a prompt cache serves."""
    job = office.job(call("read_file", path="."), BAD, submit())
    conversation = _conversation(job)
    requests: list[tuple[Said | Reply, ...]] = []
    provider = conversation.provider

    class Recorded:
        """The scripted model, with what it was asked."""

        def complete(self, request: Any) -> Reply:
            """The next reply."""
            requests.append(request.turns)
            return provider.complete(request)

    conversation.provider = Recorded()
    conversation.run()
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(requests))
    assert requests[0] == (Said(job.prompt),)
