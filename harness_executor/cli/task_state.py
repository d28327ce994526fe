"""Task state for coding agents: the same log and the same gate, behind the commands their skill knows."""

import argparse
import json
from typing import Any

from harness_executor.cli.parsing import Parser, print_json, print_text, with_json, with_project
from harness_executor.cli.tasks import everything, rows, show, show_list
from harness_executor.errors import NeedsHuman, Refused, UsageError
from harness_executor.home import Home, new_task, open_home
from harness_executor.kernel.belief import verdict_of
from harness_executor.kernel.choices import unallowed
from harness_executor.kernel.events import (
    Driver,
    GateJudged,
    Mode,
    PhaseCheckpointed,
    Status,
    TaskClosed,
    TaskOpened,
)
from harness_executor.kernel.gate import Claim, Verdict
from harness_executor.kernel.report import Evidence
from harness_executor.kernel.task import Task, replay
from harness_executor.store.log import Log


def main(words: list[str]) -> int:
    """Keep the state of a task."""
    options = _options(words[1:])
    home = open_home(options.repo)
    run = {
        "init": _init,
        "checkpoint": _checkpoint,
        "complete": _complete,
        "fail": _fail,
        "show": _show,
        "list": _list,
    }
    return run[options.command](home, options) or 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = Parser("task_state.py", description=main.__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    for name, about in (
        ("init", "open a task; prints its id"),
        ("checkpoint", "finish a phase"),
        ("complete", "finish the task; accepted only with evidence the harness recorded"),
        ("fail", "give the task up"),
        ("show", "the state of a task"),
        ("list", "all tasks"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        with_project(command)
        with_json(command)
        _add(name, command)
    return parser.parse_args(arguments)


def _add(name: str, command: argparse.ArgumentParser) -> None:
    if name == "init":
        command.add_argument("name", help="what the task is called")
        command.add_argument("--phases", type=int, default=1, help="how many phases it has")
        command.add_argument("--description", "-d", default="", help="what is to be done")
        command.add_argument("--plan-path", default="", help="the plan file, if there is one")
        command.add_argument("--refactor", action="store_true", help="nothing changes for a client")
    if name not in ("init", "list"):
        command.add_argument("--task-id", default="", help="the task (default: the current one)")
    if name in ("checkpoint", "complete", "fail"):
        command.add_argument("--summary", "-s", required=True, help="what was done")
    if name in ("checkpoint", "complete"):
        command.add_argument("--files-changed", nargs="*", default=[], metavar="FILE")
        command.add_argument("--files-created", nargs="*", default=[], metavar="FILE")
    if name == "checkpoint":
        command.add_argument("--phase", type=int, required=True, help="the phase that is done")
        command.add_argument("--decisions", default="", help="a JSON list, or plain words")
    if name in ("complete", "fail"):
        command.add_argument("--lessons", default="", help="a JSON list, or plain words")
    if name == "complete":
        command.add_argument("--validation", default="", help="your own results as JSON; noted, not believed")
    if name == "fail":
        command.add_argument("--reason", default="", help="why it is given up")


def _init(home: Home, options: argparse.Namespace) -> None:
    if options.phases < 1:
        raise UsageError(f"--phases is {options.phases}", hint="a task has at least one phase")
    opened = new_task(
        home,
        TaskOpened(
            task_id="",
            request=options.description or options.name,
            mode=Mode.IMPLEMENT,
            driver=Driver.SKILL,
            base_commit="",
            base_tree="",
            name=options.name,
            phases=options.phases,
            plan_path=options.plan_path,
            refactor=options.refactor,
        ),
    )
    with home.hold(opened.task_id) as log:
        log.append(opened)
        home.publish(log)
    if options.json:
        print_json({"task_id": opened.task_id, "base_commit": opened.base_commit})
    else:
        print_text(opened.task_id)


def _checkpoint(home: Home, options: argparse.Namespace) -> None:
    with home.hold(_task_id(home, options)) as log:
        task = _open(log.task)
        if options.phase != task.phases_done + 1 or options.phase > task.total_phases:
            raise UsageError(
                f"phase {options.phase} is not next: {task.phases_done} of {task.total_phases} are done",
                hint=f"checkpoint phase {task.phases_done + 1}"
                if task.phases_done < task.total_phases
                else "complete the task",
            )
        log.append(
            PhaseCheckpointed(
                options.phase,
                options.summary,
                _texts(options.decisions, "--decisions"),
                tuple(options.files_changed),
                tuple(options.files_created),
            )
        )
        home.publish(log)
    _say(options, f"phase {options.phase} of {task.total_phases} done", phase=options.phase)


def _complete(home: Home, options: argparse.Namespace) -> int:
    validation = _object(options.validation, "--validation")
    with home.hold(_task_id(home, options)) as log:
        task = _open(log.task)
        verdict = _judged(home, log, task)
        log.append(
            TaskClosed(
                Status.COMPLETED if verdict.accepted else Status.COMPLETED_UNVERIFIED,
                options.summary,
                tuple(options.files_changed),
                tuple(options.files_created),
                _texts(options.lessons, "--lessons"),
                validation,
            )
        )
        home.publish(log)
    if verdict.unverified:
        return _say_unverified(options, log.task)
    said, values = _keep(home, task, task.verified.evidence if task.verified else None)
    _say(options, f"completed {task.id}{said}", task_id=task.id, **values)
    return 0


def _judged(home: Home, log: Log, task: Task) -> Verdict:
    """The verdict that lets a task be complete; refuses without one, or while a person has to look."""
    verdict = verdict_of(task, _claim(home, task), home.seal.fits)
    reasons = (*_unfinished(task), *verdict.reasons)
    choices = unallowed(task) if verdict.accepted and not reasons else ()
    against = (*reasons, *(f"nobody allowed this: {choice}" for choice in choices))
    log.append(GateJudged(verdict.accepted and not against, against, verdict.unverified and not against))
    if against:
        home.publish(log)
    if reasons:
        raise Refused(
            f"the task is not complete:\n{_listed(reasons)}", hint=_next_command(task, verdict.reasons)
        )
    if choices:
        raise NeedsHuman(
            f"a person has to allow how the change was judged:\n{_listed(choices)}",
            hint=f"the user looks and runs `harness approve {task.id}`, then complete it again; "
            "or verify again without that",
        )
    return verdict


def _listed(reasons: tuple[str, ...]) -> str:
    return "\n".join(f"  - {reason}" for reason in reasons)


def _say_unverified(options: argparse.Namespace, task: Task) -> int:
    """Say that nothing was run, and why; the exit code says it too."""
    words = f"completed, unverified: {task.id}\n{task.unrun}"
    _say(options, words, task_id=task.id, status=task.status.value, unverified=task.unrun)
    return 5


def _keep(home: Home, task: Task, evidence: Evidence | None) -> tuple[str, dict[str, Any]]:
    """Keep the scenarios that proved the task; gives what is said of it, in words and as data."""
    from harness_executor.evidence.account import read_account, scenarios_of  # noqa: PLC0415 - slow
    from harness_executor.evidence.suite import kept  # noqa: PLC0415 - as above

    if evidence is None:
        return "", {}
    try:
        proved = scenarios_of(read_account(home.layout.task(task.id).evidence / evidence.run_id, home.seal))
    except Refused as error:
        return f"\nits scenarios are not kept: {error.message}", {"kept_scenarios": None}
    path = kept(home.layout.harness, task.id, evidence.tree, proved)
    name = str(path.relative_to(home.layout.root)) if path else None
    words = f"\nkept: {name}  (commit it, and every later change is tried with it)" if name else ""
    return words, {"kept_scenarios": name}


def _fail(home: Home, options: argparse.Namespace) -> None:
    with home.hold(_task_id(home, options)) as log:
        task = _open(log.task)
        summary = f"{options.summary}: {options.reason}" if options.reason else options.summary
        log.append(TaskClosed(Status.FAILED, summary, lessons=_texts(options.lessons, "--lessons")))
        home.publish(log)
    _say(options, f"failed {task.id}", task_id=task.id)


def _show(home: Home, options: argparse.Namespace) -> None:
    records = home.records(_task_id(home, options))
    task = replay(record.fact for record in records)
    if options.json:
        print_json(everything(task, records))
    else:
        show(home, task, records, as_json=False)


def _list(home: Home, options: argparse.Namespace) -> None:
    show_list(rows(home), as_json=options.json)


def _claim(home: Home, task: Task) -> Claim:
    desk = home.desk(f"{task.id}-complete")
    try:
        tree = desk.snapshot(home.repository.root, task.base_tree)
    finally:
        desk.clear()
    return Claim(
        task.id, task.base_commit, task.base_tree, tree, refactor=bool(task.opened and task.opened.refactor)
    )


def _unfinished(task: Task) -> tuple[str, ...]:
    left = [str(number) for number in range(task.phases_done + 1, task.total_phases)]
    return (f"phase {', '.join(left)} has no checkpoint",) if left else ()


def _next_command(task: Task, reasons: tuple[str, ...]) -> str:
    if not reasons:
        return f"`task_state.py checkpoint --phase {task.phases_done + 1}`"
    return (
        "`harness verify --scenarios FILE` records evidence for the tree as it is now; "
        "`harness verify` alone finds out whether there is nothing to run"
    )


def _open(task: Task) -> Task:
    if task.closed:
        raise UsageError(
            f"{task.id} is already {task.status.value}", hint="`task_state.py init` opens a new task"
        )
    return task


def _task_id(home: Home, options: argparse.Namespace) -> str:
    task_id = options.task_id or home.layout.current_id()
    if not task_id:
        raise UsageError("no task is open", hint="`task_state.py init NAME` opens one")
    home.records(task_id)
    return str(task_id)


def _texts(text: str, option: str) -> tuple[str, ...]:
    if not text.lstrip().startswith("["):
        return (text,) if text else ()
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"{option} is not JSON: {error}", hint=f'{option} \'["one", "two"]\', or plain words'
        ) from error
    return tuple(str(item) for item in found)


def _object(text: str, option: str) -> dict[str, str]:
    if not text:
        return {}
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{option} is not JSON: {error}", hint=f'{option} \'{{"test": "pass"}}\'') from error
    if not isinstance(found, dict):
        raise UsageError(f"{option} is not an object", hint=f'{option} \'{{"test": "pass"}}\'')
    return {str(name): str(value) for name, value in found.items()}


def _say(options: argparse.Namespace, text: str, **values: Any) -> None:
    if options.json:
        print_json(values)
    else:
        print_text(text)
