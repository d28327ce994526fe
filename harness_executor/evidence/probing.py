"""The program of a Python probe: read as text by the project's own interpreter, it imports nothing of ours.

The value of the probe's last line goes to the standard output this process was started with, as JSON.
Whatever else is printed, by whichever layer, goes to standard error: the two cannot be mixed up by accident.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import math
import os
import sys
import traceback
from json.encoder import encode_basestring_ascii

_DEEPEST = 200


def answer(order: str) -> None:
    """Carry out a probe and say its value; an error is shown as any program shows it, with code 1."""
    given = json.loads(order)
    out, write, close, spelled = os.dup(1), os.write, os.close, _spelled
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.argv[:] = [""]
    try:
        value = _value_of(given["code"], given["args"])
        said = memoryview(spelled(value).encode())
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        sys.exit(1)
    while said:
        said = said[write(out, said) :]
    close(out)


def _value_of(code: str, args: list[object]) -> object:
    tree = ast.parse(code, "<probe>")
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        raise SyntaxError("the code of a probe ends in an expression")  # noqa: TRY004 - of the code, not of a value
    kept = ast.Assign([ast.Name("__value__", ast.Store())], last.value)
    tree.body[-1] = ast.fix_missing_locations(ast.copy_location(kept, last))
    compiled = compile(tree, "<probe>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, object] = {"__name__": "__main__", "args": args}
    running = eval(compiled, names)  # noqa: S307 - that is what a probe is
    if compiled.co_flags & inspect.CO_COROUTINE:
        asyncio.run(running)
    value = names["__value__"]
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: object) -> object:
    return await value  # type: ignore[misc]  # it was asked whether it can be


def _spelled(value: object, depth: int = 0) -> str:
    """A value as JSON, by the types it is made of, whatever they say about themselves."""
    if depth > _DEEPEST:
        raise RecursionError("the value of the probe is too deep")
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return encode_basestring_ascii(str.__str__(value))
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)
    if isinstance(value, dict):
        pairs = [(_key(key), _spelled(inner, depth + 1)) for key, inner in dict.items(value)]
        return "{" + ",".join(f"{key}:{inner}" for key, inner in pairs) + "}"
    if isinstance(value, (list, tuple)):
        held = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
        return "[" + ",".join(_spelled(inner, depth + 1) for inner in held) + "]"
    return _shown(value)


def _key(key: object) -> str:
    if isinstance(key, str):
        return encode_basestring_ascii(str.__str__(key))
    is_plain = key is None or isinstance(key, (bool, int, float))
    return encode_basestring_ascii(_spelled(key) if is_plain else repr(key))


def _shown(value: object) -> str:
    """What is not JSON, as Python shows it, and marked as that."""
    name = f"{type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")
    shown = encode_basestring_ascii(str.__str__(repr(value)))
    return f'{{"repr":{shown},"type":{encode_basestring_ascii(name)}}}'
