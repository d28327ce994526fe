"""A subagent's conversation: ask the model, use the tools, until there is an acceptable result."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from harness_executor.clock import Clock, SystemClock
from harness_executor.errors import AgentLooping, ContextOverflow, ProviderError, ReplyRejected
from harness_executor.prompting import render
from harness_executor.providers.base import Provider, Reply, Request, Said, Stop, ToolCall, ToolResult
from harness_executor.providers.measure import fixed_size
from harness_executor.subagents.calls import Toolbox, doing, sendable
from harness_executor.subagents.context import Context
from harness_executor.subagents.jobs import Beat, Job, Message
from harness_executor.subagents.mailbox import Mailbox
from harness_executor.subagents.notes import Notes
from harness_executor.subagents.repetition import STOP, WARN, Repetition, warning
from harness_executor.subagents.replies import (
    Result,
    Unacceptable,
    WorkReply,
    fair,
    from_arguments,
    from_json,
    from_text,
)
from harness_executor.subagents.submission import SUBMIT, result_schema, submit_tool
from harness_executor.tools.base import Tool
from harness_executor.tools.shell import Terminal

ASK_AGAIN = 2
"""How often an unacceptable result is sent back."""
FEW_TURNS = 3
"""With so many turns left the model is told to finish."""
CHECK_SECONDS = 600.0


@dataclass
class Conversation:
    """One job being worked on."""

    job: Job
    provider: Provider
    system: str
    model: str
    tools: tuple[Tool, ...]
    terminal: Terminal
    say: Callable[[Message], None]
    mailbox: Mailbox = field(default_factory=Mailbox)
    clock: Clock = field(default_factory=SystemClock)
    clean: Callable[[str], str] = lambda text: text
    """Takes the user's secrets out of what the model is shown."""
    turns: list[Said | Reply] = field(default_factory=list)
    turn: int = 0
    moved: int = 0
    """Grows with every reply and every result."""
    rejected: int = 0
    """Results that were sent back."""
    cut_off: int = 0
    """Messages in a row that were cut off."""
    fixes: int = 0
    as_json: bool = False
    """Is the service asked to hold the answer to the schema of the result?"""
    was_hurried: bool = False
    repetition: Repetition = field(default_factory=Repetition)

    @cached_property
    def toolbox(self) -> Toolbox:
        """The tools, ready to be used."""
        return Toolbox(self.tools, self.clean)

    @cached_property
    def notes(self) -> Notes:
        """What is never forgotten."""
        return Notes(self.job.prompt, touched=self.terminal.place.touched)

    @cached_property
    def context(self) -> Context:
        """How much of the conversation fits."""
        room = max(self.job.window - self.job.max_tokens, self.job.window // 4)
        return Context(room, fixed_size(self._request()))

    def run(self) -> Result:
        """The result; raises AgentError or ProviderError."""
        self.turns.append(Said(self.job.prompt))
        while self.turn < self.job.max_turns:
            self.turn += 1
            result = self._handle(self._ask())
            if result is not None:
                return result
        raise ReplyRejected(
            f"no result after {self.job.max_turns} turns", hint="split the request into smaller ones"
        )

    def _ask(self) -> Reply:
        self._add_news()
        if self.context.is_full(self.turns):
            self._make_room()
        try:
            reply = self._answer()
        except ContextOverflow:
            self.context.overflowed(self.turns)
            self._make_room()
            reply = self._answer()
        self.turns.append(reply)
        return reply

    def _answer(self) -> Reply:
        self._beat("asking the model")
        reply = self.provider.complete(self._request())
        self.moved += 1
        if reply.stop is Stop.OVERFLOW:
            raise ContextOverflow("the model's window is full", hint="name the model's window in the config")
        return reply

    def _request(self) -> Request:
        return Request(
            role=self.job.role.value,
            model=self.model,
            system=self.system,
            turns=tuple(self.turns),
            tools=(*self.toolbox.specs, submit_tool(self.job.answering)),
            max_tokens=self.job.max_tokens,
            schema=result_schema(self.job.answering) if self.as_json else None,
        )

    def _add_news(self) -> None:
        """Add what the coordinator has to say to our next message; what was sent before stays as it is."""
        last = self.turns[-1]
        if not isinstance(last, Said):
            return
        letters = self.mailbox.take(self.clock.monotonic())
        news = [render("letters", letters=letters)] if letters else []
        left = self.job.max_turns - self.turn + 1
        if left <= FEW_TURNS and self.turn > 1 and not self.was_hurried:
            self.was_hurried = True
            news.append(render("few_turns", left=left))
        if news:
            self.notes.news += news
            self.turns[-1] = replace(last, text="\n\n".join(filter(None, (last.text, *news))))

    def _make_room(self) -> None:
        before = self.context.estimate(self.turns)
        self.turns = list(self.context.compacted(self.turns, self.notes))
        after = self.context.estimate(self.turns)
        self._beat(f"making room: from about {before} tokens to about {after}")

    def _handle(self, reply: Reply) -> Result | None:
        if reply.stop is Stop.REFUSAL:
            raise ProviderError("the model declined the request", hint="word the request differently")
        if reply.stop is Stop.LENGTH:
            why = "your message was cut off before its end, and nothing of it was carried out"
            self.cut_off += 1
            return self._again(reply, why, then="smaller")
        if reply.calls:
            return self._called(reply)
        if reply.stop is Stop.PAUSE:
            return None
        if reply.stop is not Stop.END:
            return self._again(reply, "your message stopped before its end")
        return self._read(reply, lambda: self._written(reply))

    def _called(self, reply: Reply) -> Result | None:
        submitted = [call for call in reply.calls if call.name == SUBMIT]
        if not submitted:
            self._use(reply.calls)
            return None
        if len(submitted) > 1:
            return self._again(reply, "submit_result was called more than once")
        if len(reply.calls) > 1:
            why = "submit_result came with other calls, and none of them was carried out"
            return self._again(reply, why, then="alone")
        return self._read(reply, lambda: self._submitted(submitted[0]))

    def _read(self, reply: Reply, result: Callable[[], Result]) -> Result | None:
        try:
            found = result()
        except Unacceptable as error:
            return self._again(reply, str(error))
        return self._checked(reply, found)

    def _submitted(self, call: ToolCall) -> Result:
        if call.problem:
            raise Unacceptable(call.problem)
        return self._fair(from_arguments(self.job.answering, call.arguments, self.job.sources))

    def _written(self, reply: Reply) -> Result:
        read = from_json if self.as_json else from_text
        return self._fair(read(self.job.answering, reply.text, self.job.sources))

    def _fair(self, result: Result) -> Result:
        return fair(result, self.job.frozen, self.job.missed)

    def _checked(self, reply: Reply, result: Result) -> Result | None:
        if not isinstance(result, WorkReply) or result.status != "success" or not self.job.check:
            return result
        self._beat(f"checking: {self.job.check}")
        done = self.terminal.run(self.job.check, CHECK_SECONDS)
        self.moved += 1
        if done.ok:
            return result
        self.fixes += 1
        if self.fixes > self.job.self_fix:
            output = self.clean(sendable(done.output))[-4000:]
            return replace(result, validation_result="fail", validation_output=output)
        output = self.clean(sendable(done.output))[-min(8000, self.job.window // 2) :]
        failure = render("check_failed", check=self.job.check, output=output, attempt=self.fixes)
        self.notes.did("submit_result, and the check failed")
        self.notes.failure = failure
        self._tell(reply, failure)
        return None

    def _again(self, reply: Reply, why: str, then: str = "submit") -> Result | None:
        self.rejected += then != "smaller"
        why, tries = why[:2000], self.rejected + self.cut_off
        if tries > ASK_AGAIN:
            raise ReplyRejected(f"no acceptable result after {tries} tries: {why}", hint="try another model")
        was_prose = reply.stop is Stop.END and not reply.calls
        self.as_json = was_prose and self.rejected == ASK_AGAIN and bool(result_schema(self.job.answering))
        self._tell(reply, render("ask_again", why=why, then="json" if self.as_json else then))
        return None

    def _tell(self, reply: Reply, text: str) -> None:
        results = tuple(ToolResult(call.id, text, is_error=True) for call in reply.calls)
        self.turns.append(Said("" if results else text, results))

    def _use(self, calls: tuple[ToolCall, ...]) -> None:
        results = self.toolbox.carry_out(calls, self._begin)
        self.moved += len(results)
        self.cut_off = 0
        for call in calls:
            self.notes.did(doing(call))
        self.repetition = self.repetition.after(calls, results)
        times = self.repetition.times
        if times >= STOP:
            raise AgentLooping(
                f"{doing(calls[-1])}: the same call with the same result {times} times in a row",
                hint="word the request more exactly, or try another model",
            )
        if times >= WARN:
            results = (*results[:-1], replace(results[-1], text=f"{results[-1].text}\n\n{warning(times)}"))
        self.turns.append(Said(results=results))

    def _begin(self, call: ToolCall) -> None:
        self.moved += 1
        self._beat(doing(call))

    def _beat(self, doing_what: str) -> None:
        self.say(Beat(self.turn, doing_what, self.moved))
