"""The pages of the documentation, as tests read them."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
STATS = """    def stats(self):
        done = sum(item["done"] for item in self.items.values())
        return {"total": len(self.items), "open": len(self.items) - done, "done": done}

    def finish(self"""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: str
    language: str
    text: str


@cache
def text(name: str) -> str:
    """A page."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(*names: str) -> list[Block]:
    """Every fenced block of these pages."""
    found = [
        (name, match)
        for name in names
        for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text(name), re.M | re.S)
    ]
    return [Block(name, match[1], match[2]) for name, match in found]


def in_code(name: str) -> set[str]:
    """Every word a page sets in backticks, outside fenced blocks."""
    prose = re.sub(r"^```.*?^```$", "", text(name), flags=re.M | re.S)
    return {word for span in re.findall(r"`([^`\n]+)`", prose) for word in re.findall(r"[\w.$-]+", span)}


def table(name: str, first: str) -> list[list[str]]:
    """The rows of the table of a page whose head begins with this cell."""
    head = next(line for line in text(name).splitlines() if line.startswith("|") and _cells(line)[0] == first)
    below = text(name).split(f"{head}\n", 1)[1].splitlines()[1:]
    end = next((at for at, line in enumerate(below) if not line.startswith("|")), len(below))
    return [_cells(line) for line in below[:end]]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def add_stats(repo: Path) -> None:
    """Make the change that the documentation's example proves."""
    code = (repo / "app.py").read_text()
    route = '        if self.path == "/todos":\n            return self.answer(200, list('
    stats = (
        '        if self.path == "/todos/stats":\n            return self.answer(200, self.todos.stats())\n'
    )
    code = code.replace("    def finish(self", STATS).replace(route, stats + route)
    (repo / "app.py").write_text(code)
