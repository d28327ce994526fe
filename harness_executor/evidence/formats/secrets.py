"""What was taken over, without the secrets that were in it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from harness_executor.evidence.formats.taken import Taken
from harness_executor.kernel.values import names_in
from harness_executor.redaction import MARK, Redactor

PLACEHOLDER = "Removed-Secret"
_NAME = re.compile(
    r"authorization|token|secret|(?:api|access|private|auth|subscription)[-_ ]?key|passw|passphrase|\bpwd\b"
    r"|credential|cookie|session|signature|x-auth|\botp\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"(?:type|count|expires?|expires_in|expiry|limit|length|max|min)\W*$", re.IGNORECASE)
_PASSWORD = re.compile("passw|pwd|secret", re.IGNORECASE)
_FIELD = re.compile(
    r"(?:^|(?<=[?&;]))(?P<field>[^=&?;#\s{\"]+)=(?P<text>[^&;#\s]+)"
    r'|"(?P<key>[^"\\]+)"\s*:\s*"(?P<quoted>(?:[^"\\]|\\.)+)(?=")'
)
"""A field of a query or form, or of JSON that is not whole; its value stands last."""
_SCHEME = re.compile(r"^(?:Bearer|Basic|Token|Digest|ApiKey|Negotiate)\s+", re.IGNORECASE)


def hide_secrets(taken: Taken) -> None:
    """Put a placeholder where a secret was, the same for the same secret, and say where."""
    hiding = _Hiding()
    for scenario in taken.scenarios:
        hiding.learn(scenario, (str(scenario["name"]),))
    for scenario in taken.scenarios:
        hiding.learn_fixed(scenario)
    taken.scenarios[:] = [hiding.without(one) for one in taken.scenarios]
    taken.left[:] = [hiding.clean(line) for line in taken.left]
    taken.left += [f"a secret: {PLACEHOLDER}-{n} stands for it at {where}" for n, where in hiding.seen()]
    if hiding.others:
        taken.left.append(f"{hiding.others} more texts that look like secrets: {PLACEHOLDER} stands for them")


def is_secret(name: str) -> bool:
    """Does what has this name let somebody in?"""
    return _NAME.search(name) is not None and _HARMLESS.search(name) is None


class _Hiding:
    """The secrets of one file, each with its number."""

    def __init__(self) -> None:
        self.others = 0
        self._filling: set[str] = set()
        """Names of values that stand where a secret is sent."""
        self._places: dict[str, str] = {}
        self._known: list[tuple[str, str, Redactor]] = []

    def seen(self) -> Iterator[tuple[int, str]]:
        """The number of each secret, and the place where it was first."""
        yield from enumerate(self._places.values(), 1)

    def learn(self, value: Any, place: tuple[str, ...]) -> None:
        """Look for values that have the name of a secret."""
        match value:
            case Mapping() if _is_check(value) or (place[-1] == "capture" and _is_capture(value)):
                pass
            case Mapping():
                for name, inner in value.items():
                    self.learn(inner, (*place, str(name)))
            case list():
                for at, inner in enumerate(value, 1):
                    self.learn(inner, place if isinstance(inner, str) else (*place, str(at)))
            case str():
                self._learn_text(value, place)
            case int() | float() if not isinstance(value, bool) and _PASSWORD.search(place[-1]):
                self._add(str(value), place)

    def learn_fixed(self, scenario: Mapping[str, Any]) -> None:
        """Look for fixed values that are sent as a secret, whatever their names are."""
        for name, value in scenario.get("let", {}).items():
            if name in self._filling:
                self._add(value, (str(scenario["name"]), "let", name))

    def _learn_text(self, text: str, place: tuple[str, ...]) -> None:
        if is_secret(place[-1]):
            self._filling |= {*names_in(text)}
            self._add(_SCHEME.sub("", text), place)
        elif place[-1] in ("path", "body"):
            for name, value in map(_pair, _FIELD.finditer(text)):
                if is_secret(name):
                    self._add(unquote_plus(value), (*place, name))

    def _add(self, value: str, place: tuple[str, ...]) -> None:
        if value and "{{" not in value and value not in self._places:
            self._places[value] = ", ".join(place)
            self._known.append((value, f"{PLACEHOLDER}-{len(self._places)}", Redactor([value])))
            self._known.sort(key=lambda one: -len(one[0]))

    def without(self, value: Any, name: str = "") -> Any:
        """The same data, with placeholders."""
        match value:
            case Mapping() if _is_check(value):
                return {"path": value["path"], "op": "exists"}
            case Mapping() if name == "capture" and _is_capture(value):
                return value
            case Mapping():
                return {self.clean(key): self.without(inner, key) for key, inner in value.items()}
            case list():
                return [self.without(inner, name) for inner in value]
            case str() if is_secret(name) or name in self._filling:
                return self._whole(value)
            case str():
                return self.clean(value)
            case int() | float() if not isinstance(value, bool) and _PASSWORD.search(name):
                return self._whole(str(value))
        return value

    def _whole(self, text: str) -> str:
        """A value that is a secret, after the word for its kind."""
        scheme = _SCHEME.match(text)
        kept = scheme[0] if scheme else ""
        bare = text.removeprefix(kept)
        return next((kept + put for value, put, _ in self._known if value == bare), self.clean(text))

    def clean(self, text: str) -> str:
        """A text without the known secrets, and without what is shaped like one."""
        text = _FIELD.sub(self._field, text)
        for _, put, redactor in self._known:
            text = redactor.clean_known(text).replace(MARK, put)
        shaped = Redactor()
        text = shaped.clean(text).replace(MARK, PLACEHOLDER)
        self.others += shaped.count
        return text

    def _field(self, found: re.Match[str]) -> str:
        name, value = _pair(found)
        if not is_secret(name) or "{{" in value:
            return found[0]
        plain = unquote_plus(value)
        return found[0].removesuffix(value) + (self._whole(plain) if plain in self._places else PLACEHOLDER)


def _pair(found: re.Match[str]) -> tuple[str, str]:
    return unquote_plus(found["field"] or found["key"]), found["text"] or found["quoted"]


def _is_capture(value: Any) -> bool:
    """Does it say where in an answer values are? Their names are no names of secrets."""
    return isinstance(value, Mapping) and all(str(path).startswith("$") for path in value.values())


def _is_check(value: Mapping[str, Any]) -> bool:
    """Is it an expectation of a secret? That one is there is all that can be expected then."""
    path = str(value.get("path", ""))
    return "value" in value and path.startswith("$") and is_secret(path)
