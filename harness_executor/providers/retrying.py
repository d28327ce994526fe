"""A provider that is asked again when its service fails in a way that may pass."""

import math
from collections.abc import Callable
from dataclasses import field, replace
from typing import NoReturn

import tenacity

from harness_executor.clock import Clock, draw_number
from harness_executor.errors import ProviderDown, ProviderFault
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Patience, Provider, Reply, Request

LONGEST_BACKOFF = 120.0
LONGEST_MESSAGE = 600

_HINT = "see the service's status page; `harness resume` goes on from here"


@frozen
class Stumble:
    """An attempt that failed, and when the next one is made."""

    attempt: int
    """Which attempt in a row it was, those before a restart included."""
    status: int
    request_id: str
    why: str
    wait: float
    """Seconds until the next attempt; 0 when there is none."""


def uniform() -> float:
    """A number from 0 up to but not including 1, that no other run draws too."""
    return draw_number(2**53) / 2**53


class Retrying:
    """Sends a call again after a fault, with waits that grow, up to a number of attempts."""

    def __init__(
        self,
        provider: Provider,
        patience: Patience,
        clock: Clock,
        stumbled: Callable[[Stumble], None],
        draw: Callable[[], float] = uniform,
    ) -> None:
        self.provider = provider
        self.patience = patience
        self.clock = clock
        self.stumbled = stumbled
        self.draw = draw

    def complete(self, request: Request) -> Reply:
        """The answer; raises ProviderDown when the attempts are used up."""
        patience, self.patience = self.patience, replace(self.patience, used=0, wait=0.0)
        if patience.used >= patience.attempts:
            raise _down(f"the model's service failed {patience.used} times in a row", [])
        if patience.wait > 0:
            self.clock.sleep(patience.wait)
        tries = _Tries(patience, self.stumbled, self.draw)
        loop = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(ProviderFault),
            stop=tries.is_over,
            wait=tries.wait,
            before_sleep=tries.again,
            retry_error_callback=tries.give_up,
            sleep=self.clock.sleep,
        )
        return loop(self.provider.complete, request)


@frozen
class _Tries:
    """The attempts at one call."""

    patience: Patience
    stumbled: Callable[[Stumble], None]
    draw: Callable[[], float]
    ids: list[str] = field(default_factory=list)

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Never earlier than the service asked, and never all at the same moment."""
        after = _asked(_fault(state))
        if after is not None:
            return after + self.draw() * max(1.0, after / 4)
        return self.draw() * min(LONGEST_BACKOFF, 2.0 ** min(self._attempt(state) - 1, 10))

    def is_over(self, state: tenacity.RetryCallState) -> bool:
        """Are the attempts used up, or is the wait too long?"""
        return self._attempt(state) >= self.patience.attempts or self._asks_too_much(state)

    def again(self, state: tenacity.RetryCallState) -> None:
        """Tell of a failure that is followed by another attempt."""
        self._tell(state, state.upcoming_sleep)

    def give_up(self, state: tenacity.RetryCallState) -> NoReturn:
        """Tell of the last failure, and end."""
        self._tell(state, 0.0)
        fault, attempt = _fault(state), self._attempt(state)
        said = f"{_clip(fault.message, 300)} (status {fault.said.status or 'none'})"
        if self._asks_too_much(state):
            what = f"the model's service asks to wait {fault.said.after:.0f} s, longer than "
            raise _down(f"{what}{self.patience.longest:.0f} s: {said}", self.ids) from fault
        raise _down(f"the model's service failed {attempt} times in a row: {said}", self.ids) from fault

    def _attempt(self, state: tenacity.RetryCallState) -> int:
        return self.patience.used + state.attempt_number

    def _asks_too_much(self, state: tenacity.RetryCallState) -> bool:
        return (_asked(_fault(state)) or 0.0) > self.patience.longest

    def _tell(self, state: tenacity.RetryCallState, wait: float) -> None:
        fault = _fault(state)
        if fault.said.request_id:
            self.ids.append(fault.said.request_id)
        why = _clip(fault.message, LONGEST_MESSAGE)
        self.stumbled(
            Stumble(self._attempt(state), fault.said.status, fault.said.request_id[:100], why, wait)
        )


def _fault(state: tenacity.RetryCallState) -> ProviderFault:
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, ProviderFault):
        raise TypeError(f"{error!r} is not a fault that is retried")
    return error


def _asked(fault: ProviderFault) -> float | None:
    after = fault.said.after
    return after if after is not None and math.isfinite(after) and after >= 0 else None


def _down(what: str, ids: list[str]) -> ProviderDown:
    named = f"; requests {', '.join(ids)}" if ids else ""
    return ProviderDown(_clip(_clip(what, 450) + named, LONGEST_MESSAGE), hint=_HINT)


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
