"""A server that is never twice the same, and changes to it that must always be judged alike."""

from dataclasses import dataclass
from pathlib import Path

from tests.conftest import commit_all, git

FILES = Path(__file__).parent / "files"
SCENARIOS = FILES / "scenarios.yaml"
START = "python3 app.py"

_ROUTE = '        if parts[0] == "notes" and parts[-1] in NOTES:\n'
_WORDS = """        if parts[0] == "notes" and parts[-1] == "words" and parts[1] in NOTES:
            count = len(NOTES[parts[1]]["text"].split())
            return self.answer(200, {"id": parts[1], "words": count, "asked": now()})
"""


@dataclass(frozen=True)
class Change:
    """An edit of the server, and whether it may be accepted."""

    name: str
    edits: tuple[tuple[str, str], ...]
    is_honest: bool = False


_FEATURE = (_ROUTE, _WORDS + _ROUTE)
CHANGES = (
    Change("honest", (_FEATURE,), is_honest=True),
    Change("nothing but a comment", (("NOTES = {}", "NOTES = {}  # counts words now"),)),
    Change("letters are counted", (_FEATURE, ('["text"].split())', '["text"])'))),
    Change("notes are not kept", (_FEATURE, ('        NOTES[note["id"]] = note\n', ""))),
    Change("the weather always fails", (_FEATURE, ("random.random() < 0.12", "random.random() < 2"))),
)
"""The first is the feature; the others look like it."""


def make_project(place: Path, change: Change) -> Path:
    """A repository whose working tree has the change."""
    place.mkdir(parents=True)
    git(place, "init", "-q", "-b", "main", ".")
    app = place / "app.py"
    text = (FILES / "app.py").read_text(encoding="utf-8")
    app.write_text(text, encoding="utf-8")
    commit_all(place, "Start")
    for old, new in change.edits:
        assert old in text, f"{old!r} is not in the server"
        text = text.replace(old, new)
    app.write_text(text, encoding="utf-8")
    return place
