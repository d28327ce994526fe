"""How many forgeries are refused, and how much honest work is accepted."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULT = Path(__file__).with_suffix(".json")
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")
"""All that a case sees of the user's environment; its HOME is a folder of its own."""

sys.path.insert(0, str(ROOT))

from tests.claims.case import Case  # noqa: E402 - the checkout has to be found first
from tests.claims.corpus import CASES  # noqa: E402 - as above


@dataclass(frozen=True)
class Played:
    """How one case ended."""

    case: Case
    accepted: bool
    problem: str
    said: str


def main() -> int:
    """Play every case, two at a time."""
    played: list[Played] = []
    with ProcessPoolExecutor(2) as pool:
        for one in pool.map(_play, range(len(CASES))):
            played.append(one)
            print(_row(one), flush=True)
    counts = _counts(played)
    RESULT.write_text(_text(counts, played), encoding="utf-8")
    print()
    for name, count in counts.items():
        print(f"{name.replace('_', ' '):<16}{count:>4}")
    return 1 if any(one.problem for one in played) else 0


def _play(number: int) -> Played:
    case = CASES[number]
    with tempfile.TemporaryDirectory(prefix="claims-") as folder:
        home, place = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        place.mkdir()
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        os.environ.clear()
        os.environ.update({**kept, "HOME": str(home), "NO_COLOR": "1"})
        try:
            outcome = case.act(place)
        except Exception as error:
            return Played(case, accepted=False, problem="broken case", said=repr(error))
        return Played(case, outcome.accepted, case.problem(outcome), outcome.said)


def _row(one: Played) -> str:
    row = f"{one.case.row:<7} {'accepted' if one.accepted else 'refused':<9} {one.case.name}"
    return f"{row}\n        {one.problem}: {one.said}" if one.problem else row


def _counts(played: list[Played]) -> dict[str, int]:
    forged = [one for one in played if one.case.forged]
    honest = [one for one in played if not one.case.forged]
    return {
        "forged": len(forged),
        "refused": _of("", forged),
        "honest": len(honest),
        "accepted": _of("", honest),
        "false_accepts": _of("false accept", played),
        "false_rejects": _of("false reject", played),
        "wrong_reasons": _of("wrong reason", played),
        "broken_cases": _of("broken case", played),
    }


def _of(problem: str, played: Iterable[Played]) -> int:
    return sum(one.problem == problem for one in played)


def _text(counts: dict[str, int], played: Iterable[Played]) -> str:
    head = json.dumps(counts, indent=2).removesuffix("\n}")
    return f'{head},\n  "cases": [\n    ' + ",\n    ".join(map(_entry, played)) + "\n  ]\n}\n"


def _entry(one: Played) -> str:
    entry: dict[str, object] = {
        "row": one.case.row,
        "name": one.case.name,
        "outcome": "accepted" if one.accepted else "refused",
    }
    if one.case.words:
        entry["because"] = one.case.words
    if one.problem:
        entry["problem"] = one.problem
    return json.dumps(entry)


if __name__ == "__main__":
    sys.exit(main())
