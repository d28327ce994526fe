"""What is in the way of a start, as far as packages and interpreters are, each with what mends it."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from harness_executor.workspace.detect.detection import ENVIRONMENTS
from harness_executor.workspace.detect.environment import within
from harness_executor.workspace.detect.installed import lacking
from harness_executor.workspace.detect.values import Stack

_PACKAGES = {
    "yaml": "pyyaml",
    "dotenv": "python-dotenv",
    "jwt": "pyjwt",
    "jose": "python-jose",
    "decouple": "python-decouple",
    "multipart": "python-multipart",
    "dateutil": "python-dateutil",
    "environ": "django-environ",
    "rest_framework": "djangorestframework",
    "corsheaders": "django-cors-headers",
    "psycopg2": "psycopg2-binary",
    "MySQLdb": "mysqlclient",
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "sklearn": "scikit-learn",
    "cv2": "opencv-python",
    "attr": "attrs",
    "pkg_resources": "setuptools<81",
    "distutils": "setuptools",
}
"""Modules whose package has another name."""
_PROGRAMS = {
    **{name: f"npm install --global {name}" for name in ("bun", "pnpm", "yarn")},
    "go": "apt-get install golang",
}
"""Programs that install packages themselves, and what brings them on Debian."""
PRISMA = "the Prisma client"
"""What is made of a schema after the installation; a box without a network cannot fetch its engine."""


def remedies(project: Path, stack: Stack, missing: str = "") -> tuple[str, ...]:
    """What stops a program, the likeliest first; missing is a module or program that it did not find."""
    return tuple(_remedies(project, stack, missing))


def _remedies(project: Path, stack: Stack, missing: str) -> Iterator[str]:
    if stack.language == "python":
        yield from _too_old(project, stack)
    lost = lacking(project, stack)
    if lost:
        yield f"packages are not installed ({', '.join(lost.packages)}): `{lost.command}`"
    elif missing == PRISMA:
        yield f"{PRISMA} or its engine is not there: `{within(stack.folder, 'npx prisma generate')}`"
    elif missing in _PROGRAMS:
        yield f"{missing} is not installed: `{_PROGRAMS[missing]}`"
    elif missing and stack.language == "python":
        yield from _module(project, stack, missing)
    elif missing and stack.commands.install:
        yield f"{missing} is not installed: `{within(stack.folder, stack.commands.install)}`"


def _too_old(project: Path, stack: Stack) -> Iterator[str]:
    asked = re.match(r"\s*(?:>=|\^|~=|~)\s*(\d+)\.(\d+)", stack.version)
    for place in _environments(project, stack):
        text = (place / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
        has = re.search(r"^version(?:_info)?\s*=\s*(\d+)\.(\d+)", text, re.M)
        if asked and has and (int(has[1]), int(has[2])) < (int(asked[1]), int(asked[2])):
            own = f"{place.name} has {has[1]}.{has[2]}"
            yield f"it asks for Python {stack.version}, and {own}: make it with a Python that fits"
        return


def _module(project: Path, stack: Stack, missing: str) -> Iterator[str]:
    """A module that was not found: not installed, of another version, or on no list."""
    top = missing.split(".", maxsplit=1)[0]
    install = within(stack.folder, stack.commands.install)
    package = _PACKAGES.get(top, top.replace("_", "-").lower())
    names = {package, package.removesuffix("-binary"), top.lower(), top.replace("_", "-").lower()}
    place = next(_environments(project, stack), None)
    if _is_own(project, stack, top):
        return
    if place and "." in missing and any(place.glob(f"lib/python*/site-packages/{top}")):
        yield f"{top} is installed in another version, without {missing}: `{install}`"
    elif install and (names & stack.dependencies or not place):
        yield f"{missing} is not installed: `{install}`"
    elif place:
        command = f"{place.relative_to(project)}/bin/pip install {shlex.quote(package)}"
        yield f"{missing} is not installed, and no list of packages names it: `{command}`"


def _is_own(project: Path, stack: Stack, top: str) -> bool:
    """Is it a part of the project, that is looked for from the wrong place?"""
    folders = [project, project / stack.folder, project / stack.folder / "src"]
    return any((folder / f"{top}.py").is_file() or (folder / top).is_dir() for folder in folders)


def _environments(project: Path, stack: Stack) -> Iterator[Path]:
    place = PurePosixPath(stack.folder)
    for folder in (place, *place.parents):
        for name in ENVIRONMENTS:
            if (project / folder / name / "pyvenv.cfg").is_file():
                yield project / folder / name
