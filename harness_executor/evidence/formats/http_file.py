"""Scenarios from `.http` files, as REST Client, JetBrains and httpyac have them."""

import re
from collections.abc import Iterator
from typing import Any

from harness_executor.evidence.formats.taken import DROPPED, Taken, body_of, holes, name_of, path_of
from harness_executor.evidence.streams import meant

_METHOD = r"GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_LINE = re.compile(rf"(?:({_METHOD})\s+)?(\S.*?)(?:\s+HTTP/[\d.]+)?$")
_VARIABLE = re.compile(r"@([\w-]+)\s*=\s*(.*)$")
_STATUS = re.compile(r"\?\?\s*status\s*==\s*(\d{3})$")
_WORKED = re.compile(r"\?\?\s*status\s*<\s*400$")
_BODY = re.compile(r"\?\?\s*body\s+(\S+)\s*==\s*(.+)$")
_HEADER = re.compile(r"([\w-]+):\s*(.*)$")


def read_http(text: str) -> Taken:
    """One scenario of all requests of a file, in their order."""
    taken, steps, let = Taken(), [], dict[str, str]()
    for block in re.split(r"^###", "\n" + text, flags=re.MULTILINE):
        title, _, rest = block.partition("\n")
        lines = [line.rstrip() for line in rest.splitlines()]
        for line in lines:
            if found := _VARIABLE.match(line):
                let[name_of(found[1])] = holes(found[2].strip())
        said = [line for line in lines if not _VARIABLE.match(line)]
        step = _step(said, title.strip(), taken)
        if step:
            steps.append(step)
    used = {name: value for name, value in let.items() if "{{ " + name + " }}" in str(steps)}
    if steps:
        taken.add("requests", "as the file has them", steps, let=used)
    return taken


def _step(lines: list[str], title: str, taken: Taken) -> dict[str, Any] | None:
    kept = list(_without_remarks(lines, title, taken))
    while kept and not kept[0]:
        kept.pop(0)
    found = _LINE.match(kept[0]) if kept else None
    if not found or not re.match(rf"(?:{_METHOD})\b|https?://|/|\{{\{{", kept[0]):
        return None
    expect, rest = _expect(kept[1:], title, taken)
    at = rest.index("") if "" in rest else len(rest)
    pairs = [header.groups() for line in rest[:at] if (header := _HEADER.match(line))]
    headers = {name: value for name, value in pairs if name.lower() not in DROPPED}
    body = "\n".join(rest[at + 1 :]).strip()
    kind = next((value for name, value in pairs if name.lower() == "content-type"), "")
    request = {"method": found[1] or "GET", "path": path_of(found[2]), "headers": headers}
    if body.startswith("<"):
        taken.left.append(f"{title or found[2]}: {body.splitlines()[0][:200]}")
        body = ""
    return {
        "description": title,
        "request": holes({**request, **(body_of(body, kind) if body else {})}),
        "expect": expect,
    }


def _without_remarks(lines: list[str], title: str, taken: Taken) -> Iterator[str]:
    """The lines of a request; scripts are listed, never run."""
    closing = ""
    for line in lines:
        if closing:
            closing = "" if line.endswith(closing) else closing
        elif (opening := re.match(r"(?:>|<)\s*\{%|\{\{\S*$", line)) is not None:
            closing = "%}" if "{%" in opening[0] else "}}"
            closing = "" if line.endswith(closing) else closing
            taken.left.append(f"{title or 'a request'}: a script")
        elif line.startswith(">"):
            taken.left.append(f"{title or 'a request'}: {line[:200]}")
        elif not line.startswith(("#", "//")):
            yield line


def _expect(lines: list[str], title: str, taken: Taken) -> tuple[dict[str, Any], list[str]]:
    expect: dict[str, Any] = {}
    rest: list[str] = []
    for line in lines:
        if not line.startswith("??"):
            rest.append(line)
        elif _WORKED.match(line):
            continue  # as it is without a word
        elif found := _STATUS.match(line):
            expect["status"] = int(found[1])
        elif found := _BODY.match(line):
            path = "$" + "".join(
                f"[{part}]" if part.isdigit() else f".{part}" for part in found[1].split(".")
            )
            expect.setdefault("json", []).append({"path": path, "value": holes(meant(found[2].strip()))})
        else:
            taken.left.append(f"{title or 'a request'}: {line[:200]}")
    return expect, rest
