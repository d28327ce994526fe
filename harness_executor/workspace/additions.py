"""The lines that a change adds."""

import re
from collections.abc import Iterator

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.export import Desk

_HUNK = re.compile(r"@@ -[0-9,]+ \+([0-9]+)[0-9,]* @@")


@frozen
class Addition:
    """Lines next to each other that are new in a file."""

    path: str
    first: int
    """The number of the first line."""
    text: str


def additions(desk: Desk, old: str, new: str) -> Iterator[Addition]:
    """Everything the new tree has that the old one has not, of files of every kind."""
    words = ("diff-tree", "-r", "-p", "-U0", "--text", "--no-ext-diff", "--no-textconv", "--no-renames")
    shown = desk.git.run(*words, "--no-color", "--no-prefix", old, new).decode(errors="replace")
    path, first, lines = "", 0, list[str]()
    for line in (*shown.split("\n"), "@@"):
        if lines and not line.startswith("+"):
            yield Addition(path, first, "\n".join(lines))
            lines = []
        hunk = _HUNK.match(line)
        if hunk:
            first = int(hunk[1])
        elif line.startswith("diff --git "):
            path, first = "", 0
        elif not first and line.startswith("+++ "):
            path = line[4:].rstrip("\t")
        elif first and line.startswith("+"):
            lines.append(line[1:])
