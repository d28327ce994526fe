"""Prompts, guides and scripts that ship with the program, in a wheel and in a checkout alike."""

from functools import cache
from pathlib import Path

from harness_executor.errors import HarnessError


@cache
def bundled(name: str) -> Path:
    """The folder or file of that name which ships with the program; never one of the project worked on."""
    package = Path(__file__).resolve().parent
    for root in (package / "_bundled", package.parent):
        if (root / name).exists():
            return root / name
    raise HarnessError(f"{name} is missing from this installation", hint="install harness-executor again")


def guide(role: str) -> str:
    """Who a subagent is: the body of its guide, without the front matter."""
    text = (bundled("agents") / f"{role}.md").read_text(encoding="utf-8")
    if text.startswith("---\n"):
        return text.split("\n---\n", 1)[1].strip()
    return text.strip()
