"""Schemas with the words that the code has for each field, so that a model reads what a person reads."""

import ast
import inspect
import textwrap
from dataclasses import is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue


class Worded(GenerateJsonSchema):
    """Describes each field by the text below it.

    Pydantic could do so while it makes a reader, but then everybody who reads would wait for the source.
    """

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        """The schema of one type."""
        made = super().dataclass_schema(schema)
        texts = _texts(schema["cls"])
        for name, field in made.get("properties", {}).items():
            if name in texts:
                field.setdefault("description", texts[name])
        return made


@cache
def _texts(kind: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        found |= _own_texts(one) if is_dataclass(one) else {}
    return found


def _own_texts(kind: type) -> dict[str, str]:
    """The text that stands below each field."""
    tree = _parsed(textwrap.dedent(inspect.getsource(kind)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    return {
        above.target.id: inspect.cleandoc(below.value.value)
        for above, below in pairwise(body)
        if isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    }


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SystemError:  # Python 3.11 now and then loses count
        return ast.parse(source)
