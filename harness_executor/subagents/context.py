"""Keeps a conversation within the model's window: old results go first, then everything but the task."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness_executor.providers.base import Reply, Said, ToolResult
from harness_executor.providers.measure import last_known, size
from harness_executor.subagents.notes import Notes

FULL = 0.75
"""The share of the room above which something is left out."""
GOAL = 0.45
"""The share that is left filled."""
ENOUGH = 0.55
"""The share that leaving out old results has to reach, or the conversation is summed up."""
KEEP = 4
"""The last turns, whose results stay."""
LEAST = 400
"""Bytes of a result that stay when even the last ones are too long."""
RATE = 1 / 3
"""Tokens of one byte, until a service says more."""

_SPILL = re.compile(r"@output/\d+\.txt")

Turns = tuple[Said | Reply, ...]


@dataclass
class Context:
    """How much fits, and what is left out when it does not."""

    room: int
    """Tokens that a request may have."""
    fixed: int
    """Bytes of the guide and the tools, which every request repeats."""
    rate: float = RATE

    def estimate(self, turns: Sequence[Said | Reply]) -> int:
        """Tokens of the next request: what the service counted last, and what is new by its bytes."""
        known = last_known(tuple(turns))
        if known is None:
            return self._tokens(self.fixed + sum(map(size, turns)))
        reply = turns[known]
        read = reply.usage.input_tokens if isinstance(reply, Reply) and reply.usage else 0
        before = self.fixed + sum(map(size, turns[:known]))
        self.rate = min(1.0, max(RATE, read / max(1, before)))
        return read + self._tokens(sum(map(size, turns[known:])))

    def is_full(self, turns: Sequence[Said | Reply]) -> bool:
        """Has something to be left out before the next request?"""
        return self.estimate(turns) > FULL * self.room

    def overflowed(self, turns: Sequence[Said | Reply]) -> None:
        """The service said that this is too long, so less fits than was thought."""
        self.room = min(self.room, self.estimate(turns))

    def compacted(self, turns: Sequence[Said | Reply], notes: Notes) -> Turns:
        """A shorter conversation with the same task; the same one when it cannot be shorter."""
        whole = tuple(map(_uncounted, turns))
        before = self.estimate(whole)
        goal = GOAL * min(self.room, before / FULL)
        lighter = self._without_old_results(whole, notes.failure, goal)
        if self.estimate(lighter) <= goal * ENOUGH / GOAL:
            return lighter
        summed_up = self._summed_up(lighter, notes, goal)
        return summed_up if self.estimate(summed_up) < before else tuple(turns)

    def _without_old_results(self, turns: Turns, failure: str, goal: float) -> Turns:
        made = list(turns)
        excess = self.estimate(turns) - goal
        for at, turn in enumerate(turns[:-KEEP]):
            if excess <= 0:
                break
            if isinstance(turn, Said) and turn.results:
                made[at] = replace(turn, results=tuple(_left_out(one, failure) for one in turn.results))
                excess -= self.rate * (size(turn) - size(made[at]))
        return tuple(made)

    def _summed_up(self, turns: Turns, notes: Notes, goal: float) -> Turns:
        """The task and where things stand, then as many of the last turns as fit."""
        starts = [at for at in range(1, len(turns)) if _begins_round(turns, at)]
        for start in starts:
            made = self._headed(turns[:start], turns[start:], notes)
            if self.estimate(made) <= goal:
                return made
        last = starts[-1] if starts else len(turns)
        made = self._headed(turns[:last], self._shortened(turns[last:], notes, goal), notes)
        return made if self.estimate(made) <= FULL * self.room else self._headed(turns, (), notes)

    def _headed(self, gone: Turns, tail: Turns, notes: Notes) -> Turns:
        words = next((turn.text for turn in reversed(gone) if isinstance(turn, Reply) and turn.text), "")
        failure = "" if _holds(tail, notes.failure) else notes.failure
        return (Said(notes.summary(words, failure, self.room)), *tail)

    def _shortened(self, tail: Turns, notes: Notes, goal: float) -> Turns:
        """The last turns with results that fit; one that holds the open failure stays whole."""
        head = size(Said(notes.summary("", notes.failure, self.room)))
        replies = sum(size(turn) for turn in tail if isinstance(turn, Reply))
        results = sum(len(turn.results) for turn in tail if isinstance(turn, Said))
        space = int(goal / self.rate) - self.fixed - head - replies
        share = max(LEAST, space // max(1, results))
        return tuple(
            replace(turn, results=tuple(_cut(one, notes.failure, share) for one in turn.results))
            if isinstance(turn, Said)
            else turn
            for turn in tail
        )

    def _tokens(self, count: int) -> int:
        return math.ceil(count * self.rate)


def _uncounted(turn: Said | Reply) -> Said | Reply:
    """A reply without what it used: the conversation before it is no longer the one that was counted."""
    return replace(turn, usage=None) if isinstance(turn, Reply) else turn


def _begins_round(turns: Turns, at: int) -> bool:
    return isinstance(turns[at], Reply) and isinstance(turns[at - 1], Said)


def _left_out(result: ToolResult, failure: str) -> ToolResult:
    spill = _SPILL.search(result.text)
    line = (
        f"[left out to save room; all of it is in {spill[0]}]"
        if spill
        else "[left out to save room; use the tool again if needed]"
    )
    is_open = bool(failure) and failure in result.text
    return result if is_open or len(result.text) <= len(line) else replace(result, text=line)


def _cut(result: ToolResult, failure: str, limit: int) -> ToolResult:
    if (failure and failure in result.text) or len(result.text.encode("utf-8", "replace")) <= limit:
        return result
    half = limit // 2
    data = result.text.encode("utf-8", "replace")
    first, last = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    return replace(result, text=f"{first}\n[… left out to save room …]\n{last}")


def _holds(turns: Turns, text: str) -> bool:
    said = (turn for turn in turns if isinstance(turn, Said))
    return bool(text) and any(
        text in part for turn in said for part in (turn.text, *(one.text for one in turn.results))
    )
