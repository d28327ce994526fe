"""Execute: a subagent edits an exported tree; the harness reads the change and commits it."""

from collections.abc import Generator, Iterator
from datetime import datetime
from pathlib import Path

from harness_executor.errors import AgentError, NeedsHuman
from harness_executor.kernel.control import control_files
from harness_executor.kernel.events import ChangeMade, Fact, Phase, PhaseExecuted
from harness_executor.kernel.offering import Offer
from harness_executor.kernel.task import Task
from harness_executor.prompting import render
from harness_executor.steps.means import Ask, Means, ask
from harness_executor.steps.withholding import withheld
from harness_executor.subagents.jobs import Answering, Role
from harness_executor.subagents.replies import WorkReply
from harness_executor.workspace.additions import additions
from harness_executor.workspace.offers import offered_routes, offered_words

_FEW = 10


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Have one phase done, then commit it; what was made before a crash is not made again."""
    change = task.pending
    if change is None:
        change = yield from _change(task, means)
    yield _commit(task, means, change)


def _change(task: Task, means: Means) -> Generator[Fact, None, ChangeMade]:
    number = min(task.phases_done + 1, task.total_phases)
    work = means.desk.export(task.tree, means.desk.path / "work", without=means.hides)
    check = " && ".join(means.project(task).checks.values())
    prompt = _prompt(task, means, number, check)
    wanted = Ask(Role.EXECUTOR, Answering.WORK, prompt, work, may_write=True, check=check)
    reply = yield from ask(task, means, wanted, WorkReply)
    _refuse_failure(reply)
    tree = means.desk.snapshot(work, task.tree, without=means.hides)
    changed, created = means.desk.names(task.tree, tree)
    _refuse_secrets(means, task.tree, tree, created)
    change = ChangeMade(
        phase=number,
        attempt=task.tries.get(task.running.step, 1) if task.running else 1,
        tree=tree,
        at=means.clock.now().isoformat(),
        summary=reply.summary,
        files_changed=changed,
        files_created=created,
        lessons=reply.lessons,
        claimed=(*reply.files_changed, *reply.files_created),
        own_reports=means.desk.state_files(work),
        control=control_files(*means.desk.names(task.base_tree, tree)),
        disputes=reply.disputes if task.feedback else (),
        offers=_offers(task, means, tree, work),
    )
    yield change
    return change


def _offers(task: Task, means: Means, tree: str, work: Path) -> tuple[Offer, ...]:
    """What the change adds for a client: routes of a server, or words of a command line."""
    if means.project(task).has_server:
        changed, created = means.desk.names(task.base_tree, tree)
        return offered_routes(means.base(task), work, (*changed, *created))
    return offered_words(means.desk, task.base_tree, tree)


def _prompt(task: Task, means: Means, number: int, check: str) -> str:
    kept_back = withheld(task, means)
    said = (*task.feedback, *((task.failure.reason,) if task.failure else ()))
    return render(
        "execute",
        request=task.opened.request if task.opened else "",
        plan=task.plan,
        phase=_phase(task, number),
        number=number,
        total=task.total_phases,
        check=check,
        lessons=task.lessons,
        feedback=tuple(map(kept_back.clean, said)),
        kept_back=kept_back.said,
        may_dispute=task.disputed is None,
    )


def _commit(task: Task, means: Means, change: ChangeMade) -> PhaseExecuted:
    if change.tree == task.tree:
        return PhaseExecuted(change.phase, change.tree, task.head)
    desk, branch = means.desk, f"harness/{task.id}"
    commit = desk.made(branch, change.tree, task.head, _trailers(task, change))
    if commit is None:
        commit = desk.commit(
            change.tree, task.head, _message(task, change), datetime.fromisoformat(change.at)
        )
        desk.repository.move_branch(branch, commit, task.head if task.commits else None)
    return PhaseExecuted(change.phase, change.tree, commit)


def _message(task: Task, change: ChangeMade) -> str:
    subject = _phase(task, change.phase).name.strip().splitlines()[0][:70]
    return f"{subject}\n\n{change.summary.strip()}\n\n{_trailers(task, change)}"


def _trailers(task: Task, change: ChangeMade) -> str:
    return f"Harness-Task: {task.id}\nHarness-Phase: {change.phase}\nHarness-Attempt: {change.attempt}\n"


def _phase(task: Task, number: int) -> Phase:
    if task.plan is None:
        return Phase(task.opened.request if task.opened else "", "")
    return task.plan.phases[number - 1]


def _refuse_failure(reply: WorkReply) -> None:
    if reply.status == "blocked" or reply.blockers:
        raise NeedsHuman(
            f"the executor is blocked: {'; '.join(reply.blockers) or reply.summary}",
            hint="provide what is missing, then `harness resume`",
        )
    if reply.status == "failed":
        raise AgentError(f"the executor gave up: {reply.summary}\n{reply.validation_output}".strip())


def _refuse_secrets(means: Means, old: str, new: str, created: tuple[str, ...]) -> None:
    """Give a change back that adds a secret: a commit would keep it for ever."""
    see, clean = means.redactor.sightings, means.redactor.clean
    named = [f"{clean(path)}: named by {what}" for path in created for what in see(path).values()]
    found = named + [
        f"{clean(added.path)} line {added.first + line - 1}: {what}"
        for added in additions(means.desk, old, new)
        for line, what in see(added.text).items()
    ]
    if found:
        raise AgentError(
            f"the change would commit a secret: {'; '.join(found[:_FEW])}\n"
            "Leave it out; let the program read it from its environment. A made-up one has `example` in it."
        )
