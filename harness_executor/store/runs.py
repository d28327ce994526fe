"""The verifications that were recorded in a project, found by name."""

from pathlib import Path

from harness_executor.errors import UsageError
from harness_executor.store.layout import Layout

MARK = "evidence.json"
"""A folder with this file is the whole record of one verification."""
_SHORTEST = 4


def recorded(layout: Layout, task_id: str = "") -> list[Path]:
    """The folders of all verifications, or of those of a task, the last at the end."""
    places = [layout.task(name).evidence for name in ([task_id] if task_id else layout.task_ids())]
    places += [] if task_id else [layout.runs]
    folders = [folder for place in places if place.is_dir() for folder in place.iterdir()]
    whole = [folder for folder in folders if not folder.is_symlink() and (folder / MARK).is_file()]
    return sorted(whole, key=lambda folder: (folder / MARK).stat().st_mtime_ns)


def find_run(layout: Layout, named: str = "") -> Path:
    """The last verification of a task, the one whose id begins so, or the last of all."""
    if named and named in layout.task_ids():
        found = recorded(layout, named)[-1:]
    else:
        found = recorded(layout)
        found = [run for run in found if run.name.startswith(named)] if named else found[-1:]
    if len(found) == 1 and (not named or len(named) >= _SHORTEST):
        return found[0]
    if len(found) > 1:
        raise UsageError(f"{len(found)} verifications begin with {named!r}", hint="give more of the id")
    what = f"of {named!r} " if named else ""
    raise UsageError(
        f"no verification {what}was recorded in {layout.root}",
        hint="`harness verify --scenarios FILE` records one; `harness list` shows the tasks",
    )
