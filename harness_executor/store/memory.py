"""What earlier tasks taught: one line a closed task, and one a failure."""

import json
import re
from datetime import datetime
from typing import Any

from harness_executor.kernel import events as e
from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.task import Task
from harness_executor.store.files import append_line
from harness_executor.store.layout import Layout

_OUTCOMES = {e.Status.COMPLETED: "success", e.Status.COMPLETED_UNVERIFIED: "partial"}


@frozen
class Memory:
    """The memory of a project."""

    layout: Layout

    def remember(self, task: Task, now: datetime) -> None:
        """Add the episode of a closed task, once."""
        if task.closed is None or any(episode.get("task_id") == task.id for episode in self.episodes()):
            return
        episode = {
            "task": task.opened.request if task.opened else "",
            "task_id": task.id,
            "outcome": _OUTCOMES.get(task.closed.status, "failure"),
            "timestamp": now.isoformat(),
            "lessons": list(task.closed.lessons),
            "reasons": list(task.judged.reasons) if task.judged else [],
        }
        append_line(self.layout.episodes / f"{now:%Y-%m-%d}.jsonl", json.dumps(episode, ensure_ascii=False))

    def note_failure(self, kind: str, message: str, task_id: str, now: datetime) -> None:
        """Add one failure for later analysis."""
        failure = {
            "timestamp": now.isoformat(),
            "failure_type": kind,
            "error_message": message,
            "outcome": "still_failed",
            "context": {"task_id": task_id},
        }
        append_line(self.layout.failures / f"{now:%Y-%m-%d}.jsonl", json.dumps(failure, ensure_ascii=False))

    def lessons_for(self, request: str, limit: int = 5) -> tuple[str, ...]:
        """Lessons of verified tasks that share words with a request, nearest first."""
        wanted = _words(request)
        scored: list[tuple[int, str]] = []
        for episode in self.episodes():
            lessons = episode.get("lessons")
            if episode.get("outcome") != "success" or not isinstance(lessons, list):
                continue
            shared = len(wanted & _words(str(episode.get("task", ""))))
            scored += [(shared, str(lesson)) for lesson in lessons if shared]
        nearest = sorted(scored, key=lambda pair: -pair[0])
        return tuple(dict.fromkeys(lesson for _, lesson in nearest))[:limit]

    def episodes(self) -> list[dict[str, Any]]:
        """Every readable episode, oldest first."""
        found: list[dict[str, Any]] = []
        for path in sorted(self.layout.episodes.glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
                try:
                    episode = parse(line)
                except Ambiguous:
                    continue
                if isinstance(episode, dict):
                    found.append(episode)
        return found


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 2}
