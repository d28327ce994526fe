"""Is a model making the same calls with the same results, again and again?"""

from collections.abc import Sequence

from harness_executor.kernel.canonical import digest
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import ToolCall, ToolResult

WARN = 3
"""At the third time in a row the model is told."""
STOP = 6
"""At the sixth time in a row it is stopped."""
LONGEST = 4
"""Rounds of calls that can make up one repetition: A A A, A B A B, and so on."""


@frozen
class Repetition:
    """What the last rounds of calls were, as digests of calls and results together."""

    rounds: tuple[str, ...] = ()

    def after(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> "Repetition":
        """With one more round; another result makes it another round."""
        made = [(call.name, call.problem or dict(call.arguments)) for call in calls]
        got = [(result.text, result.is_error) for result in results]
        return Repetition((*self.rounds, _digest(made, got))[-STOP * LONGEST :])

    @property
    def times(self) -> int:
        """How often the last rounds were made in a row; 1 when there is no repetition."""
        return max((_times(self.rounds, length) for length in range(1, LONGEST + 1)), default=0)


def warning(times: int) -> str:
    """What the model is told."""
    return (
        f"[{times} times in a row you made this call and got this same result. It will not change: try"
        f" something else, or submit what you have. At {STOP} times the work is stopped.]"
    )


def _times(rounds: tuple[str, ...], length: int) -> int:
    last = rounds[-length:]
    blocks = [rounds[at - length : at] for at in range(len(rounds), length - 1, -length)]
    return next((at for at, block in enumerate(blocks) if block != last), len(blocks))


def _digest(made: object, got: object) -> str:
    try:
        return digest([made, got])
    except (ValueError, TypeError, RecursionError):
        return repr((made, got))
