"""Scenarios as a user writes them."""

from typing import Any

Data = dict[str, Any]

REQUEST = "count the items"
"""What scripted runs are asked for."""
STAYS = "the rest stays as it is"
"""What their plan promises besides."""


def step(path: str, status: Any, *checks: Data, method: str = "GET", **more: Any) -> Data:
    """One request and what its answer must be; `more` has the rarer keys of both, and `sent` headers."""
    request = {name: more[name] for name in ("json", "body") if name in more}
    expect = {name: more[name] for name in ("headers", "body_contains", "body_matches") if name in more}
    made: Data = {
        "request": {"method": method, "path": path, **request},
        "expect": {"status": status, "json": list(checks), **expect},
    }
    if "sent" in more:
        made["request"]["headers"] = more["sent"]
    if "capture" in more:
        made["capture"] = more["capture"]
    return made


def at(path: str, value: Any = None, op: str = "equals") -> Data:
    """A comparison with what stands at a path of the answer."""
    return {"path": path, "op": op, "value": value}


def scenario(name: str, *steps: Data, kind: str = "new", why: str = "") -> Data:
    """A scenario, with a word drawn at run time as {{ name }}."""
    return {
        "name": name,
        "why": why or f"the request says: {name}",
        "kind": kind,
        "steps": list(steps),
        "let": {"name": "{{ random.word }}"},
    }


def add_item(name: str = "{{ name }}", **more: Any) -> Data:
    """A request that adds an item and sees it answered."""
    more = {"capture": {"id": "$.id"}, **more}
    return step("/items", 201, at("$.name", name), method="POST", json={"name": name}, **more)


COUNTS = scenario("items are counted", add_item(), step("/items/count", 200, at("$.count", 1)), why=REQUEST)
"""Proves the change most claims are about."""

LISTS = scenario(
    "the list shows what was added",
    add_item(),
    step("/items", 200, at("$[*].name", "{{ name }}", "contains")),
    kind="unchanged",
    why=STAYS,
)
"""Holds on the project as it is."""
