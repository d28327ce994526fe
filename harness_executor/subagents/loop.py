"""A subagent's conversation: ask the model, use the tools, until there is an acceptable result."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from harness_executor.errors import ProviderError, ReplyRejected
from harness_executor.prompting import render
from harness_executor.providers.base import (
    Provider,
    Reply,
    Request,
    Said,
    Stop,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from harness_executor.shapes import schema
from harness_executor.subagents.jobs import Beat, Job, Message, Spent
from harness_executor.subagents.replies import (
    TYPES,
    Result,
    Unacceptable,
    WorkReply,
    from_arguments,
    from_text,
)
from harness_executor.tools.base import Tool, ToolError
from harness_executor.tools.shell import Terminal

SUBMIT = "submit_result"
ASK_AGAIN = 2
"""How often an unacceptable result is sent back."""


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
    turns: list[Said | Reply] = field(default_factory=list)
    rejected: int = 0
    fixes: int = 0

    def run(self) -> Result:
        """The result; raises AgentError or ProviderError."""
        self.turns.append(Said(self.job.prompt))
        for number in range(1, self.job.max_turns + 1):
            reply = self._ask(number)
            result = self._handle(reply)
            if result is not None:
                return result
        raise ReplyRejected(
            f"no result after {self.job.max_turns} turns", hint="split the request into smaller ones"
        )

    def _ask(self, number: int) -> Reply:
        self.say(Beat(number, "asking the model"))
        specs = tuple(ToolSpec(tool.name, tool.description, tool.schema) for tool in self.tools)
        submit = ToolSpec(SUBMIT, "Hand over your result and end.", schema(TYPES[self.job.answering]))
        request = Request(self.job.role.value, self.model, self.system, tuple(self.turns), (*specs, submit))
        reply = self.provider.complete(request)
        self.say(Spent(number, reply.usage.input_tokens, reply.usage.output_tokens))
        self.turns.append(reply)
        return reply

    def _turn(self) -> int:
        return sum(isinstance(turn, Reply) for turn in self.turns)

    def _handle(self, reply: Reply) -> Result | None:
        if reply.stop is Stop.REFUSAL:
            raise ProviderError("the model declined the request", hint="word the request differently")
        if reply.stop is Stop.LENGTH:
            return self._again(reply, "your message was cut off before its end; make it shorter")
        submitted = [call for call in reply.calls if call.name == SUBMIT]
        if len(submitted) > 1:
            return self._again(reply, "submit_result was called more than once")
        if submitted and len(reply.calls) > 1:
            return self._again(reply, "it came with other calls, and none of them was carried out")
        if reply.calls and not submitted:
            self.turns.append(Said(results=tuple(self._use(call) for call in reply.calls)))
            return None
        try:
            result = (
                from_arguments(self.job.answering, submitted[0].arguments)
                if submitted
                else from_text(self.job.answering, reply.text)
            )
        except Unacceptable as error:
            return self._again(reply, str(error))
        return self._checked(reply, result)

    def _checked(self, reply: Reply, result: Result) -> Result | None:
        if not isinstance(result, WorkReply) or result.status != "success" or not self.job.check:
            return result
        self.say(Beat(self._turn(), f"checking: {self.job.check}"))
        done = self.terminal.run(self.job.check, 900.0)
        if done.ok:
            return result
        self.fixes += 1
        if self.fixes > self.job.self_fix:
            return replace(result, validation_result="fail", validation_output=done.output[-4000:])
        self._answer(
            reply,
            render("check_failed", check=self.job.check, output=done.output[-8000:], attempt=self.fixes),
        )
        return None

    def _again(self, reply: Reply, why: str) -> Result | None:
        self.rejected += 1
        why = why[:2000]
        if self.rejected > ASK_AGAIN:
            raise ReplyRejected(
                f"no acceptable result after {self.rejected} tries: {why}", hint="try another model"
            )
        self._answer(reply, render("ask_again", why=why))
        return None

    def _answer(self, reply: Reply, text: str) -> None:
        results = tuple(ToolResult(call.id, text, is_error=True) for call in reply.calls)
        self.turns.append(Said("" if results else text, results))

    def _use(self, call: ToolCall) -> ToolResult:
        self.say(Beat(self._turn(), _doing(call)))
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        try:
            if tool is None:
                raise ToolError(f"there is no tool {call.name}")
            return ToolResult(call.id, tool.use(call.arguments))
        except ToolError as error:
            return ToolResult(call.id, str(error), is_error=True)


def _doing(call: ToolCall) -> str:
    about = call.arguments.get("path") or call.arguments.get("command") or call.arguments.get("pattern") or ""
    return f"{call.name} {str(about)[:80]}".strip()
