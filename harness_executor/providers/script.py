"""What a scripted model says: for each role, conversations chosen by what they are asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness_executor.errors import ProviderError
from harness_executor.kernel.frozen import frozen

Lines = Mapping[str, Sequence[Mapping[str, Any]]]
"""Role to conversations; each has `replies` and, to be chosen only for some prompts, `when`."""


@frozen
class Script:
    """Replies that depend only on the conversation so far, so that a restart changes nothing."""

    lines: Lines

    def reply(self, role: str, prompt: str, turn: int) -> Mapping[str, Any]:
        """The reply to a role's prompt after this many replies: text, calls, stop."""
        for conversation in self.lines.get(role, ()):
            if str(conversation.get("when", "")) in prompt:
                replies: Sequence[Mapping[str, Any]] = conversation["replies"]
                if turn < len(replies):
                    return replies[turn]
                raise ProviderError(
                    f"the script of {role} has {len(replies)} replies, reply {turn + 1} was asked for"
                )
        raise ProviderError(f"the script has nothing for {role}")
