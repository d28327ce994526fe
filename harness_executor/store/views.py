"""Files that others read, made from the log and never read back as truth."""

import json
from datetime import datetime
from typing import Any

from harness_executor import faults
from harness_executor.kernel import events as e
from harness_executor.kernel.task import Task, all_of
from harness_executor.store.files import write_atomically
from harness_executor.store.layout import Layout
from harness_executor.store.record import Record

_SEED_STATUS = {
    e.Status.REFUSED: "failed",
}


def publish(layout: Layout, task: Task, records: tuple[Record, ...]) -> None:
    """Write every view of a task anew."""
    folder = layout.task(task.id)
    views = {
        folder.state / "task.json": task_view(task, records),
        folder.state / "context.json": context_view(task),
    }
    if task.closed:
        views[folder.state / "result.json"] = result_view(task, records)
    for number, summary in _phases(task):
        views[folder.checkpoints / f"phase-{number}.json"] = checkpoint_view(number, summary, records)
    for path, view in views.items():
        text = json.dumps(view, indent=2, ensure_ascii=False) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
            write_atomically(path, text)
    _point_current(layout, task)
    faults.point("views.published")


def task_view(task: Task, records: tuple[Record, ...]) -> dict[str, Any]:
    """state/task.json."""
    opened = task.opened
    view: dict[str, Any] = {
        "task_id": task.id,
        "task": (opened.name or opened.request) if opened else "",
        "description": opened.request if opened else "",
        "started_at": records[0].at if records else "",
        "phase": min(task.phases_done + 1, task.total_phases),
        "total_phases": task.total_phases,
        "status": _SEED_STATUS.get(task.status, task.status.value),
        "outcome": task.status.value,
        "base_commit": task.base_commit,
        "head": task.head,
    }
    if opened and opened.plan_path:
        view["plan_path"] = opened.plan_path
    if task.closed:
        view |= {
            "completed_at": _closed_at(records),
            "summary": task.closed.summary,
            "files_changed": list(task.closed.files_changed),
            "files_created": list(task.closed.files_created),
        }
    return view


def context_view(task: Task) -> dict[str, Any]:
    """state/context.json."""
    done = [f"Phase {number}: {summary}" for number, summary in _phases(task)]
    names = [phase.name for phase in task.plan.phases] if task.plan else []
    left = [
        f"Phase {number}: {names[number - 1]}" if number <= len(names) else f"Phase {number}"
        for number in range(task.phases_done + 1, task.total_phases + 1)
    ]
    return {
        "completed": done,
        "current": left[0] if left and not task.closed else "",
        "remaining": left[1:],
        "key_decisions": [text for point in task.checkpoints for text in point.decisions],
        "files_modified": list(all_of(task, "files_changed")),
        "files_created": list(all_of(task, "files_created")),
        "feedback": list(task.feedback),
    }


def result_view(task: Task, records: tuple[Record, ...]) -> dict[str, Any]:
    """state/result.json."""
    closed = task.closed or e.TaskClosed(task.status, "")
    return {
        "status": _SEED_STATUS.get(closed.status, closed.status.value),
        "outcome": closed.status.value,
        "summary": closed.summary,
        "files_changed": list(closed.files_changed),
        "files_created": list(closed.files_created),
        "completed_at": _closed_at(records),
        "validation": dict(closed.validation),
        "reasons": list(task.judged.reasons) if task.judged else [],
        "unverified": task.unrun,
        "blockers": [task.paused] if task.paused else [],
        "model_calls": len(task.calls.charges),
        "spent": spent_view(task),
    }


def spent_view(task: Task) -> dict[str, Any]:
    """What the model calls of a task used; a price nobody knows is null, never 0."""
    used = task.calls.used
    charges = task.calls.charges
    return {
        "usd": None if used.unpriced else used.micros / 1_000_000,
        "calls": used.turns,
        "input_tokens": sum(charge.input_tokens for charge in charges),
        "output_tokens": sum(charge.output_tokens for charge in charges),
        "cache_read_tokens": sum(charge.cache_read for charge in charges),
        "unsettled_calls": len(task.calls.open),
        "calls_of_unknown_price": used.unpriced,
        "seconds": round(used.seconds, 1),
    }


def checkpoint_view(number: int, summary: str, records: tuple[Record, ...]) -> dict[str, Any]:
    """checkpoints/phase-N.json."""
    times = [record.at for record in records if getattr(record.fact, "phase", 0) == number]
    return {
        "phase": number,
        "summary": summary,
        "timestamp": times[-1] if times else "",
        "context_snapshot": {"completed": [f"Phase {done}" for done in range(1, number + 1)]},
    }


def list_row(task: Task, records: tuple[Record, ...], *, is_current: bool) -> dict[str, Any]:
    """One entry of `list --json`."""
    view = task_view(task, records)
    started = view["started_at"]
    return {
        "id": task.id,
        "task": view["task"],
        "status": view["status"],
        "outcome": view["outcome"],
        "phase": f"{view['phase']}/{view['total_phases']}",
        "started": datetime.fromisoformat(started).date().isoformat() if started else "",
        "is_current": is_current,
    }


def _closed_at(records: tuple[Record, ...]) -> str:
    return next((record.at for record in reversed(records) if isinstance(record.fact, e.TaskClosed)), "")


def _phases(task: Task) -> list[tuple[int, str]]:
    made = {change.phase: change.summary for change in task.changes if change.phase <= task.phases_done}
    made |= {point.phase: point.summary for point in task.checkpoints}
    return sorted(made.items())


def _point_current(layout: Layout, task: Task) -> None:
    if task.closed:
        if layout.current_id() == task.id:
            layout.current.unlink(missing_ok=True)
        return
    fresh = layout.current.with_name(f".current-{task.id}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(task.id)
    fresh.replace(layout.current)
