"""Carries out the calls of one reply: what only reads at the same time, what writes in its turn."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import groupby

from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import ToolCall, ToolResult, ToolSpec
from harness_executor.tools.base import Tool, ToolError

AT_ONCE = 8
"""Reading calls that are carried out at the same time."""


@frozen
class Toolbox:
    """The tools of a job."""

    tools: tuple[Tool, ...]
    clean: Callable[[str], str] = lambda text: text
    """Takes the user's secrets out of what a model is shown."""

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return tuple(ToolSpec(tool.name, tool.description, tool.schema) for tool in self.tools)

    def carry_out(
        self, calls: Sequence[ToolCall], starting: Callable[[ToolCall], None]
    ) -> tuple[ToolResult, ...]:
        """One result for each call, in their order; `starting` is told of each."""
        results: list[ToolResult] = []
        for reads, run in groupby(calls, key=self._reads):
            for group in [list(run)] if reads else [[call] for call in run]:
                for call in group:
                    starting(call)
                results += self._at_once(group)
        return tuple(results)

    def _at_once(self, calls: list[ToolCall]) -> list[ToolResult]:
        if len(calls) == 1:
            return [self._use(calls[0])]
        with ThreadPoolExecutor(min(AT_ONCE, len(calls))) as pool:
            return list(pool.map(self._use, calls))

    def _use(self, call: ToolCall) -> ToolResult:
        try:
            return ToolResult(call.id, self._shown(self._tool(call).use(call.arguments)))
        except ToolError as error:
            return ToolResult(call.id, self._shown(str(error)), is_error=True)

    def _shown(self, text: str) -> str:
        """A text as it may be sent: without secrets, and without what no encoding has."""
        return self.clean(sendable(text))

    def _tool(self, call: ToolCall) -> Tool:
        if call.problem:
            raise ToolError(f"the call was not carried out: {call.problem}")
        tool = self._named(call.name)
        if tool is None:
            raise ToolError(f"there is no tool {call.name}; there are {', '.join(self._names())}")
        return tool

    def _reads(self, call: ToolCall) -> bool:
        tool = self._named(call.name)
        return tool is not None and tool.reads

    def _named(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def _names(self) -> list[str]:
        return [tool.name for tool in self.tools]


def doing(call: ToolCall) -> str:
    """A call in one short line: the tool and what it is about."""
    about = next(
        (call.arguments[key] for key in ("path", "command", "pattern") if call.arguments.get(key)), ""
    )
    line = str(about).strip().splitlines()[:1]
    return sendable(f"{call.name} {line[0][:80] if line else ''}".strip())


def sendable(text: str) -> str:
    """A text in which half a pair of surrogates, as in the name of an odd file, is a question mark."""
    return text.encode("utf-8", "replace").decode()
