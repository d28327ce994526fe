"""Plan: how the change is made, and how it will be recognised, before any code exists."""

from collections.abc import Iterator

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
    if task.frozen is None and task.opened and task.opened.mode is Mode.IMPLEMENT:
        prompt = render("scenarios", request=request, contract=plan.contract, refactor=task.opened.refactor)
        sources = (request, plan.contract)
        wanted = Ask(Role.VERIFIER, Answering.SCENARIOS, prompt, means.base(task), sources=sources)
        frozen = yield from ask(task, means, wanted, ScenariosReply)
        yield ScenariosFrozen(frozen.scenarios, scenarios_digest(frozen.scenarios))
    yield PlanApproved("policy")
