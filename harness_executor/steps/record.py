"""Record: the gate judges what the harness saw, and failures are kept for later."""

from collections.abc import Iterator

from harness_executor.kernel.belief import claim_of, verdict_of
from harness_executor.kernel.events import Fact, GateJudged
from harness_executor.kernel.task import Task
from harness_executor.steps.means import Means


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Judge the task by its own log."""
    verdict = verdict_of(task, claim_of(task), means.seal.fits)
    for reason in verdict.reasons:
        means.memory.note_failure("verify", reason, task.id, means.clock.now())
    yield GateJudged(verdict.accepted, verdict.reasons, verdict.unverified)
