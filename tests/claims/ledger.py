"""Event logs taken apart and put together again, as somebody does who wants to be believed."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness_executor.kernel.canonical import canonical, digest
from tests.claims.project import Project

Line = dict[str, Any]


def lines_of(log: Path) -> list[Line]:
    """The records of a log as plain data."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def hashed(line: Line, prev: str) -> Line:
    """A record with the hash it must have after another."""
    body = {**line, "prev": prev}
    body.pop("hash", None)
    return {**body, "hash": digest(body)}


def chained(lines: list[Line]) -> list[Line]:
    """All records renumbered, and every hash made anew, so that the chain holds."""
    made: list[Line] = []
    for number, line in enumerate(lines, 1):
        made.append(hashed({**line, "seq": number}, made[-1]["hash"] if made else "0" * 64))
    return made


def save(log: Path, lines: list[Line]) -> None:
    """Put records into a log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(canonical(line) + "\n" for line in lines))


def rewrite(log: Path, change: Callable[[list[Line]], list[Line]]) -> None:
    """Change the records of a log."""
    save(log, change(lines_of(log)))


def add_fact(log: Path, name: str, data: Line) -> None:
    """Append one fact so that the chain holds."""
    lines = lines_of(log)
    save(log, chained([*lines, {**lines[-1], "type": name, "data": data}]))


def forget(project: Project, task_id: str) -> None:
    """Remove what this machine has seen of a task, as if the log came from elsewhere."""
    for path in (Path(os.environ["HOME"]) / ".local/state/harness-executor/seen").glob(f"*/{task_id}"):
        path.unlink()
    (project.log(task_id).parent / ".lock").unlink(missing_ok=True)
