"""`harness list`, `harness show` and `harness status`."""

from typing import Any

from harness_executor.cli.door import COMMANDS
from harness_executor.cli.parsing import Parser, print_json, print_text, with_json, with_project
from harness_executor.errors import HarnessError
from harness_executor.home import Home, open_home
from harness_executor.kernel.task import Task, replay
from harness_executor.store.codec import encode
from harness_executor.store.record import Record
from harness_executor.store.views import context_view, list_row, result_view, task_view
from harness_executor.ui.words import spending


def main(words: list[str]) -> int:
    """Show tasks."""
    command, arguments = words[0], words[1:]
    parser = Parser(f"harness {command}", description=COMMANDS[command][1])
    if command != "list":
        parser.add_argument("task_id", nargs="?", default="", help="the task (default: the current one)")
    with_project(parser)
    with_json(parser)
    options = parser.parse_args(arguments)
    home = open_home(options.repo)
    if command == "list":
        show_list(rows(home), as_json=options.json)
        return 0
    task_id = options.task_id or home.open_task()
    records = home.records(task_id)
    task = replay(record.fact for record in records)
    if command == "show":
        show(home, task, records, as_json=options.json)
    else:
        _status(home, task, records, as_json=options.json)
    return 0


def rows(home: Home) -> list[dict[str, Any]]:
    """One entry for each task; a damaged one is listed as such."""
    current = home.layout.current_id()
    found: list[dict[str, Any]] = []
    for task_id in home.layout.task_ids():
        try:
            records = home.records(task_id)
        except HarnessError as error:
            found.append(
                {
                    "id": task_id,
                    "task": "",
                    "status": "damaged",
                    "outcome": "damaged",
                    "phase": "",
                    "started": "",
                    "is_current": task_id == current,
                    "problem": error.message,
                }
            )
            continue
        task = replay(record.fact for record in records)
        found.append(list_row(task, records, is_current=task_id == current))
    return found


def show_list(listed: list[dict[str, Any]], *, as_json: bool) -> None:
    """The tasks as a table, or as JSON; no tasks is an empty list, not an error."""
    if as_json:
        print_json(listed)
        return
    if not listed:
        print_text('no tasks yet; `harness-run "…"` starts one')
        return
    width = max(len(row["id"]) for row in listed)
    for row in listed:
        mark = "*" if row["is_current"] else " "
        print_text(f"{mark} {row['id']:<{width}}  {row['outcome']:<20}  {row['phase']:<5}  {row['started']}")


def show(home: Home, task: Task, records: tuple[Record, ...], *, as_json: bool) -> None:
    """Everything about one task."""
    if as_json:
        print_json(everything(task, records))
        return
    path = home.layout.task(task.id).path / "summary.md"
    if path.exists():
        print_text(path.read_text(encoding="utf-8") + "\n")
    print_text(f"{task.id}: {task.status.value}")
    for record in records:
        name, data = encode(record.fact)
        print_text(f"{record.seq:>4}  {record.at[:19]}  {name:<16} {_brief(data)}")


def everything(task: Task, records: tuple[Record, ...]) -> dict[str, Any]:
    """`show --json`: the three views of a task."""
    return {
        "task": task_view(task, records),
        "context": context_view(task),
        "result": result_view(task, records) if task.closed else None,
    }


def _status(home: Home, task: Task, records: tuple[Record, ...], *, as_json: bool) -> None:
    holder = home.layout.task(task.id).holder
    running = task.running.step.value if task.running else ""
    view = {
        "task_id": task.id,
        "status": task.status.value,
        "step": running,
        "phase": f"{min(task.phases_done + 1, task.total_phases)}/{task.total_phases}",
        "last_event_at": records[-1].at,
        "events": len(records),
        "last_holder": holder.read_text() if holder.exists() else "",
        "waiting_for": task.paused,
        "unverified": task.unrun,
        "spent": spending(task) if task.calls.made else "",
    }
    if as_json:
        print_json(view)
        return
    for name, value in view.items():
        if value != "":
            print_text(f"{name:<14} {value}")


def _brief(data: dict[str, Any]) -> str:
    words = [
        f"{key}={value}"
        for key, value in data.items()
        if isinstance(value, str | int | float) and value != ""
    ]
    text = " ".join(words).replace("\n", " ")
    return text if len(text) <= 110 else f"{text[:109]}…"
