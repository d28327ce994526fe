"""Extend: the verifier is asked once for scenarios of what the plan could not know."""

from collections.abc import Generator, Iterator

from harness_executor.errors import ReplyRejected
from harness_executor.kernel.events import Fact
from harness_executor.kernel.revisions import ScenariosAdded, ScenariosRequested
from harness_executor.kernel.scenario import Scenario, scenarios_digest
from harness_executor.kernel.task import Task
from harness_executor.prompting import render
from harness_executor.steps.means import Ask, Means, ask
from harness_executor.subagents.jobs import Answering, Role
from harness_executor.subagents.replies import AdditionsReply


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Have what no frozen scenario touches looked at; the frozen ones stay as they are."""
    requested = task.requested
    if requested is None:
        requested = ScenariosRequested(task.untouched)
        yield requested
    frozen = task.frozen.scenarios if task.frozen else ()
    added, remark = yield from _additions(task, means, requested, frozen)
    yield ScenariosAdded(added, scenarios_digest(added), scenarios_digest((*frozen, *added)), remark)


def _additions(
    task: Task, means: Means, requested: ScenariosRequested, frozen: tuple[Scenario, ...]
) -> Generator[Fact, None, tuple[tuple[Scenario, ...], str]]:
    """What the verifier adds; without an acceptable answer nothing, with the reason."""
    request = task.opened.request if task.opened else ""
    contract = task.plan.contract if task.plan else ""
    prompt = render(
        "extend",
        request=request,
        contract=contract,
        untouched=[str(offer) for offer in requested.untouched],
        known=[scenario.name for scenario in frozen],
        said=means.redactor.clean(task.changes[-1].summary) if task.changes else "",
        served=means.project(task).has_server,
    )
    sources = (request, contract)
    wanted = Ask(Role.VERIFIER, Answering.ADDITIONS, prompt, means.base(task), sources=sources, frozen=frozen)
    try:
        reply = yield from ask(task, means, wanted, AdditionsReply)
    except ReplyRejected as error:
        return (), f"the verifier gave none that may be used: {error.message}"
    return reply.scenarios, ""
