"""Plan: how the change is made, and how it will be recognised, before any code exists."""

from collections.abc import Generator, Iterator

from harness_executor.kernel.events import Fact, Mode, Phase, PlanApproved, PlanProposed, ScenariosFrozen
from harness_executor.kernel.scenario import scenarios_digest
from harness_executor.kernel.task import Task
from harness_executor.prompting import render
from harness_executor.steps.means import Ask, Means, ask
from harness_executor.subagents.jobs import Answering, Role
from harness_executor.subagents.replies import PlanReply, ScenariosReply


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Propose a plan, freeze the acceptance scenarios, and approve."""
    request = task.opened.request if task.opened else ""
    plan = task.plan
    if plan is None:
        prompt = render("plan", request=request, lessons=task.lessons)
        wanted = Ask(Role.PLANNER, Answering.PLAN, prompt, means.base(task))
        reply = yield from ask(task, means, wanted, PlanReply)
        phases = tuple(Phase(phase.name, phase.objective, phase.files) for phase in reply.phases)
        plan = PlanProposed(reply.summary, phases, reply.contract)
        yield plan
    if task.frozen is None and _can_be_tried(task):
        frozen = yield from _scenarios(task, means, plan)
        yield ScenariosFrozen(frozen.scenarios, scenarios_digest(frozen.scenarios))
    yield PlanApproved("policy")


def _can_be_tried(task: Task) -> bool:
    """Is a change to be made, and is there anything on which a scenario could be carried out?"""
    is_idle = task.project is not None and task.project.idle
    return task.opened is not None and task.opened.mode is Mode.IMPLEMENT and not is_idle


def _scenarios(task: Task, means: Means, plan: PlanProposed) -> Generator[Fact, None, ScenariosReply]:
    request = task.opened.request if task.opened else ""
    project = means.project(task)
    prompt = render(
        "scenarios",
        request=request,
        contract=plan.contract,
        refactor=bool(task.opened and task.opened.refactor),
        served=project.has_server,
        hints=tuple(map(means.redactor.clean, project.hints)),
    )
    sources = (request, plan.contract)
    wanted = Ask(Role.VERIFIER, Answering.SCENARIOS, prompt, means.base(task), sources=sources)
    return (yield from ask(task, means, wanted, ScenariosReply))
