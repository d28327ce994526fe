"""Which tool was not there, when a check could not even begin?"""

import re

_SHELL = r"(?:/bin/)?(?:sh|bash|dash): (?:line )?(?:\d+: )?"
_MANAGER = "(?:pyenv|rbenv|nodenv): "
_SIGN = re.compile(
    rf"(?:{_SHELL}|{_MANAGER})(?P<program>[\w@./+-]+): (?:command )?not found"
    r"|\S*python[\d.]*: No module named (?P<module>[\w.]+)"
)
"""What a shell, a version manager and Python say."""


def absent_tool(output: str) -> str:
    """The program that a command asked for and did not find, or nothing; only its last words count."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    found = _SIGN.fullmatch(lines[-1]) if lines else None
    return (found["program"] or found["module"]) if found else ""
