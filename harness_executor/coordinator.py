"""The loop: ask the kernel what is next, have one step do it, write down what happened."""

from collections.abc import Callable, Iterator, Mapping

from harness_executor.errors import (
    AgentError,
    DiskError,
    HarnessError,
    LogError,
    ProviderError,
    RequestRefused,
)
from harness_executor.kernel.events import Cause, Fact, StepFailed, StepName, StepStarted, TaskPaused
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.policy import Close, Do, Pause, decide
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.task import Task, closing
from harness_executor.store.log import Log

StepRun = Callable[[Task], Iterator[Fact]]


@frozen
class Coordinator:
    """Owns the log of one task while it runs."""

    log: Log
    steps: Mapping[StepName, StepRun]
    policy: Policy
    tell: Callable[[Fact], None]
    publish: Callable[[Task], None]

    def run(self) -> Task:
        """Take steps until the task is closed or waits for a person."""
        while True:
            match decide(self.log.task, self.policy):
                case Do(step, attempt, phase):
                    self._record(StepStarted(step, attempt, phase))
                    self._take(step)
                    self.publish(self.log.task)
                case Pause(reason, cause, hint):
                    if self.log.task.pause is None:
                        self._record(TaskPaused(reason, cause, hint))
                        self.publish(self.log.task)
                    return self.log.task
                case Close(status, summary):
                    if self.log.task.closed is None:
                        self._record(closing(self.log.task, status, summary))
                    self.publish(self.log.task)
                    return self.log.task

    def _take(self, step: StepName) -> None:
        try:
            for fact in self.steps[step](self.log.task):
                self._record(fact)
        except (LogError, DiskError):
            raise
        except HarnessError as error:
            self._record(_setback(step, error))

    def _record(self, fact: Fact) -> None:
        self.log.append(fact)
        if self.log.last:
            self.tell(self.log.last.fact)


def _setback(step: StepName, error: HarnessError) -> TaskPaused | StepFailed:
    if error.pause:
        return TaskPaused(error.message, Cause(error.pause), error.hint)
    may_pass = isinstance(error, AgentError | ProviderError) and error.exit_code == 1
    failure = FailureClass.AGENT if may_pass else FailureClass.ENVIRONMENT
    return StepFailed(step, failure, error.message, error.hint, final=isinstance(error, RequestRefused))
