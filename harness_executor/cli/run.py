"""`harness-run REQUEST` and `harness resume`."""

import argparse
from dataclasses import asdict, replace
from typing import Any

from harness_executor.cli import interrupts
from harness_executor.cli.parsing import (
    Parser,
    boxed_as_asked,
    print_json,
    print_text,
    with_json,
    with_project,
    with_sandbox,
)
from harness_executor.config import Settings, read_settings
from harness_executor.errors import ModelUnknown, UsageError
from harness_executor.evidence.suite import place_of
from harness_executor.home import Home, new_task, open_home
from harness_executor.kernel.budget import Caps
from harness_executor.kernel.events import Cause, Driver, Mode, Status, TaskOpened
from harness_executor.kernel.task import Task, replay
from harness_executor.providers.registry import check, split
from harness_executor.store.views import spent_view
from harness_executor.subagents.jobs import Role
from harness_executor.tables import caps_of
from harness_executor.ui.choice import progress
from harness_executor.ui.words import spending
from harness_executor.wiring import Run

EXIT = {
    Status.COMPLETED: 0,
    Status.FAILED: 1,
    Status.BLOCKED: 3,
    Status.REFUSED: 4,
    Status.COMPLETED_UNVERIFIED: 5,
    Status.IN_PROGRESS: 1,
}


def main(words: list[str]) -> int:
    """Run a request, or resume a task."""
    return _resume(words[1:]) if words[0] == "resume" else _run(words[1:])


def _run(arguments: list[str]) -> int:
    options = _run_options(arguments)
    home = open_home(options.repo)
    granted = home.trust.granted()
    settings = read_settings(home.layout.harness, model=options.model, caps=_caps(options), granted=granted)
    settings = boxed_as_asked(settings, options)
    for role in Role:
        _check(home, settings.model(role.value), settings)
    asked = TaskOpened(
        task_id="",
        request=options.request,
        mode=Mode(options.mode),
        driver=Driver.RUNNER,
        base_commit="",
        base_tree="",
        start=options.start,
        start_base=options.start_base,
        models=dict(settings.models),
        refactor=options.refactor,
        caps=settings.budget.task,
    )
    opened = new_task(home, asked)
    interrupts.on_stop(f"`harness resume {opened.task_id}` goes on where it stopped")
    with progress() as audience:
        audience.fact(opened)
        task = Run(home, settings, audience).begin(opened)
    return finish(home, task, as_json=options.json)


def _run_options(arguments: list[str]) -> argparse.Namespace:
    modes = [mode.value for mode in Mode]
    parser = Parser("harness-run", description="Have a change made, and proved on the running program.")
    parser.add_argument("request", help="what to do, in your own words")
    with_project(parser)
    parser.add_argument("--model", default="", help="provider:model for every role (also HARNESS_MODEL)")
    parser.add_argument(
        "--start", default="", metavar="CMD", help="how the server is started; {port} is filled in"
    )
    parser.add_argument(
        "--start-base", default="", metavar="CMD", help="how the old code is started, when that differs"
    )
    parser.add_argument("--mode", choices=modes, default="implement", help="only implement changes anything")
    parser.add_argument(
        "--refactor", action="store_true", help="nothing changes for a client: all scenarios must hold"
    )
    _with_caps(parser)
    with_sandbox(parser)
    with_json(parser)
    options = parser.parse_args(arguments)
    if not options.request.strip():
        raise UsageError("the request is empty", hint='harness-run "add GET /health"')
    return options


def _resume(arguments: list[str]) -> int:
    parser = Parser("harness resume", description="Go on with an interrupted or paused task.")
    parser.add_argument("task_id", nargs="?", default="", help="the task (default: the current one)")
    with_project(parser)
    _with_caps(parser)
    with_sandbox(parser)
    with_json(parser)
    options = parser.parse_args(arguments)
    home = open_home(options.repo)
    task_id = options.task_id or home.open_task()
    settings = read_settings(home.layout.harness, granted=home.trust.granted())
    settings = boxed_as_asked(settings, options)
    _check_again(home, task_id, settings)
    interrupts.on_stop(f"`harness resume {task_id}` goes on where it stopped")
    with progress() as audience:
        task = Run(home, settings, audience).resume(task_id, _caps(options))
    return finish(home, task, as_json=options.json)


def _check_again(home: Home, task_id: str, settings: Settings) -> None:
    """Refuse to go on without the models the task began with, before anything is written."""
    task = replay(record.fact for record in home.records(task_id))
    if task.opened is None or task.closed or task.opened.driver is not Driver.RUNNER:
        return
    models = replace(settings, models=task.opened.models or settings.models)
    for role in Role:
        _check(home, models.model(role.value), settings)


def _with_caps(parser: argparse.ArgumentParser) -> None:
    """The options that say how much a task may use."""
    group = parser.add_argument_group("caps of the whole task, over every subagent and retry")
    group.add_argument("--max-usd", type=float, metavar="N", help="dollars (default: 10)")
    group.add_argument("--max-tokens", type=int, metavar="N", help="tokens read and written")
    group.add_argument("--max-turns", type=int, metavar="N", help="model calls")
    group.add_argument("--max-minutes", type=float, metavar="N", help="time at work")


def _caps(options: argparse.Namespace) -> Caps:
    given = (options.max_usd, options.max_tokens, options.max_turns, options.max_minutes)
    if any(value is not None and not 0 <= value < 1e12 for value in given):
        raise UsageError("a cap is a number from 0 on", hint="--max-usd 5")
    usd, tokens, turns, minutes = given
    return caps_of(usd=usd, tokens=tokens, turns=turns, minutes=minutes)


def _check(home: Home, model: str, settings: Settings) -> None:
    check(model, settings.services)
    provider, name = split(model)
    if provider == "replay" and not home.layout.task(name).calls.is_dir():
        raise ModelUnknown(f"task {name!r} has no recorded calls", hint="`harness list` shows the tasks")


def exit_code(task: Task) -> int:
    """The code that says how a task stands."""
    if task.pause and not task.closed and task.pause.cause is Cause.BUDGET:
        return 6
    return EXIT[task.status]


def finish(home: Home, task: Task, *, as_json: bool) -> int:
    """Show the outcome; the exit code says it too."""
    code = exit_code(task)
    if as_json:
        print_json(outcome(home, task, code))
        return code
    folder = home.layout.task(task.id).path
    if (folder / "summary.md").exists():
        print_text((folder / "summary.md").read_text(encoding="utf-8"))
    print_text("\n" + "\n".join(_closing_lines(home, task, code)))
    return code


def _closing_lines(home: Home, task: Task, code: int) -> list[str]:
    said = [f"{task.status.value}: {task.id} (exit {code})"]
    if task.calls.made:
        said.append(f"spent:    {spending(task)}")
    if task.pause:
        said.append(f"parked ({task.pause.cause.value}): {task.pause.reason}")
    if task.commits:
        said.append(f"branch:   harness/{task.id}  (git diff {task.base_commit[:12]} harness/{task.id})")
    if task.unrun:
        said.append(f"because:  {task.unrun}")
    if task.verified or task.surveyed:
        said.append(f"report:   {home.layout.report}")
    if task.verified:
        said.append(f"evidence: {home.layout.task(task.id).evidence / task.verified.evidence.run_id}")
    if place := _kept(home, task):
        said.append(f"kept:     {place}  (commit it, and every later change is tried with it)")
    if code == 1 and task.closed:
        said.append(f"error: {task.closed.summary}")
    hint = _hint(task, code)
    return [*said, f"\nhint: {hint}"] if hint else said


def _kept(home: Home, task: Task) -> str:
    """The file with the task's scenarios, relative to the project."""
    path = place_of(home.layout.harness, task.id)
    is_kept = task.closed and task.judged and task.judged.accepted and path.is_file()
    return str(path.relative_to(home.layout.root)) if is_kept else ""


def _hint(task: Task, code: int) -> str:
    if task.failure and task.failure.hint:
        return task.failure.hint
    match code:
        case 3 | 6 if task.pause:
            return task.pause.hint or f"{task.paused}; then `harness resume {task.id}`"
        case 5:
            return "nothing was run, so look at the change yourself"
        case 4:
            return "the exchanges are in the evidence folder; if nothing changes for a client, say --refactor"
    return ""


def outcome(home: Home, task: Task, code: int) -> dict[str, Any]:
    """The result of a run, for programs."""
    return {
        "task_id": task.id,
        "status": task.status.value,
        "exit_code": code,
        "summary": task.closed.summary if task.closed else task.paused,
        "reasons": list(task.judged.reasons) if task.judged else [],
        "unverified": task.unrun or None,
        "branch": f"harness/{task.id}" if task.commits else None,
        "commit": task.commits[-1].commit if task.commits else None,
        "files_changed": list(task.closed.files_changed) if task.closed else [],
        "files_created": list(task.closed.files_created) if task.closed else [],
        "report": str(home.layout.report) if task.verified or task.surveyed else None,
        "kept_scenarios": _kept(home, task) or None,
        "assurance": task.verified.evidence.assurance.value if task.verified else None,
        "waiting_for": task.pause.cause.value if task.pause else None,
        "model_calls": len(task.calls.charges),
        "spent": spent_view(task),
        "plan": task.plan.summary if task.plan else None,
        "control_files": [asdict(file) for file in task.control],
        "findings": [dict(finding) for finding in task.review.findings] if task.review else [],
    }
