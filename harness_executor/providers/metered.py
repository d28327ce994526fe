"""A provider whose every call is reserved before it is sent and settled after."""

from dataclasses import dataclass
from typing import Protocol

from harness_executor.errors import ProviderError
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Provider, Reply, Request, Usage
from harness_executor.providers.measure import bound


@frozen
class Bill:
    """How a call ended, and what it used."""

    call: int
    usage: Usage | None
    """Nothing when nobody knows; then all that was reserved is charged."""
    failed: bool = False
    request_id: str = ""


class Purse(Protocol):
    """Where the money of a conversation comes from."""

    def reserve(self, call: int, input_tokens: int, output_tokens: int) -> None:
        """Wait until a call that uses at most this may be made."""
        ...

    def settle(self, bill: Bill) -> None:
        """Say what the call used."""
        ...


@dataclass
class Metered:
    """Asks before it calls, and tells what it used, whatever happens."""

    provider: Provider
    purse: Purse
    calls: int = 0

    def complete(self, request: Request) -> Reply:
        """The answer of a call that was granted."""
        self.calls += 1
        self.purse.reserve(self.calls, bound(request), request.max_tokens)
        try:
            reply = self.provider.complete(request)
        except ProviderError as error:
            self._settle(None if error.said.billed else Usage(), error.said.request_id, failed=True)
            raise
        self._settle(_believable(reply.usage), reply.id, failed=False)
        return reply

    def _settle(self, usage: Usage | None, request_id: str, *, failed: bool) -> None:
        self.purse.settle(Bill(self.calls, usage, failed, request_id))


def _believable(usage: Usage | None) -> Usage | None:
    """The usage, unless it says that reading a request took nothing."""
    return usage if usage is not None and usage.input_tokens > 0 else None
