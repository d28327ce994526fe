"""Server-sent events, taken apart as they come."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from harness_executor.kernel.canonical import parse


def events(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Each event of a stream, once it is whole: its name, its id, and its data, as JSON where it is JSON."""
    fields: dict[str, list[str]] = {}
    last_id = ""
    for line in _lines(chunks):
        if line:
            name, _, value = line.partition(":")
            fields.setdefault(name, []).append(value.removeprefix(" "))
            continue
        last_id = fields.get("id", [last_id])[-1]
        if "data" in fields:
            name = fields.get("event", ["message"])[-1] or "message"
            yield {"event": name, "id": last_id, "data": meant("\n".join(fields["data"]))}
        fields = {}


def meant(text: str) -> Any:
    """A text as the JSON it is, or as it stands."""
    with suppress(ValueError):
        return parse(text)
    return text


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines that end in any of the three ways; a return and a line feed are one end, also in two chunks."""
    rest, returned = b"", False
    for chunk in filter(None, chunks):
        more = chunk[1:] if returned and chunk.startswith(b"\n") else chunk
        returned = chunk.endswith(b"\r")
        *ended, rest = (rest + more).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        yield from (line.decode(errors="replace").removeprefix("\ufeff") for line in ended)
