"""Review: a subagent reads the tree and reports; it has nothing to write with."""

from collections.abc import Iterator
from dataclasses import asdict

from harness_executor.kernel.events import Fact, FindingsReported
from harness_executor.kernel.task import Task
from harness_executor.prompting import render
from harness_executor.steps.means import Ask, Means, ask
from harness_executor.subagents.jobs import Answering, Role
from harness_executor.subagents.replies import ReviewReply


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Report findings on the base."""
    mode = task.opened.mode.value if task.opened else ""
    prompt = render("review", request=task.opened.request if task.opened else "", mode=mode)
    wanted = Ask(Role.REVIEWER, Answering.REVIEW, prompt, means.base(task))
    reply = yield from ask(task, means, wanted, ReviewReply)
    yield FindingsReported(reply.summary, tuple(asdict(finding) for finding in reply.findings))
