"""A subagent's conversation: ask the model, use the tools, until there is an acceptable result."""

import os
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from harness_executor.errors import ProviderError, ReplyRejected
from harness_executor.providers.base import Reply, Said
from harness_executor.subagents.jobs import Answering, Beat, Message, Role
from harness_executor.subagents.loop import ASK_AGAIN
from harness_executor.subagents.replies import PlanReply, WorkReply
from harness_executor.subagents.submission import SUBMIT
from tests.subagents.conftest import SUCCESS, Office, call, submit
from tests.subagents.talking import conversation, told

BAD = submit({"status": "done"})


def _counting(office: Office) -> str:
    """A check that counts its runs and fails."""
    return f"echo run >> {office.scratch / 'runs'}; echo boom; exit 1"


def _runs(office: Office) -> int:
    return len((office.scratch / "runs").read_text().splitlines())


def test_gives_the_result_that_was_submitted(office: Office) -> None:
    """A result handed over through the tool ends the conversation."""
    assert conversation(office.job(submit())).run() == WorkReply("success", "added the route")


def test_gives_the_result_that_was_written_as_text(office: Office) -> None:
    """A message with one fenced result ends the conversation too."""
    text = '```json\n{"status": "failed", "summary": "no"}\n```'
    assert conversation(office.job({"text": text})).run() == WorkReply("failed", "no")


def test_asks_for_the_result_the_job_wants(office: Office) -> None:
    """The kind of result decides what is accepted."""
    plan = {"summary": "s", "contract": "c", "phases": [{"name": "n", "objective": "o"}]}
    job = office.job(submit(), submit(plan), role=Role.PLANNER, answering=Answering.PLAN)
    talk = conversation(job)
    assert isinstance(talk.run(), PlanReply)
    assert "contract: is missing" in told(talk)[0]


def test_uses_tools_and_tells_their_results(office: Office) -> None:
    """Every call of a message is carried out in order, and its result goes back under its id."""
    both = {
        "calls": [
            {"name": "write_file", "arguments": {"path": "a.txt", "content": "hello\n"}},
            {"name": "read_file", "arguments": {"path": "a.txt"}},
        ]
    }
    talk = conversation(office.job(both, submit()))
    talk.run()
    asked, answered = talk.turns[1:3]
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
    talk = conversation(office.job(mistake, submit()))
    assert talk.run() == WorkReply("success", "added the route")
    answered = talk.turns[2]
    assert isinstance(answered, Said)
    assert answered.results[0].is_error
    assert words in answered.results[0].text


def test_a_result_that_is_not_acceptable_is_sent_back_with_its_error(office: Office) -> None:
    """The model is told what was wrong, and may submit again."""
    talk = conversation(office.job(BAD, submit()))
    assert talk.run() == WorkReply("success", "added the route")
    assert "summary: is missing" in told(talk)[0]
    assert "submit_result" in told(talk)[0]


def test_asks_again_at_most_twice(office: Office) -> None:
    """After two more tries the result is rejected by name; a third good one comes too late."""
    talk = conversation(office.job(BAD, BAD, BAD, submit()))
    with pytest.raises(
        ReplyRejected, match=r"no acceptable result after 3 tries: .*summary: is missing"
    ) as error:
        talk.run()
    assert error.value.hint
    assert ASK_AGAIN == 2
    assert len(told(talk)) == 2


def test_every_way_of_missing_the_result_counts(office: Office) -> None:
    """Prose, a cut-off message and a wrong result use up the same tries."""
    job = office.job({"text": "All done!"}, {"text": "{", "stop": "length"}, BAD, submit())
    with pytest.raises(ReplyRejected, match="after 3 tries"):
        conversation(job).run()


def test_using_tools_between_does_not_give_new_tries(office: Office) -> None:
    """Results that were sent back are counted over the whole conversation."""
    look = call("read_file", path=".")
    with pytest.raises(ReplyRejected, match="after 3 tries"):
        conversation(office.job(BAD, look, BAD, look, BAD, submit())).run()


def test_only_messages_cut_off_in_a_row_end_the_work(office: Office) -> None:
    """A long piece of work may be cut off now and then; a model that cannot be shorter is given up."""
    cut = {**submit(), "stop": "length"}
    look = [call("read_file", path=f"{number}") for number in range(3)]
    talk = conversation(office.job(cut, look[0], cut, cut, look[1], cut, look[2], submit()))
    assert talk.run() == WorkReply("success", "added the route")
    assert "in smaller parts" in told(talk)[0]
    with pytest.raises(ReplyRejected, match="after 3 tries: your message was cut off"):
        conversation(office.job(cut, cut, cut, submit())).run()


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
    talk = conversation(office.job(cut, submit({"status": "failed", "summary": "no"})))
    assert talk.run() == WorkReply("failed", "no")
    assert "cut off" in told(talk)[0]


def test_tools_of_a_message_that_was_cut_off_are_not_used(office: Office) -> None:
    """A call that may have lost its end is answered with an error, and not carried out."""
    cut = {**call("write_file", path="a.txt", content="half"), "stop": "length"}
    talk = conversation(office.job(cut, submit()))
    talk.run()
    assert "cut off" in told(talk)[0]
    assert not (office.tree / "a.txt").exists()


def test_a_refusal_of_the_model_is_named(office: Office) -> None:
    """A model that declines ends the job at once, with what to do."""
    with pytest.raises(ProviderError, match="the model declined the request") as error:
        conversation(office.job({"text": "I cannot", "stop": "refusal"}, submit())).run()
    assert error.value.hint


def test_two_results_at_once_are_asked_again(office: Office) -> None:
    """Of two results none is picked."""
    failed = {"name": SUBMIT, "arguments": {"status": "failed", "summary": "or not"}}
    two = {"calls": [{"name": SUBMIT, "arguments": SUCCESS}, failed]}
    talk = conversation(office.job(two, submit()))
    assert talk.run() == WorkReply("success", "added the route")
    answered = talk.turns[2]
    assert isinstance(answered, Said)
    assert len(answered.results) == 2
    assert all("more than once" in result.text for result in answered.results)


def test_a_result_next_to_other_calls_is_asked_again(office: Office) -> None:
    """An edit that came with the result is not silently dropped: the model is told to do it first."""
    edit = {"name": "write_file", "arguments": {"path": "a.txt", "content": "hello"}}
    together = {"calls": [edit, {"name": SUBMIT, "arguments": SUCCESS}]}
    talk = conversation(office.job(together, {"calls": [edit]}, submit()))
    talk.run()
    assert "none of them was carried out" in told(talk)[0]
    assert (office.tree / "a.txt").read_text() == "hello"


def test_what_the_model_is_told_of_its_mistakes_is_short(office: Office) -> None:
    """A result with thousands of mistakes is answered with the first of them."""
    talk = conversation(office.job(submit({**SUCCESS, "files_changed": list(range(5000))}), submit()))
    talk.run()
    assert len(told(talk)[0]) < 3000


def test_gives_up_after_the_last_turn(office: Office) -> None:
    """A model that only uses tools is stopped after its turns."""
    job = office.job(*[call("read_file", path=".")] * 6, max_turns=5)
    heard: list[Message] = []
    with pytest.raises(ReplyRejected, match="no result after 5 turns") as error:
        conversation(job, heard).run()
    assert error.value.hint
    assert [message for message in heard if "asking" in getattr(message, "doing", "")][-1:] == [
        Beat(5, "asking the model", 12)
    ]


def test_a_model_that_has_no_answer_ends_the_job(office: Office) -> None:
    """An error of the provider is not answered with another call."""
    with pytest.raises(ProviderError, match="has 1 replies, reply 2 was asked for"):
        conversation(office.job(call("read_file", path="."))).run()


def test_a_success_is_checked_before_it_is_handed_over(office: Office) -> None:
    """The check runs in the tree; when it passes, the result is handed over as it was."""
    (office.tree / "ok").touch()
    heard: list[Message] = []
    job = office.job(submit(), check="test -e ok")
    assert conversation(job, heard).run() == WorkReply("success", "added the route")
    assert Beat(1, "checking: test -e ok", 1) in heard


def test_a_failed_check_is_sent_back_until_it_passes(office: Office) -> None:
    """The model sees the output of the check, mends it and submits again."""
    mend = call("write_file", path="ok", content="")
    job = office.job(submit(), mend, submit(), check="echo looking for ok; test -e ok")
    talk = conversation(job)
    assert talk.run() == WorkReply("success", "added the route")
    assert "looking for ok" in told(talk)[0]
    assert "failed (time 1)" in told(talk)[0]


def test_a_check_sends_work_back_at_most_three_times(office: Office) -> None:
    """After three times the work is handed over with the failure written on it."""
    talk = conversation(office.job(*[submit()] * 9, check=_counting(office)))
    result = talk.run()
    assert isinstance(result, WorkReply)
    assert (result.validation_result, result.validation_output) == ("fail", "boom\n")
    assert len(told(talk)) == 3
    assert _runs(office) == 4


def test_a_lower_cap_of_checks_is_obeyed(office: Office) -> None:
    """With no mending allowed the first failure is handed over."""
    result = conversation(office.job(submit(), check=_counting(office), self_fix=0)).run()
    assert isinstance(result, WorkReply)
    assert result.validation_result == "fail"
    assert _runs(office) == 1


def test_a_claim_that_the_check_passed_does_not_count(office: Office) -> None:
    """What the model says of its own check is overwritten by what was seen."""
    claimed = submit({**SUCCESS, "validation_result": "pass", "validation_output": "all green"})
    result = conversation(office.job(claimed, check="echo red; exit 1", self_fix=0)).run()
    assert isinstance(result, WorkReply)
    assert (result.validation_result, result.validation_output) == ("fail", "red\n")


@pytest.mark.parametrize("status", ["failed", "blocked"])
def test_only_a_success_is_checked(office: Office, status: str) -> None:
    """Work that is given up is handed over without a check."""
    job = office.job(submit({"status": status, "summary": "no"}), check=_counting(office))
    assert conversation(job).run() == WorkReply(status, "no")  # type: ignore[arg-type]
    assert not (office.scratch / "runs").exists()


def test_every_turn_is_reported_with_how_far_it_got(office: Office) -> None:
    """There is a beat before each model call and each tool, and what they say has moved only grows."""
    heard: list[Message] = []
    look = call("read_file", path=".")
    conversation(office.job(look, call("shell", command="true"), submit()), heard).run()
    beats = [(beat.turn, beat.doing, beat.moved) for beat in heard if isinstance(beat, Beat)]
    assert beats == [
        (1, "asking the model", 0),
        (1, "read_file .", 2),
        (2, "asking the model", 3),
        (2, "shell true", 5),
        (3, "asking the model", 6),
    ]


def test_the_conversation_only_grows(office: Office) -> None:
    """Each request repeats the one before and adds to it, so that a prompt cache serves."""
    job = office.job(call("read_file", path="."), BAD, submit())
    talk = conversation(job)
    requests: list[tuple[Said | Reply, ...]] = []
    provider = talk.provider

    class Recorded:
        """The scripted model, with what it was asked."""

        def complete(self, request: Any) -> Reply:
            """The next reply."""
            requests.append(request.turns)
            return provider.complete(request)

    talk.provider = Recorded()
    talk.run()
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(requests))
    assert requests[0] == (Said(job.prompt),)


def test_what_a_model_is_shown_is_clean(office: Office) -> None:
    """Secrets are taken out of results, of errors and of the output of the check; odd names can be sent."""
    (office.tree / os.fsdecode(b"odd-\xff")).write_text("x")
    (office.tree / "key.txt").write_text("token = hunter2-hunter2\n")
    replies = [
        call("read_file", path="."),
        call("read_file", path="key.txt"),
        call(
            "edit_file",
            path="key.txt",
            old="token = hunter",
            new="x",
            all=True,
            more=[{"old": "no", "new": ""}],
        ),
        call("edit_file", path="key.txt", old="token = hunter3-hunter2", new="x"),
        submit(),
        submit({"status": "failed", "summary": "no"}),
    ]
    talk = conversation(office.job(*replies, check="cat key.txt; false"))
    talk.clean = lambda text: text.replace("hunter2-hunter2", "[hidden]")
    talk.run()
    said = "\n".join(told(talk))
    assert "hunter2-hunter2" not in said
    assert said.count("[hidden]") >= 3
    assert "odd-?" in said
    said.encode()
