"""The variables that a program's last words say have no value."""

import re

MOST = 6
_NAME = r"([A-Za-z_]\w{1,60})"
_SAID = re.compile(
    rf"KeyError: '([A-Z][A-Z0-9_]{{1,60}})'\s*$|UndefinedValueError: {_NAME} not found"
    rf"|[Ee]nvironment variable [\"']?{_NAME}[\"']? (?:is )?not set|Set the {_NAME} environment variable",
    re.M,
)
"""How Python, decouple, environs and Django say it."""
_SETTINGS = re.compile(r"ValidationError: \d+ validation errors? for (\w+)\n(.*)", re.S)
_FIELD = re.compile(rf"^{_NAME}\s*\n\s+[Ff]ield required\b", re.M)


def unset_in(text: str) -> tuple[str, ...]:
    """Their names, in the order in which they are said; fields of settings count in capital letters."""
    names = [next(filter(None, found)) for found in _SAID.findall(text)]
    settings = _SETTINGS.search(text)
    if settings and re.search("setting|config|env", settings[1], re.I):
        names += [name.upper() for name in _FIELD.findall(settings[2])]
    return tuple(dict.fromkeys(names))[:MOST]
