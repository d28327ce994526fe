"""`harness approve`: a person allows the control files of one tree, and what it does to tests."""

from harness_executor.cli.consent import consents, with_yes
from harness_executor.cli.parsing import Parser, print_text, with_project
from harness_executor.errors import UsageError
from harness_executor.home import Home, open_home
from harness_executor.kernel.control import listed
from harness_executor.kernel.events import ChangeApproved
from harness_executor.kernel.task import Task, replay


def main(words: list[str]) -> int:
    """Show what a task waits for a person to look at, and write down that it is allowed."""
    parser = Parser(
        "harness approve", description="Allow the control files of a parked change, or what it does to tests."
    )
    parser.add_argument("task_id", nargs="?", default="", help="the task (default: the current one)")
    with_project(parser)
    with_yes(parser)
    options = parser.parse_args(words[1:])
    home = open_home(options.repo)
    task_id = options.task_id or home.open_task()
    task = replay(record.fact for record in home.records(task_id))
    _check(task)
    _show(home, task)
    if not consents(f"allow this in tree {task.tree[:12]}?", yes=options.yes):
        print_text("not approved; nothing was changed")
        return 3
    with home.hold(task_id) as log:
        _check(log.task, task.tree)
        log.append(home.seal.put(ChangeApproved(task.tree, "user", task_id, task.questions)))
        home.publish(log)
    print_text(f"approved: tree {task.tree[:12]}\n\nhint: `harness resume {task_id}` goes on")
    return 0


def _check(task: Task, shown: str = "") -> None:
    if task.closed or not (task.unapproved or task.questions):
        raise UsageError(f"nothing of {task.id} waits to be approved", hint=f"`harness status {task.id}`")
    if shown and task.tree != shown:
        raise UsageError(
            f"the change is another one now: {task.tree[:12]}, not {shown[:12]}", hint="look at it again"
        )


def _show(home: Home, task: Task) -> None:
    if task.unapproved:
        desk = home.desk(f"{task.id}-approve")
        try:
            diff = desk.diff(task.base_tree, task.tree, *(file.path for file in task.unapproved))
        finally:
            desk.clear()
        print_text(f"{diff}\n{listed(task.unapproved)}\n")
    if task.questions:
        print_text("\n".join(f"- {question}" for question in task.questions) + "\n")
    print_text(f"the whole change: git diff {task.base_commit[:12]} harness/{task.id}\n")
