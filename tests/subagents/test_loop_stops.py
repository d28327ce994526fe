"""Every way a model's reply can end, and what the conversation does then."""

from dataclasses import replace

import pytest

from harness_executor.errors import AgentLooping, ContextOverflow, ProviderFault, ReplyRejected
from harness_executor.providers.base import Reply, Said, Stop, ToolCall, Usage
from harness_executor.subagents.jobs import Answering, Beat, Message, Role
from harness_executor.subagents.mailbox import Letter, LetterKind, Mailbox, Priority
from harness_executor.subagents.replies import PlanReply, WorkReply
from harness_executor.subagents.submission import result_schema, submit_tool
from tests.subagents.conftest import Office
from tests.subagents.talking import Played, conversation, handing_over, told, using

DONE = WorkReply("success", "added the route")
PROSE = Reply("All done!")
FENCED = Reply('```json\n{"status": "success", "summary": "added the route"}\n```')


def _read(name: str, identity: str = "r") -> ToolCall:
    return ToolCall(identity, "read_file", {"path": name})


def test_a_paused_reply_is_sent_back_as_it_is(office: Office) -> None:
    """The service goes on from its own words; nothing is put between."""
    paused = Reply("thinking about it", stop=Stop.PAUSE)
    model = Played((paused, handing_over()))
    assert conversation(office.job(), provider=model).run() == DONE
    assert model.requests[1].turns == (Said("add a route"), paused)


def test_a_pause_is_never_read_as_an_answer(office: Office) -> None:
    """Even a whole result is not taken from a reply that only paused."""
    model = Played((replace(FENCED, stop=Stop.PAUSE), handing_over("failed", "no")))
    assert conversation(office.job(), provider=model).run() == WorkReply("failed", "no")


def test_a_reply_that_stopped_for_an_unknown_reason_is_never_read(office: Office) -> None:
    """A result in it is asked for again, and counts as a try."""
    model = Played((replace(FENCED, stop=Stop.OTHER), handing_over("failed", "no")))
    talk = conversation(office.job(), provider=model)
    assert talk.run() == WorkReply("failed", "no")
    assert "stopped before its end" in told(talk)[0]
    assert talk.rejected == 1


def test_calls_of_a_reply_that_stopped_for_an_unknown_reason_are_carried_out(office: Office) -> None:
    """A service with a stop of its own can still use tools."""
    model = Played((using(_read("."), stop=Stop.OTHER), handing_over()))
    talk = conversation(office.job(), provider=model)
    assert talk.run() == DONE
    assert talk.rejected == 0


def _full(kind: str) -> Reply | Exception:
    return ContextOverflow("too long") if kind == "error" else Reply("half of", stop=Stop.OVERFLOW)


@pytest.mark.parametrize("kind", ["error", "stop"])
def test_a_full_window_is_emptied_and_asked_again(office: Office, kind: str) -> None:
    """The task stays, old results go, and the half reply is dropped."""
    (office.tree / "big.txt").write_text("a line of text\n" * 500)
    looks = [
        using(replace(_read("big.txt"), id=str(at), arguments={"path": "big.txt", "first": at}))
        for at in range(1, 9)
    ]
    model = Played((*looks, _full(kind), handing_over()))
    heard: list[Message] = []
    talk = conversation(office.job(), heard, model)
    assert talk.run() == DONE
    assert talk.context.room < office.job().window / 4, "the service was not believed"
    before, after = model.requests[-2:]
    assert len(str(after.turns)) < len(str(before.turns)) * 0.6
    assert isinstance(after.turns[0], Said)
    assert after.turns[0].text.startswith("add a route")
    assert "half of" not in str(after.turns)
    assert any("making room" in beat.doing for beat in heard if isinstance(beat, Beat))


@pytest.mark.parametrize("kind", ["error", "stop"])
def test_a_window_that_is_full_twice_in_a_row_is_an_error(office: Office, kind: str) -> None:
    """What cannot be made to fit is not tried for ever."""
    model = Played((_full(kind), _full(kind), handing_over()))
    with pytest.raises(ContextOverflow):
        conversation(office.job(), provider=model).run()
    assert len(model.requests) == 2


def test_other_failures_of_the_service_pass(office: Office) -> None:
    """Trying again is not the conversation's business."""
    with pytest.raises(ProviderFault, match="overloaded"):
        conversation(office.job(), provider=Played((ProviderFault("overloaded"),))).run()


def test_after_prose_the_last_try_is_held_to_the_schema(office: Office) -> None:
    """Plain JSON without a fence is then a result, and the whole message has to be it."""
    model = Played((PROSE, PROSE, Reply('{"status": "success", "summary": "added the route"}')))
    talk = conversation(office.job(), provider=model)
    assert talk.run() == DONE
    assert [request.schema for request in model.requests] == [None, None, result_schema(Answering.WORK)]
    assert "one JSON object" in told(talk)[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Here it is: {"status": "success", "summary": "s"}', "the message is not JSON"),
        ('{"status": "success", "summary": "s"} {}', "the message is not JSON"),
        ('```json\n{"status": "success"}\n```', "summary: is missing"),
        (f"{FENCED.text}\n{FENCED.text}", "2 fenced results"),
        ("[]", "JSON object"),
    ],
    ids=["prose before", "two", "incomplete", "two fences", "list"],
)
def test_a_message_held_to_the_schema_is_read_as_strictly(office: Office, text: str, words: str) -> None:
    """Nothing is picked out of it."""
    with pytest.raises(ReplyRejected, match="after 3 tries") as error:
        conversation(office.job(), provider=Played((PROSE, PROSE, Reply(text)))).run()
    assert words in error.value.message


def test_one_fenced_block_is_a_result_under_a_schema_too(office: Office) -> None:
    """A model that fences out of habit is understood."""
    assert conversation(office.job(), provider=Played((PROSE, PROSE, FENCED))).run() == DONE


def test_a_bad_submission_is_answered_with_the_tool_again(office: Office) -> None:
    """A model that uses the tool is not moved to plain JSON."""
    bad = using(ToolCall("s", "submit_result", {"status": "done"}))
    model = Played((PROSE, bad, handing_over()))
    conversation(office.job(), provider=model).run()
    assert [request.schema for request in model.requests] == [None, None, None]


def test_a_result_no_service_can_be_held_to_is_asked_for_without_a_schema(office: Office) -> None:
    """Scenarios are free in places; they are asked for in words."""
    model = Played((PROSE, PROSE, PROSE))
    job = office.job(role=Role.VERIFIER, answering=Answering.SCENARIOS)
    with pytest.raises(ReplyRejected):
        conversation(job, provider=model).run()
    assert [request.schema for request in model.requests] == [None, None, None]


def test_a_submission_that_could_not_be_read_is_asked_again(office: Office) -> None:
    """What the provider could not read is never taken for an empty result."""
    broken = ToolCall("s", "submit_result", {"status": "success", "summary": "s"}, problem="not JSON")
    talk = conversation(office.job(), provider=Played((using(broken), handing_over("failed", "no"))))
    assert talk.run() == WorkReply("failed", "no")
    assert "not JSON" in told(talk)[0]


def test_submit_result_is_strict_where_it_can_be(office: Office) -> None:
    """The tool goes out with its schema made strict, after the other tools."""
    model = Played((handing_over(),))
    conversation(office.job(), provider=model).run()
    assert model.requests[0].tools[-1] == submit_tool(Answering.WORK)
    assert model.requests[0].tools[-1].strict
    assert not any(tool.strict for tool in model.requests[0].tools[:-1])
    assert model.requests[0].max_tokens == office.job().max_tokens


def test_the_same_call_is_warned_of_and_then_stopped(office: Office) -> None:
    """At the third same result the model is told, at the sixth the job ends by name."""
    model = Played(using(_read("absent.py", str(at))) for at in range(10))
    talk = conversation(office.job(), provider=model)
    with pytest.raises(AgentLooping, match=r"read_file absent\.py.*6 times") as error:
        talk.run()
    assert error.value.hint
    assert ["times in a row" in text for text in told(talk)] == [False, False, True, True, True]
    assert len(model.requests) == 6


def test_a_warned_model_that_does_something_else_goes_on(office: Office) -> None:
    """Five same calls, then another one, is no loop."""
    (office.tree / "a.txt").write_text("a")
    looks = [using(_read("absent.py", str(at))) for at in range(5)]
    model = Played((*looks, using(_read("a.txt")), *looks, handing_over()))
    assert conversation(office.job(), provider=model).run() == DONE


def test_polling_is_no_loop(office: Office) -> None:
    """The same call whose result changes can be made for ever."""
    poll = ToolCall("p", "shell", {"command": "echo x >> n; wc -l < n"})
    model = Played((*[using(poll)] * 12, handing_over()))
    talk = conversation(office.job(), provider=model)
    assert talk.run() == DONE
    assert not any("times in a row" in text for text in told(talk))


def test_letters_are_added_to_our_next_message(office: Office) -> None:
    """The most pressing first; what was sent before is not touched, and each letter is told once."""
    mailbox = Mailbox()
    model = Played((using(_read(".")), using(_read("a.txt")), handing_over()))
    talk = conversation(office.job(), provider=model)
    talk.mailbox = mailbox

    def deliver(message: Message) -> None:
        if isinstance(message, Beat) and message.doing == "read_file .":
            mailbox.put(Letter("1", "by the way"), talk.clock.monotonic())
            mailbox.put(
                Letter(
                    "2",
                    "finish and submit",
                    kind=LetterKind.ALERT,
                    priority=Priority.CRITICAL,
                    topic="budget",
                ),
                talk.clock.monotonic(),
            )
            mailbox.put(Letter("3", "too late", ttl=-1.0), talk.clock.monotonic())

    talk.say = deliver
    talk.run()
    first, second, third = (request.turns for request in model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    last = second[-1]
    assert isinstance(last, Said)
    assert last.results
    assert last.text.splitlines() == [
        "From the coordinator:",
        "- alert, critical, budget: finish and submit",
        "- context, normal: by the way",
    ]
    assert str(third).count("finish and submit") == 1
    assert (mailbox.delivered, mailbox.expired) == (2, 1)


def test_letters_wait_while_the_service_pauses(office: Office) -> None:
    """A paused reply is sent back alone; the letter goes with our next words."""
    model = Played((Reply("hm", stop=Stop.PAUSE), using(_read(".")), handing_over()))
    talk = conversation(office.job(), provider=model)

    def deliver(message: Message) -> None:
        if message == Beat(1, "asking the model", 0):
            talk.mailbox.put(Letter("1", "hurry"), talk.clock.monotonic())

    talk.say = deliver
    talk.run()
    assert ["hurry" in str(request.turns) for request in model.requests] == [False, False, True]


def test_a_model_with_few_turns_left_is_told_once(office: Office) -> None:
    """Three turns before the end it is told to finish."""
    looks = [using(_read(f"{at}.py", str(at))) for at in range(9)]
    model = Played(looks)
    with pytest.raises(ReplyRejected, match="no result after 9 turns"):
        conversation(office.job(max_turns=9), provider=model).run()
    assert ["turns are left" in str(request.turns) for request in model.requests] == [False] * 6 + [True] * 3
    assert "3 turns are left" in str(model.requests[-1].turns)
    assert str(model.requests[-1].turns).count("turns are left") == 1


def test_what_a_reply_used_is_left_to_who_pays(office: Office) -> None:
    """The conversation reports beats and nothing else."""
    heard: list[Message] = []
    model = Played((using(_read(".")), replace(handing_over(), usage=Usage(10, 5))))
    conversation(office.job(), heard, model).run()
    assert {type(message) for message in heard} == {Beat}


def test_a_plan_is_read_with_its_phases(office: Office) -> None:
    """Every kind of result goes through the same reader."""
    plan = {"summary": "s", "contract": "c", "phases": [{"name": "n", "objective": "o"}]}
    job = office.job(role=Role.PLANNER, answering=Answering.PLAN)
    assert isinstance(
        conversation(job, provider=Played((using(ToolCall("s", "submit_result", plan)),))).run(), PlanReply
    )


def test_a_scenario_that_quotes_nobody_is_sent_back(office: Office) -> None:
    """An invented requirement is named, and may be mended."""
    step = {"request": {"path": "/a"}, "expect": {"status": 200}}

    def submission(why: str) -> Reply:
        scenarios = [{"name": "fast enough", "why": why, "steps": [step]}]
        return using(ToolCall("s", "submit_result", {"scenarios": scenarios}))

    job = office.job(
        role=Role.VERIFIER, answering=Answering.SCENARIOS, sources=("add GET /a with the name", "")
    )
    talk = conversation(job, provider=Played((submission("it is fast"), submission("add GET /a"))))
    talk.run()
    assert "'fast enough' does not quote the request" in told(talk)[0]
