"""The program that asks an SQLite file of a project; started by file name, it imports nothing of the package.

Standard input has the statement; the argument is the file. The rows are written to standard output, as JSON.
"""

import json
import sqlite3
import sys
from typing import Any


def main(place: str) -> int:
    """Carry out one or more statements; the rows of a single one are the answer."""
    text = sys.stdin.read()
    try:
        with sqlite3.connect(place, timeout=10) as base:
            rows = _rows(base, text)
    except sqlite3.Error as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    sys.stdout.write(json.dumps(rows))
    return 0


def _rows(base: sqlite3.Connection, text: str) -> list[dict[str, Any]]:
    parts = [part for part in _statements(text) if part.strip().strip(";").strip()]
    found: list[dict[str, Any]] = []
    for part in parts:
        cursor = base.execute(part)
        names = [column[0] for column in cursor.description or ()]
        found = [dict(zip(names, map(_plain, row), strict=True)) for row in cursor.fetchall()]
    return found


def _statements(text: str) -> list[str]:
    """A text cut where SQLite itself sees the end of a statement."""
    parts, begun = [], ""
    for piece in text.split(";"):
        begun += piece
        if sqlite3.complete_statement(f"{begun};"):
            parts.append(begun)
            begun = ""
        else:
            begun += ";"
    return [*parts, begun.rstrip(";")]


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
