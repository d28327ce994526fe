"""Characters without a shape: a person does not see them, and a model reads them."""

import json
import unicodedata

_SELECTORS = ("VARIATION SELECTOR", "MONGOLIAN FREE VARIATION SELECTOR")
_BOM = "\ufeff"


def is_invisible(char: str) -> bool:
    """Is it zero-width, bidirectional, a tag or a variation selector?"""
    return unicodedata.category(char) == "Cf" or unicodedata.name(char, "").startswith(_SELECTORS)


def without_invisible(text: str) -> str:
    """Only what has a shape."""
    return text if text.isascii() else "".join(char for char in text if not is_invisible(char))


def escaped(text: str) -> str:
    """The text with an escape in the place of each, as JSON has it, so that JSON stays the same JSON."""
    if text.isascii():
        return text
    return "".join(json.dumps(char)[1:-1] if is_invisible(char) else char for char in text)


def remark(where: str, text: str) -> str:
    """A sentence about the invisible characters of a text, or nothing; a mark of the encoding is none."""
    body = text.removeprefix(_BOM)
    found = [char for char in body if unicodedata.category(char) == "Cf"] if not body.isascii() else []
    kinds = sorted({f"U+{ord(char):04X}" for char in found})
    shown = ", ".join(kinds[:5]) + (", …" if len(kinds) > 5 else "")
    return f"{where} has {len(found)} invisible characters ({shown}); a model reads them" if found else ""
