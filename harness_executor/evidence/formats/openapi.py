"""Skeletons of scenarios from an OpenAPI document: one for each operation, with its examples and schemas."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.evidence.formats.taken import Taken, inside
from harness_executor.kernel.frozen import frozen

_METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
_DEEPEST = 12
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_FORMATS = {"email": "email", "uuid": "uuid", "date": "date", "date-time": "datetime", "uri": "url"}


@frozen
class Document:
    """An OpenAPI document, 3.x or Swagger 2."""

    data: Mapping[str, Any]

    def follow(self, node: Any) -> Mapping[str, Any]:
        """What a node stands for; a reference that leads in a circle, or out of the document, is nothing."""
        for _ in range(_DEEPEST):
            if not isinstance(node, Mapping):
                return {}
            if "$ref" not in node:
                return node
            node = self._at(str(node["$ref"]))
        return {}

    def _at(self, reference: str) -> Any:
        found: Any = self.data
        if not reference.startswith("#/"):
            return {}
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def example(self, schema: Any, deep: int = 0) -> Any:
        """A value that fits a schema: its example, or one drawn at run time."""
        node = self.follow(schema)
        for key in ("example", "default", "const"):
            if key in node:
                return node[key]
        for key in ("examples", "enum"):
            if isinstance(node.get(key), list) and node[key]:
                return node[key][0]
        if deep > _DEEPEST:
            return None
        return self._made(node, deep)

    def _made(self, node: Mapping[str, Any], deep: int) -> Any:
        for key in ("oneOf", "anyOf"):
            if isinstance(node.get(key), list) and node[key]:
                return self.example(node[key][0], deep + 1)
        if "allOf" in node or "properties" in node or kind_of(node) == "object":
            needed = self.required(node)
            pairs = self.properties(node)
            return {
                name: self.example(pairs[name], deep + 1) for name in pairs if name in needed or not needed
            }
        match kind_of(node):
            case "array":
                return [self.example(node.get("items"), deep + 1)]
            case "integer":
                return math.ceil(_least(node, 1))
            case "number":
                return _least(node, 1.5)
            case "boolean":
                return True
            case "null":
                return None
        return "{{ random." + _FORMATS.get(str(node.get("format")), "word") + " }}"

    def properties(self, schema: Any) -> dict[str, Any]:
        """The properties of an object, those of its parts included."""
        node = self.follow(schema)
        parts = (
            [self.follow(one) for one in node.get("allOf", [])] if isinstance(node.get("allOf"), list) else []
        )
        inherited = {name: one for part in parts for name, one in inside(part, "properties").items()}
        return {**inherited, **inside(node, "properties")}

    def required(self, schema: Any) -> list[str]:
        """The properties that must be there."""
        node = self.follow(schema)
        parts = (
            [self.follow(one) for one in node.get("allOf", [])] if isinstance(node.get("allOf"), list) else []
        )
        named = [name for one in (node, *parts) for name in _listed(one, "required") if isinstance(name, str)]
        return list(dict.fromkeys(named))


def _listed(node: Mapping[str, Any], name: str) -> list[Any]:
    found = node.get(name)
    return found if isinstance(found, list) else []


def _least(node: Mapping[str, Any], usual: float) -> float:
    found = node.get("minimum")
    return found if isinstance(found, int | float) and not isinstance(found, bool) else usual


def kind_of(schema: Mapping[str, Any]) -> str:
    """The type of a schema; of several, the first that is not null."""
    said = schema.get("type")
    several = said if isinstance(said, list) else [said]
    return next((str(one) for one in several if one in _TYPES and one != "null"), "")


def read_openapi(data: Any) -> Taken:
    """One scenario for each operation of a document."""
    if not isinstance(data, Mapping) or not isinstance(data.get("paths"), Mapping):
        raise UsageError(
            "this is no OpenAPI document: it has no paths", hint="openapi 3.x and swagger 2.0 are read"
        )
    document, taken = Document(data), Taken()
    for path, methods in data["paths"].items():
        item = document.follow(methods)
        for method in _METHODS:
            if isinstance(item.get(method), Mapping):
                steps = list(_steps(document, str(path), method))
                operation = item[method]
                why = str(
                    operation.get("summary") or operation.get("description") or f"{method.upper()} {path}"
                )
                taken.add(str(operation.get("operationId") or f"{method.upper()} {path}"), why, steps)
    if data.get("security") or inside(data, "components").get("securitySchemes"):
        taken.left.append("security schemes: add a login, see docs/SCENARIOS.md")
    return taken


def _steps(document: Document, path: str, method: str) -> Iterator[dict[str, Any]]:
    """The operation; one about a single thing makes it first, where a POST can."""
    whole = re.fullmatch(r"(.+)/\{([^{}]+)\}", path)
    paths = document.data["paths"]
    making = document.follow(paths.get(whole[1])).get("post") if whole else None
    known: dict[str, str] = {}
    if whole and isinstance(making, Mapping):
        name = re.sub(r"\W", "_", whole[2])
        known[whole[2]] = "{{ " + name + " }}"
        properties = document.properties(_schema(document, making)[1])
        field = whole[2] if whole[2] in properties else "id"
        yield {**_step(document, whole[1], "post", known), "capture": {name: f"$['{field}']"}}
    yield _step(document, path, method, known)


def _step(document: Document, path: str, method: str, known: Mapping[str, str]) -> dict[str, Any]:
    item = document.follow(document.data["paths"][path])
    operation = item[method]
    filled, queries = path, []
    for said in [*_listed(item, "parameters"), *_listed(operation, "parameters")]:
        parameter = document.follow(said)
        value = known.get(str(parameter.get("name"))) or _plain(_given(document, parameter))
        if parameter.get("in") == "path":
            filled = filled.replace("{" + str(parameter.get("name")) + "}", value)
        elif parameter.get("in") == "query" and parameter.get("required"):
            queries.append(f"{parameter.get('name')}={value}")
    filled = re.sub(r"(?<!\{)\{([^{}]+)\}(?!\})", lambda hole: known.get(hole[1], "1"), filled)
    request = {"method": method.upper(), "path": filled + ("?" + "&".join(queries) if queries else "")}
    body = _body(document, operation)
    status, schema = _schema(document, operation)
    return {
        "request": {**request, **({"json": body} if body is not None else {})},
        "expect": {"status": status, "json": list(_checks(document, schema))},
    }


def _given(document: Document, parameter: Mapping[str, Any]) -> Any:
    return (
        parameter["example"]
        if "example" in parameter
        else document.example(parameter.get("schema", parameter))
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower()


def _body(document: Document, operation: Mapping[str, Any]) -> Any:
    for said in _listed(operation, "parameters"):
        parameter = document.follow(said)
        if parameter.get("in") == "body":
            return document.example(parameter.get("schema"))
    media = _media(document.follow(operation.get("requestBody")))
    return None if media is None else _given(document, media) if media else {}


def _media(node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content = node.get("content")
    if not isinstance(content, Mapping):
        return None
    return next((one for kind, one in content.items() if "json" in kind and isinstance(one, Mapping)), None)


def _schema(document: Document, operation: Mapping[str, Any]) -> tuple[int | str, Any]:
    """The first answer that says it worked, and what it holds."""
    answers = operation.get("responses")
    for code, said in (answers if isinstance(answers, Mapping) else {}).items():
        if str(code).upper() == "2XX" or re.fullmatch("2[0-9][0-9]", str(code)):
            answer = document.follow(said)
            media = _media(answer) or answer
            return int(code) if str(code).isdigit() else "2xx", media.get("schema")
    return "2xx", None


def _checks(document: Document, schema: Any) -> Iterator[dict[str, Any]]:
    node = document.follow(schema)
    kind = "object" if document.properties(node) else kind_of(node)
    if kind:
        yield {"path": "$", "op": "type", "value": kind}
    properties = document.properties(node)
    for name in document.required(node):
        inner = kind_of(document.follow(properties.get(name)))
        nullable = document.follow(properties.get(name)).get("nullable")
        path = f"$['{name}']" if "'" not in name else f'$["{name}"]'
        yield (
            {"path": path, "op": "type", "value": inner}
            if inner and not nullable
            else {"path": path, "op": "exists"}
        )
