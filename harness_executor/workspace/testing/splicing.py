"""A manifest of the change with those parts of base's that say how code is run or checked."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_HEADER = re.compile(r"\s*\[\[?\s*(?P<table>[\w.\"'-]+)\s*\]\]?\s*(?:#.*)?$")
_ELSE = re.compile(r"[|;&]|\bexit\b")
"""What lets a script end well whatever happened."""
_STRICT = re.compile(r"strict|no(?!Emit$)|alwaysStrict|checkJs|allowUn|exactOptional|useUnknown|skip")
"""Options of a compiler that say what it complains about."""
_TOKEN = re.compile(r"(\"(?:\\.|[^\"\\])*\")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])", re.DOTALL)

Data = dict[str, Any]


def splice_json(before: str, after: str, keys: Sequence[str]) -> str:
    """Keys of an object as base has them; the text itself where they are the same."""
    old, new = _object(before), _object(after)
    held = _picked(old, keys)
    if isinstance(held.get("scripts"), dict) and isinstance(new.get("scripts"), dict):
        held["scripts"] = _scripts(held["scripts"], new["scripts"])
    mixed = {**{key: new[key] for key in new if key not in keys}, **held}
    return after if mixed == new else _written(mixed)


def _scripts(old: Data, new: Data) -> Data:
    """The scripts of base, with what the change builds besides."""
    more = {
        name: text for name, text in new.items() if "build" in name and _does_more(str(text), old.get(name))
    }
    return {**old, **more}


def _does_more(text: str, before: object) -> bool:
    """Does a script do all that it did, and more, and nothing in place of it?"""
    steps, wanted = (set(map(str.strip, script.split("&&"))) for script in (text, str(before or text)))
    return wanted <= steps and not _ELSE.search(text.replace("&&", " "))


def splice_toml(before: str, after: str, tables: Sequence[str]) -> str:
    """Tables of `tool` as base has them; all of base's file where they cannot be told from the rest."""
    old, (new_rest, new) = _parted(before)[1], _parted(after)
    if _picked(old, tables) == _picked(new, tables):
        return after
    kept = [line for line, is_held in _lines(after, tables) if not is_held]
    spliced = "".join((*kept, *(line for line, is_held in _lines(before, tables) if is_held)))
    wanted = {name: new[name] for name in new if name not in tables} | _picked(old, tables)
    try:
        return spliced if _parted(spliced) == (new_rest, wanted) else before
    except ValueError:
        return before


def splice_tsconfig(before: str, after: str) -> str:
    """As strict as in base and over no fewer files; what the code is made for is the change's."""
    old, new = (_object(_TOKEN.sub(lambda found: found[1] or "", text)) for text in (before, after))
    options = {key: value for key, value in _options(new).items() if not _STRICT.match(key)}
    options |= {key: value for key, value in _options(old).items() if _STRICT.match(key)}
    kept = {key: new[key] for key in new if key not in ("extends", "include", "exclude", "files")}
    mixed = {**kept, "compilerOptions": options, **_picked(old, ("extends", "exclude", "files"))}
    if "extends" not in old and not str(new.get("extends", ".")).startswith("."):
        mixed["extends"] = new["extends"]
    if "include" in old:
        mixed["include"] = [
            *old["include"],
            *(one for one in new.get("include", ()) if one not in old["include"]),
        ]
    return after if mixed == {**new, "compilerOptions": _options(new)} else _written(mixed)


def _options(data: Data) -> Data:
    found = data.get("compilerOptions")
    return found if isinstance(found, dict) else {}


def _object(text: str) -> Data:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise TypeError("a manifest is an object")
    return data


def _written(data: Data) -> str:
    return json.dumps(data, indent=2) + "\n"


def _picked(data: Mapping[str, Any], keys: Sequence[str]) -> Data:
    return {key: data[key] for key in keys if key in data}


def _parted(text: str) -> tuple[Data, Data]:
    """A manifest without its tools, and these."""
    data = tomllib.loads(text)
    tools = data.pop("tool", {})
    return data, tools if isinstance(tools, dict) else {}


def _lines(text: str, tables: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to one of the tables."""
    is_held = False
    for line in f"{text.rstrip()}\n".splitlines(keepends=True):
        if header := _HEADER.match(line):
            words = header["table"].replace('"', "").replace("'", "").split(".")
            is_held = words[0] == "tool" and len(words) > 1 and words[1] in tables
        yield line, is_held
