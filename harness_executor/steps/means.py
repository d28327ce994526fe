"""What a step works with."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness_executor.clock import Clock, new_id
from harness_executor.config import Settings
from harness_executor.errors import AgentError
from harness_executor.kernel.events import AgentAsked, CallCharged, Fact
from harness_executor.kernel.policy import Policy
from harness_executor.kernel.task import Task
from harness_executor.sandbox.base import Sandbox
from harness_executor.store.layout import Layout
from harness_executor.store.memory import Memory
from harness_executor.store.seal import Seal
from harness_executor.subagents.jobs import Answering, Beat, Job, Role, Spent
from harness_executor.subagents.replies import PlanReply, ReviewReply, ScenariosReply, WorkReply
from harness_executor.subagents.spawn import Agents
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Project, Start, read_project

Notify = Callable[[str], None]
R = TypeVar("R", PlanReply, ScenariosReply, WorkReply, ReviewReply)


@dataclass(frozen=True)
class Means:
    """Everything outside the kernel that a step may use."""

    layout: Layout
    desk: Desk
    sandbox: Sandbox
    clock: Clock
    agents: Agents
    memory: Memory
    seal: Seal
    settings: Settings
    policy: Policy
    notify: Notify

    def base(self, task: Task) -> Path:
        """The base, exported once for reading."""
        target = self.desk.path / "base"
        return target if target.is_dir() else self.desk.export(task.base_tree, target)

    def project(self, task: Task) -> Project:
        """The commands of the project as the base has them; the change cannot alter them."""
        return read_project(self.base(task), start=task.opened.start if task.opened else "")

    def start(self, task: Task) -> Start:
        """How the server is started; refuses when nobody said."""
        return self.project(task).needed_start()

    def model(self, task: Task, role: Role) -> str:
        """The model that plays a role in this task."""
        chosen = task.opened.models if task.opened else {}
        return chosen.get(role.value) or chosen.get("default") or self.settings.model(role.value)


@dataclass(frozen=True)
class Ask:
    """What a subagent is asked for."""

    role: Role
    answering: Answering
    prompt: str
    root: Path
    may_write: bool = False
    check: str = ""


def ask(task: Task, means: Means, wanted: Ask, kind: type[R]) -> Generator[Fact, None, R]:
    """Have a subagent work: the facts of it as they happen, and its result."""
    scratch = means.desk.path / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    job = Job(
        id=new_id()[:12],
        role=wanted.role,
        answering=wanted.answering,
        model=means.model(task, wanted.role),
        prompt=wanted.prompt,
        root=str(wanted.root),
        scratch=str(scratch),
        may_write=wanted.may_write,
        check=wanted.check,
        self_fix=means.policy.self_fix,
    )
    yield AgentAsked(job.id, job.role.value, job.model)
    for message in means.agents.work(job):
        match message:
            case Spent(call, read, written):
                yield CallCharged(job.id, call, job.model, read, written)
            case Beat(turn, doing):
                means.notify(f"{job.role.value}, turn {turn}: {doing}")
            case kind():
                return message
    raise AgentError(f"the {job.role.value} did not answer with a {kind.__name__}")
