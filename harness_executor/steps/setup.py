"""Setup: read the project and what earlier tasks taught."""

from collections.abc import Iterator

from harness_executor.kernel.events import Fact, LessonsFound, Mode, ProjectRead
from harness_executor.kernel.invisible import remark
from harness_executor.kernel.task import Task
from harness_executor.steps.means import Means
from harness_executor.steps.withholding import withheld
from harness_executor.workspace.installed import remarks

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
"""Files that agents take as instructions."""


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Find the commands of the project; what cannot be verified later is refused now."""
    project = means.project(task)
    must_start = task.opened is not None and task.opened.mode is Mode.IMPLEMENT
    idle = must_start and means.is_idle(task)
    start = means.start(task).command if must_start and not idle else ""
    notes = [
        *project.notes,
        *means.desk.notes(task.base_tree),
        *remarks(means.desk.room(means.base(task)), means.sandbox.assurance),
        *means.settings.notes,
        *_invisible(task, means),
    ]
    if must_start and means.desk.is_dirty():
        notes.append(
            "the working tree has changes that are not committed; the task works from HEAD without them"
        )
    kept_back = withheld(task, means).said
    if kept_back:
        notes.append(f"kept back from models, as they look like secrets: {kept_back}")
    if idle:
        notes.append("nothing in this repository can be run, so a change of its texts ends unverified")
    yield ProjectRead(start, dict(project.checks), tuple(notes), idle)
    yield LessonsFound(means.memory.lessons_for(task.opened.request if task.opened else ""))


def _invisible(task: Task, means: Means) -> Iterator[str]:
    texts = {"the request": task.opened.request if task.opened else ""}
    for name in INSTRUCTIONS:
        path = means.base(task) / name
        if path.is_file() and not path.is_symlink():
            texts[name] = path.read_text(encoding="utf-8", errors="replace")
    yield from filter(None, (remark(where, text) for where, text in texts.items()))
