"""Scenarios from a HAR 1.2 recording: what was asked, and what was answered then."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.evidence.formats.taken import DROPPED, SECRET, Taken, body_of, entries, inside, path_of
from harness_executor.evidence.streams import meant

_MOST_CHECKS = 30
_SKIPPED = ("image/", "font/", "text/css", "javascript")


def read_har(data: Any) -> Taken:
    """One scenario of every exchange with the host that was asked first; the answers are what is expected."""
    log = data.get("log") if isinstance(data, Mapping) else None
    entries = log.get("entries") if isinstance(log, Mapping) else None
    if not isinstance(entries, list):
        raise UsageError("this is no HAR file: it has no log.entries", hint="browsers save HAR 1.2")
    taken, steps, host = Taken(), [], ""
    for entry in entries:
        request, response = _parts(entry)
        url = str(request.get("url", ""))
        host = host or _host(url)
        kind = str(inside(response, "content").get("mimeType", ""))
        if _host(url) != host or any(word in kind for word in _SKIPPED):
            taken.left.append(f"{request.get('method', 'GET')} {url[:200]}")
            continue
        steps.append({"request": _request(request, taken), "expect": _expect(response)})
    if steps:
        taken.add("recorded", "as it was recorded", steps)
    return taken


def _parts(entry: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    request = entry.get("request") if isinstance(entry, Mapping) else None
    response = entry.get("response") if isinstance(entry, Mapping) else None
    if not isinstance(request, Mapping) or not isinstance(response, Mapping):
        raise UsageError("an entry has no request or no response", hint="browsers save HAR 1.2")
    return request, response


def _host(url: str) -> str:
    return url.split("/", 3)[2] if url.count("/") >= 2 else ""


def _request(request: Mapping[str, Any], taken: Taken) -> dict[str, Any]:
    path = path_of(str(request.get("url", "")))
    headers: dict[str, str] = {}
    for header in entries(request.get("headers")):
        name, value = str(header.get("name", "")).lower(), str(header.get("value", ""))
        if SECRET.search(name):
            taken.left.append(f"{path[:200]}: header {name}: its value is not taken over; use a login")
        elif name not in DROPPED and not name.startswith((":", "sec-", "if-")):
            headers[name] = value
    posted = inside(request, "postData")
    body = body_of(str(posted["text"]), str(posted.get("mimeType", ""))) if posted.get("text") else {}
    return {"method": str(request.get("method", "GET")), "path": path, "headers": headers, **body}


def _expect(response: Mapping[str, Any]) -> dict[str, Any]:
    content, status = inside(response, "content"), response.get("status") or 200
    if not re.fullmatch("[1-5][0-9][0-9]", str(status)):
        raise UsageError(f"an answer has the status {status!r}", hint="a number from 100 to 599")
    expect: dict[str, Any] = {"status": int(str(status))}
    value = meant(str(content.get("text") or "")) if content.get("encoding") != "base64" else ""
    if isinstance(value, dict | list):
        expect["json"] = [check for check, _ in zip(_checks(value, "$"), range(_MOST_CHECKS), strict=False)]
    return expect


def _checks(value: Any, path: str) -> Iterator[dict[str, Any]]:
    """What was seen; of values that look like secrets or moments only that they are there."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if "'" not in key:
                yield from _checks(inner, f"$['{key}']" if path == "$" else f"{path}['{key}']")
    elif isinstance(value, list):
        yield {"path": path, "op": "length", "value": len(value)}
        for at, inner in enumerate(value[:3]):
            yield from _checks(inner, f"{path}[{at}]")
    elif SECRET.search(path) or (isinstance(value, str) and len(value) > 200):
        yield {"path": path, "op": "exists"}
    else:
        yield {"path": path, "value": value}
