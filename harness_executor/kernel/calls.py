"""The model calls of a task: what they used, and what is in their way."""

from collections.abc import Mapping
from dataclasses import field, replace

from harness_executor.kernel import events as e
from harness_executor.kernel.budget import Amount
from harness_executor.kernel.frozen import frozen


@frozen
class Calls:
    """What the model calls of a task add up to."""

    charges: tuple[e.CallCharged, ...] = ()
    open: Mapping[str, e.CallReserved] = field(default_factory=dict)
    """Reservations that were never settled; a crash leaves them here, and they stay charged."""
    made: int = 0
    """Calls that were granted."""
    seconds_before: float = 0.0
    """Time at work of the processes before this one."""
    seconds_now: float = 0.0
    stumbles: tuple[e.CallStumbled, ...] = ()
    """Failed attempts since a call last had an answer, or a person sent the task on."""

    @property
    def used(self) -> Amount:
        """Everything that is charged or reserved."""
        counted: tuple[e.CallCharged | e.CallReserved, ...] = (*self.charges, *self.open.values())
        return Amount(
            micros=sum(call.micros or 0 for call in counted),
            tokens=sum(call.input_tokens + call.output_tokens for call in counted),
            turns=self.made,
            seconds=self.seconds_before + self.seconds_now,
            unpriced=sum(call.micros is None for call in counted),
        )

    def after(self, fact: e.Fact) -> "Calls":
        """The calls after one more fact."""
        match fact:
            case e.CallReserved():
                now = max(self.seconds_now, fact.elapsed)
                return replace(
                    self, open={**self.open, _key(fact): fact}, made=self.made + 1, seconds_now=now
                )
            case e.CallCharged():
                left = {key: kept for key, kept in self.open.items() if key != _key(fact)}
                stumbles = self.stumbles if fact.failed else ()
                return replace(self, charges=(*self.charges, fact), open=left, stumbles=stumbles)
            case e.CallStumbled():
                return replace(self, stumbles=(*self.stumbles, fact))
            case e.WriterClaimed():
                before = self.seconds_before + self.seconds_now
                return replace(self, seconds_before=before, seconds_now=0.0)
            case e.TaskResumed():
                return replace(self, stumbles=())
        return self


def _key(fact: e.CallReserved | e.CallCharged) -> str:
    return f"{fact.job_id}/{fact.call}"
