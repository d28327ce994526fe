"""The account as a table for the terminal: as wide as fits, and as narrow as it has to be."""

import textwrap
import unicodedata

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering.telling import BEFORE_AFTER, headline, noticed, one_line
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Finding, Meaning

HEAD = ("scenario", "before", "after", "meaning", "broken answers noticed")
_LEAST = 12
"""A name column narrower than this helps nobody."""
_COLOURS = {
    "pass": "32",
    "proves": "1;32",
    "holds": "32",
    "fail": "31",
    "regresses": "1;31",
    "missing": "1;31",
    "noisy": "33",
}


@frozen
class Screen:
    """Where a table is shown."""

    width: int = 0
    """How many columns there are; 0 when nobody counts."""
    colour: bool = False


def render(account: Account, screen: Screen | None = None) -> str:
    """The scenarios and the verdict."""
    reasons = [f"  - {one_line(reason)}" for reason in account.verdict.reasons]
    said = f"assurance: {account.evidence.assurance.value}"
    table = scenario_table(account.evidence.findings, screen)
    return "\n".join([table, said, "", headline(account), *reasons])


def scenario_table(findings: tuple[Finding, ...], screen: Screen | None = None) -> str:
    """Every scenario with before and after; it is also a table in Markdown."""
    screen = screen or Screen()
    rows = [_row(finding) for finding in findings]
    widths = [max(5, *(columns(row[at]) for row in (HEAD, *rows))) for at in range(len(HEAD))]
    widths[3] = max(widths[3], *(len(meaning) for meaning in Meaning))
    if screen.width:
        others = sum(widths[1:]) + 3 * len(widths) + 1
        widths[0] = max(_LEAST, min(widths[0], screen.width - others))
    lines = [_line(HEAD, widths, Screen()), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    return "\n".join([*lines, *(_line(row, widths, screen) for row in rows)])


def columns(text: str) -> int:
    """How many columns a text takes: wide letters take two, and marks none."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _row(finding: Finding) -> tuple[str, ...]:
    old, new = BEFORE_AFTER[finding.meaning]
    name = one_line(finding.name).replace("|", "\\|")
    return name, old, new, finding.meaning.value, noticed(finding)


def _line(row: tuple[str, ...], widths: list[int], screen: Screen) -> str:
    names = _wrapped(row[0], widths[0])
    first = [_cell(text, width, screen) for text, width in zip((names[0], *row[1:]), widths, strict=True)]
    rest = [[_cell(name, widths[0], Screen()), *(" " * width for width in widths[1:])] for name in names[1:]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (first, *rest))


def _cell(text: str, width: int, screen: Screen) -> str:
    padding = " " * (width - columns(text))
    code = _COLOURS.get(text) if screen.colour else None
    return f"\x1b[{code}m{text}\x1b[0m{padding}" if code else f"{text}{padding}"


def _wrapped(name: str, width: int) -> list[str]:
    """The name in lines of at most this many columns, broken between words where that can be."""
    lines: list[str] = []
    for part in textwrap.wrap(name, width if name.isascii() else max(1, width // 2)) or [""]:
        together = f"{lines[-1]} {part}" if lines else part
        if lines and columns(together) <= width:
            lines[-1] = together
        else:
            lines.append(part)
    return lines
