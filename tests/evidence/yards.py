"""Trees whose programs are run, without a server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness_executor.clock import SystemClock
from harness_executor.evidence.executing import Yard, streams_beside
from harness_executor.kernel.acts import Language, Probe, Program
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.report import Execution
from harness_executor.sandbox.base import Room, Sandbox

PYTHON, NODE = Language.PYTHON, Language.NODE


@contextmanager
def yard_of(
    folder: Path, sandbox: Sandbox, files: Mapping[str, str], env: Mapping[str, str] | None = None
) -> Iterator[Yard]:
    """A box with a tree of these files."""
    tree = folder / "tree"
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tree.mkdir(parents=True, exist_ok=True)
    room = Room(tree, tree)
    box = sandbox.open(room)
    try:
        yield Yard(box, room, streams_beside(folder / "run.log"), SystemClock(), env=env or {})
    finally:
        assert box.close()


def ended(deed: Execution) -> Ended:
    """How a program ended that did end."""
    assert isinstance(deed.answer, Ended), deed.error
    return deed.answer


def shell(script: str, **more: Any) -> Program:
    """A few words of shell."""
    return Program(("sh", "-c", script), **more)


def value(yard: Yard, language: Language, code: str, *args: Any) -> Any:
    """What a probe says."""
    done = ended(yard.probe(Probe(language, code, args)))
    assert done.status == 0, done.stderr
    return done.json()
