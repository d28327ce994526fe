"""Are the packages of a project installed where its programs find them?"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.detection import ENVIRONMENTS
from harness_executor.workspace.detect.environment import within
from harness_executor.workspace.detect.values import Stack

_FRAMEWORKS = frozenset(
    {
        "django",
        "fastapi",
        "flask",
        "starlette",
        "aiohttp",
        "tornado",
        "sanic",
        "bottle",
        "quart",
        "falcon",
        "litestar",
    }
    | {"uvicorn", "sqlalchemy", "click", "typer", "djangorestframework"}
)


@frozen
class Lacking:
    """Packages that are not there, and the command that installs them."""

    packages: tuple[str, ...]
    command: str
    where: str


def lacking(project: Path, stack: Stack) -> Lacking | None:
    """What is not installed; nothing when all is there, or when only running can tell."""
    command = within(stack.folder, stack.commands.install)
    if stack.language == "python":
        return _python(project, stack, command)
    if stack.language in ("node", "typescript"):
        return _node(project, stack, command)
    return None


def has_environment(project: Path, stack: Stack) -> bool:
    """Has the project a folder with packages of its own?"""
    names = ENVIRONMENTS if stack.language == "python" else ("node_modules",)
    return any((folder / name).is_dir() for folder in _above(project, stack) for name in names)


def _python(project: Path, stack: Stack, command: str) -> Lacking | None:
    wanted = sorted(stack.needed & _FRAMEWORKS)
    for folder in _above(project, stack):
        for name in ENVIRONMENTS:
            if (folder / name / "bin" / "python").exists():
                there = {
                    _normal(path.name)
                    for path in (folder / name).glob("lib/python*/site-packages/*.dist-info")
                }
                missing = tuple(one for one in wanted if one not in there)
                return Lacking(missing, command, str(PurePosixPath(name))) if missing else None
    return None


def _node(project: Path, stack: Stack, command: str) -> Lacking | None:
    if not stack.dependencies:
        return None
    folders = [folder / "node_modules" for folder in _above(project, stack)]
    missing = tuple(
        name for name in sorted(stack.dependencies) if not any((folder / name).exists() for folder in folders)
    )
    if not any(folder.is_dir() for folder in folders):
        return Lacking(missing[:5], command, "node_modules")
    return (
        Lacking(missing[:5], command, "node_modules") if len(missing) > len(stack.dependencies) // 2 else None
    )


def _above(project: Path, stack: Stack) -> Iterator[Path]:
    place = PurePosixPath(stack.folder)
    yield from (project / folder for folder in (place, *place.parents))


def _normal(folder: str) -> str:
    """The package of a folder such as `flask_login-0.6.3.dist-info`."""
    return folder.split("-", maxsplit=1)[0].replace("_", "-").replace(".", "-").lower()
