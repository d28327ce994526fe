"""The variables of the environment that JavaScript and TypeScript read, one at a time or by a schema."""

import re
from collections.abc import Iterator

from harness_executor.workspace.detect.values import Variable

_NAME = r"[A-Za-z_$][\w$]{0,60}"
READ = re.compile(rf"process\.env(?:\??\.({_NAME})|\[\s*['\"]([A-Z0-9_]{{1,60}})['\"]\s*\])")
"""One variable, read by its name."""
_BUN = re.compile(rf"(?:Bun|import\.meta)\.env\.({_NAME})")
_UNPACKED = re.compile(r"\{([^{}]{1,2000})\}\s*(?::\s*[\w.]{1,60}\s*)?=\s*process\.env\b(?!\s*\??[.\[])")
_PART = re.compile(
    rf"\s*({_NAME})\s*(?::\s*({_NAME})\s*)?(?:=\s*(?:['\"`]([^'\"`\n]{{0,120}})['\"`]|([\w.]{{1,20}})))?"
)
_ASKED = re.compile(
    r"\b\w*[cC]onfig(?:Service)?\s*\.\s*(get|getOrThrow)\s*(?:<[^>()]{0,80}>)?\(\s*['\"]([A-Z][A-Z0-9_]{1,60})['\"]"
)
"""One variable, asked for at a service of settings, as Nest has it."""
_DEFAULTED = re.compile(r"^\s*(?:\|\||\?\?)\s*(?:['\"`]([^'\"`\n]{0,120})['\"`]|(\d{1,9}|true|false))?")
_WHOLE = re.compile(
    r"process\.env\b(?!\s*\??[.\[])|validationSchema|\bcleanEnv\b|\bcreateEnv\b|[@/]fastify[/-]env\b|env-schema|envSchema"
    r"|\bEnv\.(?:schema|rules)\b"
)
"""A file that hands over all variables at once, or says what they must be."""
_KEY = re.compile(r"(?:^|[\s{,])['\"]?([A-Z][A-Z0-9_]{1,60})['\"]?\s*:\s*", re.M)
_PROP = re.compile(r"\.prop\(\s*['\"]([A-Z][A-Z0-9_]{1,60})['\"]\s*,\s*")
"""A key of a fluent schema."""
_RULE = re.compile(
    r"(?:z|zod|Joi|joi|[yY]up|t|Type|v|vine|S|s|envalid|coerce|Env)\s*\.|(?:str|num|bool|port|host|url|email|json)\w{0,12}\("
)
_FIELD = re.compile(r"\{[^{}]{0,300}\btype\s*:")
_SPARED = re.compile(
    r"\.(?:optional|optionalWhen|nullish|default|catch)\(|\bdefault\s*:|\bOptional\(|devDefault\s*:(?!\s*testOnly)"
)
_DEFAULT = re.compile(r"\bdefault\s*(?:\(|:)\s*(?:['\"`]([^'\"`\n]{0,120})['\"`]|([\w.]{1,20}))")
_CHOICES = re.compile(r"enum|valid\(|oneOf|choices|anyOf|picklist|literal")
_CONVICT = re.compile(r"\{([^{}]{0,600}?)\benv\s*:\s*['\"]([A-Z][A-Z0-9_]{1,60})['\"]([^{}]{0,400})\}")
_LISTED = re.compile(r"\brequired\s*:\s*\[([^\]]{0,2000})\]")
LONGEST = 400


def variables(text: str, path: str) -> Iterator[Variable]:
    """The variables that a file reads; JavaScript gives undefined for one that is missing."""
    for match in (*READ.finditer(text), *_BUN.finditer(text)):
        name = next(group for group in match.groups() if group)
        said = _DEFAULTED.match(text[match.end() : match.end() + 160])
        default = next((group for group in said.groups() if group), "") if said else ""
        is_asserted = text[match.end() : match.end() + 1] == "!"
        yield Variable(name, required=is_asserted and not said, default=default, where=path)
    for name, default in unpacked(text).values():
        yield Variable(name, default=default, where=path)
    for match in _ASKED.finditer(text):
        yield Variable(match[2], required=match[1] == "getOrThrow", where=path)
    if _WHOLE.search(text):
        yield from _ruled(text, path)
    if "convict" in text:
        yield from _convicted(text, path)


def unpacked(text: str) -> dict[str, tuple[str, str]]:
    """The variables that `const { A, B: b = 'c' } = process.env` takes, each by what the code calls it."""
    parts = [part for match in _UNPACKED.finditer(text) for part in match[1].split(",")]
    taken = [match for match in map(_PART.match, parts) if match]
    return {match[2] or match[1]: (match[1], match[3] or match[4] or "") for match in taken}


def _ruled(text: str, path: str) -> Iterator[Variable]:
    """The variables that a schema names, with values that it takes."""
    listed = " ".join(_LISTED.findall(text))
    for match in (*_KEY.finditer(text), *_PROP.finditer(text)):
        rule = _expression(text[match.end() : match.end() + LONGEST])
        is_field = bool(_FIELD.match(rule))
        if not is_field and not _RULE.match(rule):
            continue
        default = _DEFAULT.search(rule)
        said = (default[1] or default[2] or "") if default else ""
        needed = _is_needed(rule) if not is_field else bool(re.search(rf"['\"]{match[1]}['\"]", listed))
        required = needed and not _SPARED.search(rule)
        yield Variable(match[1], required, said, _fitting(rule), where=path)


def _convicted(text: str, path: str) -> Iterator[Variable]:
    """The variables of a schema of convict, which wants a value where the default is null."""
    for match in _CONVICT.finditer(text):
        rule = f"{match[1]} {match[3]}"
        default = _DEFAULT.search(rule)
        said = (default[1] or default[2] or "") if default else ""
        choices = re.search(r"format\s*:\s*\[([^\]]{0,300})\]", rule)
        fitting = _chosen(re.findall(r"['\"]([^'\"]{1,60})['\"]", choices[1])) if choices else ""
        is_needed = said == "null"
        yield Variable(match[2], is_needed, "" if is_needed else said, fitting, where=path)


def _is_needed(rule: str) -> bool:
    """Must a value be there? Joi, yup and fluent schemas have to say so, the others always want one."""
    return "required(" in rule if re.match(r"[jJ]oi|[yY]up|S\b", rule) else True


def _expression(text: str) -> str:
    """What stands before the next comma or bracket that belongs to something around it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (letter in ",;" and depth == 0):
            return text[:place]
    return text


def _fitting(rule: str) -> str:
    """A value that a rule takes, or nothing where any text will do."""
    if _CHOICES.search(rule):
        return _chosen(re.findall(r"['\"]([^'\"]{1,60})['\"]", rule))
    for pattern, value in _KINDS:
        if pattern.search(rule):
            return value
    least = re.search(r"\bmin(?:Length)?\s*[(:]\s*(\d{1,3})", rule)
    return ("test-only-" + "0123456789abcdef" * 64)[: max(int(least[1]), 9)] if least else ""


_KINDS = (
    (re.compile(r"bool", re.I), "false"),
    (re.compile(r"uuid|guid", re.I), "00000000-0000-4000-8000-000000000000"),
    (re.compile(r"email", re.I), "test@example.com"),
    (re.compile(r"(?:^num|number|\bint|integer|\bport)\b", re.I), "60"),
)


def _chosen(choices: list[str]) -> str:
    """The choice of a developer's machine, else the first that is not meant for tests of units."""
    liked = [one for one in choices if one.lower() in ("development", "dev", "local")]
    others = [one for one in choices if one.lower() not in ("test", "testing", "production", "prod")]
    return next(iter([*liked, *others, *choices]), "")
