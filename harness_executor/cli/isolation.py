"""What this program imports: its own installation, and nothing of the project it works on.

Uses nothing that the interpreter has not loaded by itself, so that nothing of the project is imported here.
"""

import os
import site
import sys

_OWN = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
"""Where this program lies; that is the project too when it works on itself."""


def leave_out_project(words: list[str]) -> list[str]:
    """Take the project out of where modules are looked for; gives what Python has loaded of it already."""
    here = _here()
    named = (part for word in words for part in (word, word.partition("=")[2]) if os.path.isdir(part))
    theirs = {root for place in (here, *named) if (root := _root(place))}
    prefixes = (sys.prefix, sys.base_prefix)
    ours = {_OWN, site.USER_SITE or _OWN, *prefixes, *map(os.path.realpath, prefixes)}
    nowhere = ("", here) if here != _OWN else ()
    sys.path[:] = [entry for entry in sys.path if entry not in nowhere and not _is_of(entry, theirs, ours)]
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
    return [
        file for name, file in files.items() if file and name != "__main__" and _is_of(file, theirs, ours)
    ]


def _is_of(path: str, theirs: set[str], ours: set[str]) -> bool:
    """Does it lie in a project, and not in what the user has installed there?"""
    place = os.path.abspath(path)
    if not theirs or _lies_in(place, ours):
        return False
    real = os.path.realpath(place)
    return (_lies_in(place, theirs) or _lies_in(real, theirs)) and not _lies_in(real, ours)


def _lies_in(path: str, folders: set[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


def _root(place: str) -> str:
    """The folder of the repository that a place lies in, if there is one."""
    folder = os.path.realpath(place)
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, inner = os.path.dirname(folder), folder
        if folder == inner:
            return ""
    return folder


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""
