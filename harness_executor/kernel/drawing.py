"""Kinds of values that can be drawn, each from 32 bytes of noise."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

_ONSETS = (
    *("b", "br", "c", "ch", "cl", "d", "f", "fl", "g", "gr", "h", "j", "l", "m", "n", "p"),
    *("pl", "qu", "r", "s", "sh", "sp", "st", "t", "th", "tr", "v", "w", "y", "z", "k", ""),
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ee", "ie", "oa", "oo", "ou")
_CODAS = ("", "", "", "", "n", "r", "s", "t", "l", "m", "ck", "nd", "st", "ng", "p", "d")
_STRANGE = ("ä", "ß", "é", "ñ", "ø", "Ж", "π", "ن", "한", "語", "🙂", "🇫🇷", "'", "&", "<", "%", "\\")
_FIRST_DAY = date(1990, 1, 1).toordinal()
_DAYS = 14_000


def _word(noise: bytes) -> str:
    """A word as people make them up, of two or three syllables; no pattern tells it from real ones."""
    parts = []
    for at in range(1, 3 * (2 + noise[0] % 2), 3):
        parts.append(_ONSETS[noise[at] % len(_ONSETS)] + _VOWELS[noise[at + 1] % len(_VOWELS)])
        parts.append(_CODAS[noise[at + 2] % len(_CODAS)])
    word = "".join(parts)
    return word if len(word) > 4 else f"{word}son"


def _words(noise: bytes, count: int) -> list[str]:
    return [_word(hashlib.sha256(bytes([at]) + noise).digest()) for at in range(count)]


def _number(noise: bytes, lowest: int, how_many: int) -> int:
    return int.from_bytes(noise[:8], "big") % how_many + lowest


def _email(noise: bytes) -> str:
    return f"{_word(noise)}@example.{('com', 'org', 'net')[noise[-1] % 3]}"


def _uuid(noise: bytes) -> str:
    text = noise.hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[noise[8] % 4]}{text[17:20]}-{text[20:32]}"


def _date(noise: bytes) -> str:
    return date.fromordinal(_number(noise, _FIRST_DAY, _DAYS)).isoformat()


def _datetime(noise: bytes) -> str:
    hour, minute, second = noise[8] % 24, noise[9] % 60, noise[10] % 60
    return f"{_date(noise)}T{hour:02}:{minute:02}:{second:02}Z"


def _text(noise: bytes) -> str:
    before, after = _words(noise, 2)
    return f"{before} {''.join(_STRANGE[byte % len(_STRANGE)] for byte in noise[8:14])} {after}"


KINDS: Mapping[str, Callable[[bytes], Any]] = {
    "word": _word,
    "int": lambda noise: int.from_bytes(noise[:4], "big") % 900_000 + 100_000,
    "email": _email,
    "uuid": _uuid,
    "name": lambda noise: " ".join(_words(noise, 2)).title(),
    "sentence": lambda noise: " ".join(_words(noise, 6)).capitalize() + ".",
    "slug": lambda noise: "-".join(_words(noise, 3)),
    "text": _text,
    "float": lambda noise: (_number(noise, 0, 10_000) * 100 + noise[9] % 99 + 1) / 100,
    "bigint": lambda noise: _number(noise, 2**33, 2**52),
    "bool": lambda noise: bool(noise[0] & 1),
    "date": _date,
    "datetime": _datetime,
    "phone": lambda noise: f"+1555{_number(noise, 1_000_000, 9_000_000)}",
    "hex": lambda noise: noise.hex()[:32],
    "url": lambda noise: f"https://{_word(noise)}.example.com/{_word(noise[8:])}",
}
"""Each kind by its name."""
