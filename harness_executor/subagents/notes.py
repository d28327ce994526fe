"""What a conversation never forgets, however much of it is left out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness_executor.prompting import render

LONGEST_TRAIL = 6_000
"""Bytes of the trail at the most."""
LAST_WORDS = 1_500
"""Characters of the model's own last words."""


@dataclass
class Notes:
    """The task, what is broken, what was touched and done, and what the coordinator said."""

    opening: str
    """The first message: request, plan, contract, and what has to be mended."""
    failure: str = ""
    """The output of the check that failed last, as the model was told."""
    touched: Sequence[str] = ()
    """Files that were written; grows while the tools are used."""
    trail: list[str] = field(default_factory=list)
    news: list[str] = field(default_factory=list)

    def did(self, what: str) -> None:
        """One more line of the trail."""
        self.trail.append(what)

    def summary(self, words: str, failure: str, room: int) -> str:
        """The first message and, after it, where things stand; `room` is in tokens."""
        shown, left_out = _last(_folded(self.trail), min(LONGEST_TRAIL, room * 3 // 10))
        standing = render(
            "summary",
            failure=failure,
            files=sorted(set(self.touched)),
            trail=shown,
            left_out=left_out,
            words=words[-LAST_WORDS:],
            news=self.news[-3:],
        )
        return f"{self.opening}\n\n{standing}"


def _folded(trail: Sequence[str]) -> list[str]:
    """The trail with the same line in a row written once."""
    folded: list[tuple[str, int]] = []
    for line in trail:
        times = folded.pop()[1] + 1 if folded and folded[-1][0] == line else 1
        folded.append((line, times))
    return [line if times == 1 else f"{line} ({times} times)" for line, times in folded]


def _last(lines: list[str], limit: int) -> tuple[list[str], int]:
    """The last lines that fit, and how many do not."""
    used, first = 0, len(lines)
    while first and used + len(lines[first - 1].encode()) + 3 <= limit:
        first -= 1
        used += len(lines[first].encode()) + 3
    return lines[first:], first
