"""Finds lines in files; started by file name with a bare interpreter, so that it can be stopped.

The argument is a JSON file with the pattern, the files and the number of lines that are wanted. Each
line that is found is printed as a JSON list: file, number, text.
"""

import json
import re
import sys
import warnings

LONGEST = 300
"""Characters of a line that are shown."""
MOST_BYTES = 64_000_000
"""Bytes of a file that are looked at."""
MARKS = (b"\xff\xfe", b"\xfe\xff")
"""How a text begins that has zeros in it."""


def lines_of(path: str) -> list[str]:
    """The lines of a file that is text."""
    with open(path, "rb") as stream:  # noqa: PTH123 - pathlib is not loaded here
        data = stream.read(MOST_BYTES)
    marked = data.startswith(MARKS)
    if not data or (b"\0" in data and not marked):
        return []
    text = data.decode("utf-16", errors="replace") if marked else data.decode("utf-8-sig", errors="replace")
    return text.removesuffix("\n").split("\n")


def find(pattern: "re.Pattern[str]", path: str, room: int) -> int:
    """Print the lines of one file, at most so many; gives how many there were."""
    try:
        lines = lines_of(path)
    except OSError:
        return 0
    found = 0
    for number, line in enumerate(lines, 1):
        bare = line.removesuffix("\r")
        if found < room and pattern.search(bare):
            found += 1
            sys.stdout.write(json.dumps([path, number, bare[:LONGEST]]) + "\n")
    return found


def main(request: str) -> None:
    """Find until enough was found."""
    warnings.simplefilter("ignore")
    with open(request, "rb") as stream:  # noqa: PTH123 - as above
        asked = json.load(stream)
    pattern, room = re.compile(asked["pattern"]), asked["most"]
    for path in asked["files"]:
        room -= find(pattern, path, room)
        if room <= 0:
            return


if __name__ == "__main__":
    main(sys.argv[1])
