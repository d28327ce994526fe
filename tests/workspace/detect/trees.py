"""Trees of files, grown from a table."""

from pathlib import Path
from textwrap import dedent

from harness_executor.workspace.detect.detection import Detection, detect


def grow(root: Path, files: dict[str, str]) -> Path:
    """Write files into a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return root


def found(root: Path, files: dict[str, str], app: str = "") -> Detection:
    """What is detected in a tree of these files."""
    return detect(grow(root, files), app=app)


def commands(seen: Detection) -> list[str]:
    """The commands of every candidate, the best first."""
    return [candidate.command for candidate in seen.candidates]


def steps(root: Path, files: dict[str, str]) -> list[str]:
    """The commands that come before the best start."""
    seen = found(root, files)
    best = seen.candidates[0]
    return [step.command for step in seen.steps(seen.stack_of(best), best)]
