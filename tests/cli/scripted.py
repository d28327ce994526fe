"""Scripted models for runs through the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness_executor.demo.script import HONEST, LIES
from harness_executor.providers.script import Lines

HONEST_LINES: Lines = HONEST.lines
LYING_LINES: Lines = next(iter(LIES.values())).lines


def submit(result: Any) -> dict[str, Any]:
    """A reply that hands over a result."""
    return {"calls": [{"name": "submit_result", "arguments": result}]}


def use(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply that uses a tool."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def work(**fields: Any) -> dict[str, Any]:
    """A reply of an executor that is done."""
    return submit({"status": "success", "summary": "done", **fields})


UPHELD = {
    "when": "This is the only time you are asked",
    "replies": [
        submit(
            {
                "rulings": [
                    {"scenario": name, "quote": "the number of to-dos in total", "reason": "it is asked for"}
                    for name in ("stats of an empty list", "stats count open and done")
                ]
            }
        )
    ],
}
"""A verifier that is asked again whether anybody asked for what fails, and says yes."""


def with_executor(*conversations: dict[str, Any]) -> dict[str, Any]:
    """The honest planner and verifier, with another executor."""
    verifier = [UPHELD, *HONEST_LINES["verifier"]]
    return {**HONEST_LINES, "verifier": verifier, "executor": list(conversations)}


def write_script(folder: Path, lines: Any) -> str:
    """The --model value for a script."""
    path = folder / "script.json"
    path.write_text(json.dumps(lines))
    return f"scripted:{path}"


Scripted = Callable[[Any], str]
