"""Scenarios from a Postman 2.1 collection."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.evidence.formats.taken import (
    DROPPED,
    Taken,
    body_of,
    entries,
    holes,
    inside,
    name_of,
    path_of,
)
from harness_executor.evidence.streams import meant

_DEEPEST = 20
_BODY = r"(?:pm\.response\.json\(\)|jsonData|json|data|body|response|res|responseJson|responseBody)"
_PLACE = rf"{_BODY}((?:\.\w+|\[\d+\]|\[['\"][^'\"]+['\"]\])*)"
_STATUS = re.compile(r"pm\.response\.to\.have\.status\((\d{3})\)")
_CODE = re.compile(r"pm\.expect\(pm\.response\.code\)\.to\.(?:be\.)?(?:eql|equal|oneOf)\((.+?)\)")
_EQUALS = re.compile(rf"pm\.expect\({_PLACE}\)\.to\.(?:deep\.)?(?:eql|equal|equals|be)\((.+)\)\s*;?")
_SET = re.compile(
    rf"pm\.(?:environment|collectionVariables|globals|variables)\.set\(['\"]([\w-]+)['\"],\s*{_PLACE}\)"
)
_PLUMBING = re.compile(
    r"^(?:\}\)?;?|\)?;|//.*|pm\.test\(.*[{]|(?:const|let|var)\s+\w+\s*=\s*pm\.response\.json\(\);?)?$"
)


def read_postman(data: Any) -> Taken:
    """One scenario for each folder of a collection, and one for the requests that stand in none."""
    if not isinstance(data, Mapping) or not isinstance(data.get("item"), list):
        raise UsageError("this is no Postman collection: it has no item", hint="export it as Collection v2.1")
    taken = Taken()
    name = str(inside(data, "info").get("name") or "collection")
    given = {
        name_of(str(one["key"])): holes(str(one.get("value", "")))
        for one in entries(data.get("variable"))
        if one.get("key")
    }
    _folder(data, name, {"auth": data.get("auth"), "let": given}, taken)
    return taken


def _folder(
    folder: Mapping[str, Any], name: str, known: Mapping[str, Any], taken: Taken, deep: int = 0
) -> None:
    if deep > _DEEPEST:
        raise UsageError(f"folders stand more than {_DEEPEST} deep", hint="divide the collection")
    items = entries(folder["item"])
    steps = [_step(item, known, taken) for item in items if "request" in item]
    if steps:
        used = {key: value for key, value in known["let"].items() if "{{ " + key + " }}" in str(steps)}
        taken.add(name, _words(folder.get("description")) or name, steps, let=used)
    for item in items:
        if isinstance(item.get("item"), list):
            inner = {**known, "auth": item.get("auth") or known["auth"]}
            _folder(item, str(item.get("name") or "folder"), inner, taken, deep + 1)


def _words(description: Any) -> str:
    said = description.get("content") if isinstance(description, Mapping) else description
    return str(said or "").strip()


def _step(item: Mapping[str, Any], known: Mapping[str, Any], taken: Taken) -> dict[str, Any]:
    said = item["request"] if isinstance(item["request"], Mapping) else {"url": item["request"]}
    name = str(item.get("name") or "request")
    url = said.get("url") or ""
    address = str(url.get("raw") or "") if isinstance(url, Mapping) else str(url)
    for variable in entries(url.get("variable")) if isinstance(url, Mapping) else []:
        value = str(variable.get("value") or "").replace("\\", r"\\")
        address = re.sub(rf":{re.escape(str(variable.get('key')))}\b", value, address)
    headers = {
        str(one.get("key")): str(one.get("value", ""))
        for one in entries(said.get("header"))
        if not one.get("disabled") and str(one.get("key")).lower() not in DROPPED
    }
    headers |= _auth(said.get("auth") or known["auth"], name, taken)
    request = {"method": str(said.get("method") or "GET"), "path": path_of(address), "headers": headers}
    request |= _body(inside(said, "body"), name, taken)
    step: dict[str, Any] = {"description": name, "request": holes(request), "expect": {}, "capture": {}}
    for line in _script(item, name, taken):
        _understand(line, step, name, taken)
    return step


def _auth(auth: Any, name: str, taken: Taken) -> dict[str, str]:
    kind = str(auth.get("type") or "noauth") if isinstance(auth, Mapping) else "noauth"
    if kind == "noauth":
        return {}
    pairs = {str(one["key"]): str(one.get("value", "")) for one in entries(auth.get(kind)) if "key" in one}
    match kind:
        case "bearer":
            return {"Authorization": f"Bearer {pairs.get('token', '')}"}
        case "basic" if "{{" not in str(pairs):
            both = f"{pairs.get('username', '')}:{pairs.get('password', '')}"
            return {"Authorization": "Basic " + base64.b64encode(both.encode()).decode()}
        case "apikey" if pairs.get("in", "header") == "header":
            return {pairs.get("key", "X-API-Key"): pairs.get("value", "")}
    taken.left.append(f"{name}: auth of type {kind}")
    return {}


def _body(body: Mapping[str, Any], name: str, taken: Taken) -> dict[str, Any]:
    mode = body.get("mode")
    fields = [one for one in entries(body.get(str(mode))) if not one.get("disabled")]
    match mode:
        case "raw":
            return body_of(str(body.get("raw") or "")) if body.get("raw") else {}
        case "urlencoded":
            return {"form": {str(one.get("key")): str(one.get("value", "")) for one in fields}}
        case "formdata":
            for one in fields:
                if one.get("type") == "file":
                    taken.left.append(f"{name}: the file {one.get('src')} is not read; write its text")
            texts = {
                str(one.get("key")): str(one.get("value", "")) for one in fields if one.get("type") != "file"
            }
            files = {
                str(one.get("key")): {"name": "file", "text": ""}
                for one in fields
                if one.get("type") == "file"
            }
            return {"form": texts, "files": files}
        case None:
            return {}
    taken.left.append(f"{name}: a body of mode {mode}")
    return {}


def _script(item: Mapping[str, Any], name: str, taken: Taken) -> Iterator[str]:
    for event in entries(item.get("event")):
        said = inside(event, "script").get("exec") or []
        lines = said if isinstance(said, list) else str(said).splitlines()
        if event.get("listen") == "test":
            yield from (str(line).strip() for line in lines)
        elif any(str(line).strip() for line in lines):
            taken.left.append(f"{name}: the script before the request")


def _understand(line: str, step: dict[str, Any], name: str, taken: Taken) -> None:
    """What a line of a test script expects; one that is not understood is listed, never run."""
    if found := _STATUS.search(line):
        step["expect"]["status"] = int(found[1])
    elif found := _CODE.search(line):
        step["expect"]["status"] = meant(found[1])
    elif found := _SET.search(line):
        step["capture"][name_of(found[1])] = f"${found[2]}"
    elif (found := _EQUALS.search(line)) and (value := _literal(found[2])) is not None:
        step["expect"].setdefault("json", []).append({"path": f"${found[1]}", "value": value})
    elif not _PLUMBING.match(line):
        taken.left.append(f"{name}: {line[:200]}")


def _literal(text: str) -> Any:
    quoted = re.fullmatch(r"'([^'\"\\]*)'", text.strip())
    value = quoted[1] if quoted else meant(text.strip())
    is_code = not quoted and isinstance(value, str) and not text.strip().startswith('"')
    return None if is_code else holes(value)
