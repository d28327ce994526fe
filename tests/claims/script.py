"""What a scripted model says, so that a whole run can be played with no model."""

from typing import Any

from tests.claims.asking import STAYS, Data

PLAN = {
    "summary": "Count the items.",
    "contract": f'GET /items/count -> 200 {{"count": int}}; {STAYS}',
    "phases": [
        {"name": "Count the items", "objective": "Serve the number of items.", "files": ["routes.py"]}
    ],
}

DONE = {
    "status": "success",
    "summary": "GET /items/count is served; I tried it and it works.",
    "files_changed": ["routes.py"],
    "validation_result": "pass",
}


def call(tool: str, **arguments: Any) -> Data:
    """One reply that uses a tool."""
    return {"text": "", "calls": [{"name": tool, "arguments": arguments}]}


def submit(result: Any) -> Data:
    """The reply that hands a result over."""
    return call("submit_result", **result)


def played(scenarios: tuple[Data, ...], *work: Data, result: Any = None) -> Data:
    """A run in which the executor does this work and then claims success."""
    return {
        "planner": [{"replies": [submit(PLAN)]}],
        "verifier": [{"replies": [submit({"scenarios": list(scenarios)})]}],
        "executor": [{"replies": [*work, submit(result or DONE)]}],
    }
