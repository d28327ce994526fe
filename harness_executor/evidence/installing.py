"""Packages that a side needs: installed only where they are missing or their list was changed."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness_executor.evidence.copying import copy_tree
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Side
from harness_executor.sandbox.base import Box, Command, Room, Sandbox
from harness_executor.workspace.chores import INSTALL, Chore
from harness_executor.workspace.dependencies import DEPENDENCIES
from harness_executor.workspace.export import remove

SECONDS = 900.0
_MAKES_A_FOLDER = re.compile(r"\b(npm|yarn|pnpm|bun|uv (sync|venv)|poetry|pdm|pipenv|venv)\b")
"""Commands that put packages into the project; others put them into an interpreter, which no box lets."""
_INSIDE = {"POETRY_VIRTUALENVS_IN_PROJECT": "1", "PIPENV_VENV_IN_PROJECT": "1"}
_AT_ONCE = {
    "npm_config_fetch_retries": "0",
    "PIP_RETRIES": "0",
    "PIP_DEFAULT_TIMEOUT": "5",
    "UV_OFFLINE": "1",
}
"""Where no host may be reached, nobody waits for one."""


@frozen
class Installed:
    """A room with its packages, and what went wrong with them."""

    room: Room
    note: str = ""
    packages: Mapping[str, Path] | None = None
    """Folders that were made, by their place in the tree."""
    is_cut_off: bool = False
    """Did it go wrong where no host may be reached?"""


def install(
    chores: tuple[Chore, ...], side: Side, room: Room, env: Mapping[str, str], sandbox: Sandbox
) -> Installed:
    """Install what a side needs; a failure is told later, when the server does not start without it."""
    chore = next((chore for chore in chores if chore.name == INSTALL), None)
    if chore is None or not _is_needed(chore, side, room):
        return Installed(room)
    changed = room.copied if side is Side.CHANGE else frozenset[str]()
    for name in changed:
        copy_tree(room.beside[name], room.tree / name)
    rest = {name: folder for name, folder in room.beside.items() if name not in changed}
    box = sandbox.open(replace(room, beside=rest, copied=frozenset()))
    try:
        problem, is_alone = _run(chore, box, env, room.tree.with_name(f"{room.tree.name}-install.log"))
    finally:
        box.close()
    if problem:
        for name in changed:
            remove(room.tree / name)
        return Installed(room, problem, is_cut_off=is_alone)
    made = _moved(room, changed)
    return Installed(replace(room, beside={**rest, **made}, copied=frozenset()), packages=made)


def _is_needed(chore: Chore, side: Side, room: Room) -> bool:
    if side is Side.CHANGE and room.copied:
        return True
    is_there = bool(room.beside) or any((room.tree / name).is_dir() for name in DEPENDENCIES)
    return not is_there and bool(_MAKES_A_FOLDER.search(chore.command))


def _run(chore: Chore, box: Box, env: Mapping[str, str], log: Path) -> tuple[str, bool]:
    """What went wrong, if anything did, and whether hosts were out of reach."""
    with box.leaving() as leading:
        is_alone = box.is_private and not leading
        given = {**_INSIDE, **(_AT_ONCE if is_alone else {}), **env, **chore.env, **leading}
        done = box.run(Command(("sh", "-c", chore.command), box.root, box.environment(given), log), SECONDS)
    if done.ok:
        return "", is_alone
    why = done.cause or f"exit code {done.code}"
    alone = "no host may be reached: `[network] allow` in your own config.toml lists them" if is_alone else ""
    said = done.output[-1500:].strip()
    told = f"installing with `{chore.command}` failed ({why}){f'; {alone}' if alone else ''}\n{said}".strip()
    return told, is_alone


def _moved(room: Room, changed: frozenset[str]) -> dict[str, Path]:
    """Folders with packages are kept beside the tree, so that several copies of it can have them."""
    place = room.tree.with_name(f"{room.tree.name}-installed")
    remove(place)
    made: dict[str, Path] = {}
    for name in sorted({*changed, *DEPENDENCIES}):
        folder = room.tree / name
        if folder.is_dir() and not folder.is_symlink() and name not in room.beside.keys() - changed:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            folder.rename(place / name)
            made[name] = place / name
    return made
