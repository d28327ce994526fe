"""Texts without secrets: known values in every usual coding, and tokens known by their shape."""

import base64
import html
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

MARK = "[redacted]"
SHORTEST = 8
"""A known value with fewer characters is no secret worth the name."""

_WRAPPED = 16
"""Codings at least this long are also found when they are broken over lines."""
_REMEMBERED, _MOST_REMEMBERED = 200, 10_000
"""How long the texts are, and how many, that are not looked through again once nothing was found in them."""
_PIECE = 12
"""A known value that was cut off is found while this much of it, and half of it, is left."""
_LONGEST_BLOCK = 20_000
_OURS = re.compile(
    "base|build|change|fail|false|get|https?|json|lint|new|none|null|old|pass|post|put|ready|server|setup|tests?|true"
)
"""Words that this program uses itself: a password that is one of them goes only where it stands as one."""
_SAID = re.compile("actual|body|detail|error|expected|files|headers|output|reason|stderr|stdin")
"""Names under which data holds what programs said."""


class Shape(NamedTuple):
    """How a secret that nobody told us of is known."""

    what: str
    hints: tuple[str, ...]
    """One of these is in every text that has such a secret."""
    secret: str
    kept: str = ""
    """What stands before the secret and stays."""
    start: str = r"(?<![A-Za-z0-9])"

    @property
    def pattern(self) -> re.Pattern[str]:
        """What to look for; never longer at one place than at the text once."""
        return _compiled(rf"(?:{self.start}|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{{2}}))({self.kept}){self.secret}")


_END_OF_WORD = "(?![0-9A-Za-z])"
_URLSAFE = "[A-Za-z0-9_-]"
_GITLAB = ("pat", "dt", "ft", "soat", "rt", "cbt", "imt", "ptt", "agent", "oas")

TOKENS: tuple[Shape, ...] = (
    Shape("an Anthropic key", ("sk-ant-",), rf"sk-ant-{_URLSAFE}{{16,}}+"),
    Shape("an API key", ("sk-",), rf"sk-(?=[A-Za-z_-]{{0,40}}+[0-9]){_URLSAFE}{{20,}}+"),
    Shape("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "gh[pousr]_[A-Za-z0-9_]{30,}+"),
    Shape("a GitHub token", ("github_pat_",), "github_pat_[A-Za-z0-9_]{22,}+"),
    Shape(
        "a GitLab token",
        tuple(f"gl{kind}-" for kind in _GITLAB),
        rf"gl(?:{'|'.join(_GITLAB)})-{_URLSAFE}{{20,}}+",
    ),
    Shape("a GitLab token", ("GR1348941",), rf"GR1348941{_URLSAFE}{{20,}}+"),
    Shape(
        "an AWS key",
        ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
        rf"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{{16}}{_END_OF_WORD}",
    ),
    Shape(
        "an AWS secret key",
        ("ccess_key", "ccessKey", "CCESS_KEY"),
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        kept=r"(?i:secret_?access_?key)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?",
        start=r"(?<![A-Za-z0-9])|(?<=[Aa][Ww][Ss])",
    ),
    Shape(
        "an Azure key",
        ("AccountKey=", "AccessKey="),
        "[A-Za-z0-9+/]{40,}+=*+",
        "(?:Shared|)Acc(?:ount|ess)Key=",
    ),
    Shape("a Google key", ("AIza",), rf"AIza{_URLSAFE}{{35,}}+"),
    Shape("a Google secret", ("GOCSPX-",), rf"GOCSPX-{_URLSAFE}{{20,}}+"),
    Shape("a Google token", ("ya29.",), rf"ya29\.{_URLSAFE}{{20,}}+"),
    Shape("a Slack token", ("xox",), "xox[abeoprs]-[A-Za-z0-9-]{10,}+"),
    Shape("a Slack token", ("xapp-",), "xapp-[0-9]-[A-Za-z0-9-]{10,}+"),
    Shape(
        "a Slack webhook",
        ("hooks.slack.com/",),
        "[A-Za-z0-9_/+-]{20,}+",
        r"hooks\.slack\.com/(?:services|workflows)/",
    ),
    Shape(
        "a Discord token",
        (".",),
        rf"[MNO][DTjz]{_URLSAFE}{{22,24}}\.{_URLSAFE}{{6}}\.{_URLSAFE}{{27,}}+",
    ),
    Shape(
        "a Discord webhook",
        ("/api/webhooks/",),
        rf"[0-9]{{10,25}}/{_URLSAFE}{{20,}}+",
        r"discord(?:app)?\.com/api/webhooks/",
    ),
    Shape("an Artifactory key", ("AKCp",), "AKCp[A-Za-z0-9]{60,}+"),
    Shape("a DigitalOcean token", ("_v1_",), rf"do[opr]_v1_[0-9a-f]{{64}}{_END_OF_WORD}"),
    Shape("a Databricks token", ("dapi",), rf"dapi[0-9a-f]{{32}}{_END_OF_WORD}"),
    Shape("a Docker token", ("dckr_pat_",), rf"dckr_pat_{_URLSAFE}{{20,}}+"),
    Shape("a Groq key", ("gsk_",), "gsk_[A-Za-z0-9]{40,}+"),
    Shape("a Heroku key", ("HRKU-",), rf"HRKU-{_URLSAFE}{{36,}}+"),
    Shape("a Hugging Face token", ("hf_",), rf"hf_[A-Za-z]{{34,}}+{_END_OF_WORD}"),
    Shape("a Mailchimp key", ("-us",), rf"[0-9a-z]{{32}}-us[0-9]{{1,2}}+{_END_OF_WORD}"),
    Shape("an npm token", ("npm_",), "npm_[A-Za-z0-9]{36,}+"),
    Shape(
        "an npm token", (":_authToken=",), rf"{_URLSAFE}{{20,}}+", r":_authToken=[ \t]{0,4}", start="(?<=/)"
    ),
    Shape("a PyPI token", ("pypi-",), rf"pypi-AgE{_URLSAFE}{{50,}}+"),
    Shape("a SendGrid key", ("SG.",), rf"SG\.{_URLSAFE}{{22}}\.{_URLSAFE}{{43,}}+"),
    Shape("a Shopify token", ("shp",), rf"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}{_END_OF_WORD}"),
    Shape(
        "a SoftLayer key",
        ("softlayer.com/",),
        f"[a-z0-9]{{64}}{_END_OF_WORD}",
        r"api\.softlayer\.com/soap/v3(?:\.1)?/",
    ),
    Shape("a Square secret", ("sq0",), rf"sq0(?:atp|csp|idp)-{_URLSAFE}{{22,}}+"),
    Shape("a Stripe key", ("k_live_", "k_test_"), "[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    Shape("a Stripe secret", ("whsec_",), "whsec_[A-Za-z0-9+/]{24,}+"),
    Shape(
        "a Telegram token", (":AA",), rf"[0-9]{{8,10}}:AA{_URLSAFE}{{33}}(?!{_URLSAFE})", start="(?<![0-9])"
    ),
    Shape("a Twilio key", ("AC", "SK"), rf"(?:AC|SK)[0-9a-f]{{32}}{_END_OF_WORD}"),
    Shape("a Vault token", ("hvs.",), rf"hvs\.{_URLSAFE}{{24,}}+"),
    Shape("an age key", ("AGE-SECRET-KEY-1",), "AGE-SECRET-KEY-1[0-9A-Z]{50,}+"),
)
"""What services hand out, each with a beginning of its own; no two of them can be mistaken for work."""

CREDENTIALS: tuple[Shape, ...] = (
    Shape(
        "a bearer token",
        ("earer", "EARER"),
        r"(?=[A-Za-z._~+/-]{0,40}+[0-9])[A-Za-z0-9._~+/-]{16,}+=*+",
        r"[Bb](?:earer|EARER)[ \t]{1,4}",
    ),
    Shape(
        "a password",
        ("asic ",),
        "[A-Za-z0-9+/]{8,}+=*+",
        r"uthorization\\{0,3}[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}[\"']?[Bb]asic[ ]{1,4}",
        start="",
    ),
    Shape(
        "a password",
        ("asic ",),
        r"(?=[a-z]{0,80}+[A-Z0-9+/=])[A-Za-z0-9+/]{8,}+=*+\Z",
        r"\A[Bb]asic[ ]{1,4}",
        start="",
    ),
    Shape(
        "a password",
        ("://",),
        r"(?![$\[{*])[^\s/@\"'<>]{3,200}+(?=@)",
        r"://[^\s/:@\"'<>]{0,100}+:",
        start="",
    ),
    Shape(
        "a JSON web token",
        ("eyJ",),
        rf"eyJ{_URLSAFE}{{8,}}+\.e[yw]{_URLSAFE}{{8,}}+(?:\.{_URLSAFE}*+)?+",
        start=f"(?<!{_URLSAFE})",
    ),
)
"""What lets somebody in for a while, or is made up in a test: taken out of what is said, left in work."""

_BLOCKS = ("PRIVATE KEY", "PuTTY-User-Key-File")
_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[0-9]:")
_END = re.compile(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC:[ \t]{0,4}[0-9a-f]{20,128}+"
)
_BODY = re.compile(r"(?:(?:\\[nr]|\s)*+[A-Za-z0-9+/=]{20,}+)*+")
_MADE_UP = re.compile("example|test|dummy|fake|sample|placeholder|your", re.IGNORECASE)


class Redactor:
    """Takes secrets out of texts, and counts them."""

    def __init__(self, values: Iterable[str] = (), passwords: Iterable[str] = ()) -> None:
        words = [word for password in passwords if (word := password.strip())]
        known = {stripped for value in (*values, *words) if len(stripped := value.strip()) >= SHORTEST}
        plain = {form for value in known for form in _plain(value)}
        coded = {form for value in known for form in _coded(value)}
        self.values = tuple(sorted(known))
        """What is known to be secret."""
        self.short = tuple(sorted({word for word in words if len(word) < SHORTEST}))
        """Passwords that are looked for as words of their own."""
        self._short = [_as_a_word(word) for word in self.short]
        self.count = 0
        """How many secrets were taken out so far."""
        self._known = sorted({form for form in plain | coded if form not in MARK}, key=_longest_first)
        self._wrapped = sorted((form for form in coded if len(form) >= _WRAPPED), key=_longest_first)
        self._found_clean: set[str] = set()

    def clean(self, text: str) -> str:
        """The text, with a mark where a secret was, known or only shaped like one.

        A text that is nothing but a short password may be a name of ours, and stays.
        """
        if text in self._found_clean:
            return text
        cleaned = self._cleaned(text)
        if cleaned == text and len(text) <= _REMEMBERED and len(self._found_clean) < _MOST_REMEMBERED:
            self._found_clean.add(text)
        return cleaned

    def _cleaned(self, text: str) -> str:
        text = text if text in self.short else self._without_short(text)
        return self._shapes(self.clean_work(text), CREDENTIALS) if len(text) >= SHORTEST else text

    def clean_output(self, text: str) -> str:
        """What a program said, where nothing is a name of ours."""
        return self.clean(self._without_short(text))

    def clean_work(self, text: str) -> str:
        """The text without known secrets and tokens of services; what tests make up of themselves stays."""
        if len(text) < SHORTEST:
            return text
        text = self.clean_known(text)
        if any(hint in text for hint in _BLOCKS):
            text = self._blocks(text)
        return self._shapes(text, TOKENS)

    def clean_known(self, text: str) -> str:
        """The text without the known secrets; what only looks like one is work, and stays as it is."""
        if len(text) < SHORTEST:
            return text
        for form in self._known:
            if form in text:
                self.count += text.count(form)
                text = text.replace(form, MARK)
        return self._cut(self._broken(text))

    def clean_data(self, data: Any, clean: Callable[[str], str] | None = None) -> Any:
        """The same JSON data with every text in it clean, names included."""
        return _in_texts(data, clean or self.clean, clean or self.clean_output)

    def sightings(self, text: str) -> dict[int, str]:
        """The lines of a text that hold a known secret or a token, and what it is; made-up ones are none."""
        lines = [found.start() for found in re.finditer("\n", text)]
        seen: dict[int, str] = {}
        for at, what in (*self._places(text), *_tokens(text)):
            seen.setdefault(bisect_left(lines, at) + 1, what)
        return dict(sorted(seen.items()))

    def _places(self, text: str) -> Iterator[tuple[int, str]]:
        what = "a secret of yours"
        for form in self._known:
            at = text.find(form)
            while at >= 0:
                yield at, what
                at = text.find(form, at + len(form))
        for form in self._broken_in(text):
            yield from ((found.start(), what) for found in _gapped(form).finditer(text))

    def _broken_in(self, text: str) -> Iterator[str]:
        """Codings that are in the text, broken over lines as `base64` prints them."""
        if self._wrapped and ("\n" in text or "\\n" in text):
            joined = "".join(text.replace("\\n", "\n").split())
            yield from (form for form in self._wrapped if form in joined)

    def _broken(self, text: str) -> str:
        for form in self._broken_in(text):
            text = self._put(_gapped(form), MARK, text)
        return text

    def _cut(self, text: str) -> str:
        """Without the rest of a known value where the text was cut out of a longer one."""
        for form in self._known:
            least = max(_PIECE, len(form) // 2)
            if len(text) >= least and text[:least] in form:
                rest = form[form.index(text[:least]) :]
                if text.startswith(rest):
                    text, self.count = f"{MARK}{text[len(rest) :]}", self.count + 1
            if len(text) >= least and text[-least:] in form:
                rest = form[: form.rindex(text[-least:]) + least]
                if text.endswith(rest):
                    text, self.count = f"{text[: -len(rest)]}{MARK}", self.count + 1
        return text

    def _without_short(self, text: str) -> str:
        for pattern in self._short:
            text = self._put(pattern, rf"\1{MARK}", text)
        return text

    def _shapes(self, text: str, shapes: tuple[Shape, ...]) -> str:
        for shape in shapes:
            if any(hint in text for hint in shape.hints):
                text = self._put(shape.pattern, rf"\1{MARK}", text)
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


def _in_texts(data: Any, clean: Callable[[str], str], said: Callable[[str], str]) -> Any:
    match data:
        case str():
            return clean(data)
        case dict():
            return {
                clean(name): _in_texts(value, said if _SAID.fullmatch(str(name)) else clean, said)
                for name, value in data.items()
            }
        case list() | tuple():
            return type(data)(_in_texts(value, clean, said) for value in data)
    return data


def _as_a_word(password: str) -> re.Pattern[str]:
    """Where a short password stands by itself; a common word, or a letter, only where it stands as one."""
    forms = {password, html.escape(password), json.dumps(password)[1:-1], quote(_bytes(password), safe="")}
    word = rf"(?:{'|'.join(sorted(map(re.escape, forms), key=_longest_first))})(?![A-Za-z0-9_])"
    if len(password) >= 3 and not _OURS.fullmatch(password.lower()):
        return re.compile(rf"(?<![A-Za-z0-9_])(){word}")
    named = r"(?i:pass(?:word|wd)?|pwd)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
    return re.compile(rf"({named}|://[^\s/:@]{{0,100}}:){word}")


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    yield from ((found.start(), "a private key") for found in _BEGIN.finditer(text))
    for shape in TOKENS:
        hits = shape.pattern.finditer(text) if any(hint in text for hint in shape.hints) else ()
        yield from ((found.start(), shape.what) for found in hits if not _is_made_up(found[0]))


def _is_made_up(token: str) -> bool:
    return _MADE_UP.search(token) is not None or len(set(token)) < SHORTEST


def _block_end(text: str, body: int, ends: list[int]) -> int:
    following = bisect_left(ends, body)
    if following < len(ends) and ends[following] - body <= _LONGEST_BLOCK:
        return ends[following]
    found = _BODY.match(text, body)
    return found.end() if found else body


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _gapped(form: str) -> re.Pattern[str]:
    return re.compile(r"(?:\\n|\s)*+".join(map(re.escape, form)))


def _longest_first(form: str) -> tuple[int, str]:
    return -len(form), form


def _plain(value: str) -> Iterator[str]:
    yield value
    yield from (html.escape(value), html.escape(value, quote=False), repr(value)[1:-1])
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
