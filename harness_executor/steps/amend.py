"""Amend: the verifier looks once at scenarios the change keeps failing, and says what nobody asked for."""

import json
from collections.abc import Generator, Iterator

from harness_executor.errors import AgentError, ReplyRejected
from harness_executor.kernel.amending import Ruling, amended, problem_of_rulings
from harness_executor.kernel.events import Fact
from harness_executor.kernel.lean import lean
from harness_executor.kernel.revisions import ScenariosAmended, ScenariosDisputed
from harness_executor.kernel.scenario import Scenario, scenarios_digest
from harness_executor.kernel.task import Task
from harness_executor.prompting import render
from harness_executor.steps.means import Ask, Means, ask
from harness_executor.subagents.jobs import Answering, Role
from harness_executor.subagents.replies import RulingsReply


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Have each disputed scenario upheld or amended; without an acceptable answer all of them stand."""
    disputed = task.disputed
    if disputed is None:
        disputed = ScenariosDisputed(task.contested, task.changes[-1].disputes if task.changes else ())
        yield disputed
    frozen = task.agreed
    rulings = yield from _rulings(task, means, disputed, frozen)
    problem = problem_of_rulings(frozen, disputed.missed, rulings)
    if problem:
        raise AgentError(f"the verifier's rulings cannot be used: {problem}")
    digest = scenarios_digest(amended(frozen, rulings))
    yield ScenariosAmended(scenarios_digest(frozen), digest, rulings)


def _rulings(
    task: Task, means: Means, disputed: ScenariosDisputed, frozen: tuple[Scenario, ...]
) -> Generator[Fact, None, tuple[Ruling, ...]]:
    request = task.opened.request if task.opened else ""
    contract = task.plan.contract if task.plan else ""
    texts = {scenario.name: json.dumps(lean(scenario), ensure_ascii=False, indent=1) for scenario in frozen}
    missed = [{"text": texts[short.scenario], "short": short} for short in disputed.missed]
    prompt = render("amend", request=request, contract=contract, missed=missed, disputes=disputed.disputes)
    wanted = Ask(
        Role.VERIFIER,
        Answering.RULINGS,
        prompt,
        means.base(task),
        sources=(request, contract),
        frozen=frozen,
        missed=disputed.missed,
    )
    try:
        reply = yield from ask(task, means, wanted, RulingsReply)
    except ReplyRejected as error:
        why = f"it stands: the verifier gave no ruling that may be followed: {error.message}"
        return tuple(Ruling(short.scenario, request, why) for short in disputed.missed)
    return reply.rulings
