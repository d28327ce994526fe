"""The file of variables that a program does not start without, although every value could come otherwise."""

import os.path
import re
import shlex
from pathlib import PurePosixPath

from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.values import Step
from harness_executor.workspace.detect.variables import example_files

STEP = "settings"
_LOST = re.compile(
    r"(?:FileNotFoundError|No such file or directory|not found|does not exist|ENOENT)[^\n]{0,200}?"
    r"['\"]([^'\"\n]{0,300}?\.env(?:\.\w{1,20})?)['\"]"
)


def insisted_on(files: Files, folder: str, said: str) -> Step | None:
    """What makes the file that a program in a folder says is not there: from an example, or empty."""
    lost = _LOST.search(said)
    place = _place(files, folder, lost[1]) if lost else ""
    if not place or files.has(place):
        return None
    beside = f"{PurePosixPath(place).parent}/".removeprefix("./")
    examples = [*example_files(files, beside), *example_files(files)]
    example = next((name for name in examples if _is_plain(name)), "")
    target = _from(folder, place)
    command = f"cp {_from(folder, example)} {target}" if example else f"touch {target}"
    return Step(STEP, command, (), f"the program says that {place} is not there")


def _place(files: Files, folder: str, path: str) -> str:
    """Where in the repository it would be; the box may have the repository elsewhere."""
    whole = os.path.normpath(path if path.startswith("/") else f"/{folder}/{path}")
    parts = PurePosixPath(whole).parts[1:]
    for first in range(len(parts)):
        inner = PurePosixPath(*parts[first:])
        if str(inner.parent) == "." or str(inner.parent) in files.folders:
            return str(inner)
    return ""


def _is_plain(name: str) -> bool:
    return "test" not in name.rsplit("/", 1)[-1]


def _from(folder: str, place: str) -> str:
    return shlex.quote(os.path.relpath(f"/{place}", f"/{folder}"))
