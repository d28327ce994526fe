"""`harness approve`: a person allows the control files of one tree, what it does to tests, and choices."""

from harness_executor.cli.consent import consents, with_yes
from harness_executor.cli.parsing import Parser, print_text, with_project
from harness_executor.errors import NeedsHuman, UsageError
from harness_executor.home import Home, open_home
from harness_executor.kernel.choices import is_agents, tree_to_allow, unallowed
from harness_executor.kernel.control import listed
from harness_executor.kernel.events import ChangeApproved
from harness_executor.kernel.task import Task, replay


def main(words: list[str]) -> int:
    """Show what a task waits for a person to look at, and write down that it is allowed."""
    parser = Parser(
        "harness approve",
        description="Allow the control files of a parked change, what it does to tests, "
        "or how a coding agent had its own change judged.",
    )
    parser.add_argument("task_id", nargs="?", default="", help="the task (default: the current one)")
    with_project(parser)
    with_yes(parser)
    options = parser.parse_args(words[1:])
    home = open_home(options.repo)
    task_id = options.task_id or home.open_task()
    task = replay(record.fact for record in home.records(task_id))
    _check(task, task)
    if options.yes and is_agents(task):
        raise NeedsHuman(
            f"{task_id} is the task of a coding agent, which could say --yes too",
            hint=f"`harness approve {task_id}` in a terminal of yours",
        )
    _show(home, task)
    tree = tree_to_allow(task)
    if not consents(f"allow this in tree {tree[:12]}?", yes=options.yes):
        print_text("not approved; nothing was changed")
        return 3
    with home.hold(task_id) as log:
        _check(log.task, task)
        log.append(home.seal.put(ChangeApproved(tree, "user", task_id, _asked(task))))
        home.publish(log)
    next_one = "complete the task again" if is_agents(task) else f"`harness resume {task_id}` goes on"
    print_text(f"approved: tree {tree[:12]}\n\nhint: {next_one}")
    return 0


def _asked(task: Task) -> tuple[str, ...]:
    return (*task.questions, *unallowed(task))


def _check(task: Task, shown: Task) -> None:
    """Does it wait, and for what was shown?"""
    if task.closed or not (task.unapproved or _asked(task)):
        raise UsageError(f"nothing of {task.id} waits to be approved", hint=f"`harness status {task.id}`")
    now, then = tree_to_allow(task), tree_to_allow(shown)
    if now != then or _asked(task) != _asked(shown):
        raise UsageError(
            f"the change is another one now: {now[:12]}, not {then[:12]}", hint="look at it again"
        )


def _show(home: Home, task: Task) -> None:
    if task.unapproved:
        desk = home.desk(f"{task.id}-approve")
        try:
            diff = desk.diff(task.base_tree, task.tree, *(file.path for file in task.unapproved))
        finally:
            desk.clear()
        print_text(f"{diff}\n{listed(task.unapproved)}\n")
    if asked := _asked(task):
        print_text("\n".join(f"- {question}" for question in asked) + "\n")
    branch = "" if is_agents(task) else f" harness/{task.id}"
    print_text(f"the whole change: git diff {task.base_commit[:12]}{branch}\n")
