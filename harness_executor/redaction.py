"""Texts without secrets: known values in every usual coding, and tokens known by their shape."""

import base64
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

MARK = "[redacted]"
SHORTEST = 8
"""A known value with fewer characters is no secret worth the name."""

_WRAPPED = 16
"""Codings at least this long are also found when they are broken over lines."""
_LONGEST_BLOCK = 20_000
_START = r"(?<![A-Za-z0-9])"

_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("sk-ant-",), re.compile(_START + r"()sk-ant-[A-Za-z0-9_-]{16,}+")),
    (("sk-",), re.compile(_START + r"()sk-(?=[A-Za-z_-]{0,40}+[0-9])[A-Za-z0-9_-]{20,}+")),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), re.compile(_START + r"()gh[pousr]_[A-Za-z0-9]{30,}+")),
    (("github_pat_",), re.compile(_START + r"()github_pat_[A-Za-z0-9_]{22,}+")),
    (("AKIA", "ASIA"), re.compile(_START + r"()(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])")),
    (("xox",), re.compile(_START + r"()xox[baprs]-[A-Za-z0-9-]{10,}+")),
    (("AIza",), re.compile(_START + r"()AIza[0-9A-Za-z_-]{35}")),
    (
        ("earer", "EARER"),
        re.compile(
            _START + r"([Bb](?:earer|EARER)[ \t]{1,4})(?=[A-Za-z._~+/-]{0,40}+[0-9])"
            r"[A-Za-z0-9._~+/-]{16,}+=*+"
        ),
    ),
)
"""What to look for before a pattern is tried, and the pattern; its group stays."""

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:(?:\\[nr]|\s)*+[A-Za-z0-9+/=]{20,}+)*+")


class Redactor:
    """Takes secrets out of texts, and counts them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        known = {stripped for value in values if len(stripped := value.strip()) >= SHORTEST}
        plain = {form for value in known for form in _plain(value)}
        coded = {form for value in known for form in _coded(value)}
        self.count = 0
        """How many secrets were taken out so far."""
        self._known = sorted({form for form in plain | coded if form not in MARK}, key=_longest_first)
        self._wrapped = sorted((form for form in coded if len(form) >= _WRAPPED), key=_longest_first)

    def clean(self, text: str) -> str:
        """The text, with a mark where a secret was, known or only shaped like one."""
        return self._shapes(self.clean_known(text)) if len(text) >= SHORTEST else text

    def clean_known(self, text: str) -> str:
        """The text without the known secrets; what only looks like one is work, and stays as it is."""
        if len(text) < SHORTEST:
            return text
        for form in self._known:
            if form in text:
                self.count += text.count(form)
                text = text.replace(form, MARK)
        return self._broken(text)

    def clean_data(self, data: Any, *, known_only: bool = False) -> Any:
        """The same JSON data with every text in it clean, names included."""
        return _in_texts(data, self.clean_known if known_only else self.clean)

    def _broken(self, text: str) -> str:
        """Without the codings that are broken over lines, as `base64` prints them."""
        if not self._wrapped or not ("\n" in text or "\\n" in text):
            return text
        joined = "".join(text.replace("\\n", "\n").split())
        for form in self._wrapped:
            if form in joined:
                gap = r"(?:\\n|\s)*+"
                text = self._put(re.compile(gap.join(map(re.escape, form))), MARK, text)
        return text

    def _shapes(self, text: str) -> str:
        if "PRIVATE KEY" in text:
            text = self._blocks(text)
        for hints, shape in _SHAPES:
            if any(hint in text for hint in hints):
                text = self._put(shape, rf"\1{MARK}", text)
        return text

    def _put(self, shape: re.Pattern[str], mark: str, text: str) -> str:
        text, found = shape.subn(mark, text)
        self.count += found
        return text

    def _blocks(self, text: str) -> str:
        """Without private keys, also those that are cut off."""
        ends = [found.end() for found in _END.finditer(text)]
        parts, at = [], 0
        for begin in _BEGIN.finditer(text):
            if begin.start() < at:
                continue
            parts += [text[at : begin.start()], MARK]
            at = _block_end(text, begin.end(), ends)
            self.count += 1
        return "".join([*parts, text[at:]])


def _in_texts(data: Any, clean: Callable[[str], str]) -> Any:
    match data:
        case str():
            return clean(data)
        case dict():
            return {clean(name): _in_texts(value, clean) for name, value in data.items()}
        case list() | tuple():
            return type(data)(_in_texts(value, clean) for value in data)
    return data


def _block_end(text: str, body: int, ends: list[int]) -> int:
    following = bisect_left(ends, body)
    if following < len(ends) and ends[following] - body <= _LONGEST_BLOCK:
        return ends[following]
    found = _BODY.match(text, body)
    return found.end() if found else body


def _longest_first(form: str) -> tuple[int, str]:
    return -len(form), form


def _plain(value: str) -> Iterator[str]:
    yield value
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        yield text[1:-1]
    for coded in (quote(_bytes(value), safe=""), quote(_bytes(value)), quote_plus(_bytes(value))):
        yield coded
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), coded)


def _coded(value: str) -> Iterator[str]:
    raw = _bytes(value)
    yield raw.hex()
    yield raw.hex().upper()
    yield "".join(f"%{byte:02x}" for byte in raw)
    yield "".join(f"%{byte:02X}" for byte in raw)
    for before in range(3):
        # Letters that also depend on the bytes around the secret are left out.
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + raw).decode()[first:last]


def _bytes(value: str) -> bytes:
    return value.encode(errors="surrogatepass")
