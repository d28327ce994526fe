"""Does a text quote another? Case, spaces and punctuation do not count, words do."""

import re
import unicodedata
from collections.abc import Iterable

RUN = 3
"""Words in a row that make a quotation; a shorter text has to stand there as a whole."""

_WORD = re.compile(r"[^\W_]+")


def quotes(text: str, sources: Iterable[str]) -> bool:
    """Does any run of three words of this text stand in one of the sources?"""
    words = _words(text)
    length = min(RUN, len(words))
    runs = [f" {' '.join(words[at : at + length])} " for at in range(len(words) - length + 1)]
    return bool(words) and any(run in known for known in map(_plain, sources) for run in runs)


def _plain(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    return _WORD.findall("".join(map(_apart, unicodedata.normalize("NFKC", text).casefold())))


def _apart(character: str) -> str:
    """A letter of a script that sets no spaces between words counts as a word."""
    return f" {character} " if unicodedata.category(character) == "Lo" else character
