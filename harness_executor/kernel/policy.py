"""What happens next: one decision from the state of a task and the caps."""

from harness_executor.kernel.control import listed
from harness_executor.kernel.events import Cause, Mode, Status, StepName
from harness_executor.kernel.failures import may_retry
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.task import Task


@frozen
class Do:
    """Take this step."""

    step: StepName
    attempt: int
    phase: int = 0


@frozen
class Pause:
    """Wait for a person."""

    reason: str
    cause: Cause = Cause.HUMAN
    hint: str = ""


@frozen
class Close:
    """End the task."""

    status: Status
    summary: str


Decision = Do | Pause | Close

_RUNS_THE_CHANGE = (StepName.VALIDATE, StepName.VERIFY)


def decide(task: Task, policy: Policy) -> Decision:
    """The next thing to do."""
    if task.closed:
        return Close(task.closed.status, task.closed.summary)
    if task.pause is not None:
        return Pause(task.pause.reason, task.pause.cause, task.pause.hint)
    step = next_step(task, policy)
    if step is None:
        return _close(task)
    if step in _RUNS_THE_CHANGE and task.unapproved:
        return _approval(task)
    if step is StepName.RECORD and task.questions and not task.feedback:
        return _about_tests(task)
    gave_up = _gave_up(task, step, policy)
    if gave_up is not None:
        return gave_up
    return Do(step, task.attempt(step), _phase(task) if step is StepName.EXECUTE else 0)


def next_step(task: Task, policy: Policy) -> StepName | None:
    """The step the task needs, or none when it is ready to close."""
    if task.project is None or task.tries.get(StepName.SETUP, 0):
        return StepName.SETUP
    mode = task.opened.mode if task.opened else Mode.IMPLEMENT
    if mode in (Mode.REVIEW, Mode.AUDIT):
        return StepName.REVIEW if task.review is None else _presentation(task)
    if not task.approved:
        return StepName.PLAN
    if mode is Mode.PLAN:
        return _presentation(task)
    return _implementation(task, policy)


def _implementation(task: Task, policy: Policy) -> StepName | None:
    if task.judged is not None:
        return _presentation(task)
    if task.phases_done < task.total_phases:
        return StepName.EXECUTE
    if task.contested:
        return StepName.AMEND
    if task.feedback:
        return StepName.RECORD if _worn_out(task, policy) else StepName.EXECUTE
    if task.validated is None:
        return StepName.VALIDATE
    if task.verified or task.surveyed:
        return StepName.RECORD
    return StepName.EXTEND if task.untouched else StepName.VERIFY


def _approval(task: Task) -> Pause:
    return Pause(
        f"a person has to look at these files before the change is judged:\n{listed(task.unapproved)}",
        hint=f"`git diff {task.base_commit[:12]} harness/{task.id}` shows the change; "
        f"`harness approve {task.id}`, then `harness resume {task.id}`",
    )


def _about_tests(task: Task) -> Pause:
    asked = "\n".join(f"- {question}" for question in task.questions)
    return Pause(
        f"a person has to allow what the change does to tests:\n{asked}",
        hint=f"`git diff {task.base_commit[:12]} harness/{task.id}` shows the change; "
        f"`harness approve {task.id}`, then `harness resume {task.id}`",
    )


def _presentation(task: Task) -> StepName | None:
    return None if task.presented else StepName.PRESENT


def _worn_out(task: Task, policy: Policy) -> bool:
    return (
        task.setbacks.get(StepName.VALIDATE, 0) > policy.validation
        or task.setbacks.get(StepName.VERIFY, 0) > policy.verification
    )


def _gave_up(task: Task, step: StepName, policy: Policy) -> Close | None:
    failure = task.failure
    if failure is not None and failure.step is step and (failure.final or not may_retry(failure.failure)):
        return Close(Status.FAILED, f"{step.value}: {failure.reason}")
    tries = task.tries.get(step, 0)
    if tries <= policy.respawn:
        return None
    why = failure.reason if failure else "it was interrupted every time"
    return Close(Status.FAILED, f"{step.value} was started {tries} times without success: {why}")


def _phase(task: Task) -> int:
    return min(task.phases_done + 1, task.total_phases)


def _close(task: Task) -> Close:
    if task.judged is None:
        summary = task.plan.summary if task.plan else task.review.summary if task.review else ""
        return Close(Status.COMPLETED, summary)
    if task.judged.accepted or task.judged.unverified:
        status = Status.COMPLETED if task.judged.accepted else Status.COMPLETED_UNVERIFIED
        return Close(status, task.changes[-1].summary if task.changes else "")
    return Close(Status.REFUSED, "; ".join(task.judged.reasons))
