"""What a project says its users do, in plain words: hints for whoever writes scenarios."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

MOST = 12
LONGEST = 300


def read_hints(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The `functional_scenarios` of environment.json, one quoted line each; what is no text is left out."""
    found = data.get("functional_scenarios")
    entries = found[:MOST] if isinstance(found, list) else []
    lines = (": ".join(_parts(entry)) for entry in entries)
    return tuple(json.dumps(line[:LONGEST], ensure_ascii=False) for line in lines if line)


def _parts(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        entry = {"description": entry}
    if isinstance(entry, Mapping):
        hints = entry.get("steps_hint")
        steps = hints if isinstance(hints, list) else [hints]
        said = (entry.get("name"), entry.get("description"), *steps)
        yield from (" ".join(part.split()) for part in said if isinstance(part, str) and part.strip())
