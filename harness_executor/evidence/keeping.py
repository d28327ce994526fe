"""What steps have made, kept for the next verification of the same project."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness_executor.clock import Clock, new_id
from harness_executor.evidence.copying import Seen, came, clear, lay, look, take
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Room
from harness_executor.workspace.export import remove

_MOST = 8
"""Outcomes of one project that are kept."""
_BYTES = 2_000_000_000
"""How much they may be together; one may be a quarter of it."""
_SECONDS = 86_400.0
"""How long one is used: data may be about today."""
_LOST = 3_600.0
"""The age at which something unfinished was left by a program that was killed."""
_ABOUT = "kept.json"


@frozen
class Keys:
    """Under which names an outcome is looked for and kept; none where it must not be."""

    exact: str = ""
    """Stands for the whole tree, and for everything else that steps read."""
    loose: str = ""
    """Stands for the declared inputs instead of the whole tree."""
    is_trusted: bool = False
    """May others of the same inputs use what was made here? What a change made serves that change alone."""

    def among(self, hosts: Iterable[str]) -> "Keys":
        """The keys for steps that may reach these hosts."""
        named = sorted(hosts)
        exact, loose = (digest([key, named]) if key else "" for key in (self.exact, self.loose))
        return replace(self, exact=exact, loose=loose)


@frozen
class Store:
    """The outcomes of one project; several programs may use it at once, and be killed at any time."""

    place: Path
    clock: Clock

    def bring(self, keys: Keys, room: Room, data: Path | None) -> bool:
        """Put an outcome into a fresh tree, and its data into a folder; raises OSError if it broke off."""
        for key, is_loose in ((keys.exact, False), (keys.loose, True)):
            kept = self.place / key
            about = self._about(kept) if key else None
            if about is None or (is_loose and _collides(about["tree"], room.tree)):
                continue
            when = self.clock.now().timestamp()
            clear(tuple(about["gone"]), room.tree)
            lay(kept / "tree", about["tree"], room.tree, when)
            if data:
                remove(data)
                data.mkdir(parents=True)
                lay(kept / "data", about["data"], data, when)
            return True
        return False

    def keep(self, keys: Keys, room: Room, before: Seen) -> None:
        """Keep what was made of a tree; raises OSError where it cannot be."""
        after = look(room.tree, frozenset(room.beside))
        made, gone = came(before, after), tuple(sorted(before.keys() - after.keys()))
        data = look(room.data) if room.data else {}
        if sum(state[1] for state in (*made.values(), *data.values())) > _BYTES / 4:
            return
        draft = self.place / f".{new_id()}"
        try:
            take(room.tree, made, draft / "tree")
            if room.data:
                take(room.data, data, draft / "data")
            self._finish(draft, {"tree": _brief(made), "data": _brief(data), "gone": gone})
            adds_only = not gone and not any(name in before for name in made)
            name = keys.loose if keys.loose and keys.is_trusted and adds_only else keys.exact
            if (self.place / name).exists():
                self._drop(self.place / name)
            draft.rename(self.place / name)
        finally:
            remove(draft)
        self._tidy()

    def _finish(self, draft: Path, about: Mapping[str, Any]) -> None:
        self.place.chmod(0o700)
        (draft / _ABOUT).write_text(json.dumps(about))

    def _about(self, kept: Path) -> dict[str, Any] | None:
        try:
            if self._age(kept) > _SECONDS:
                return None
            about = json.loads((kept / _ABOUT).read_text())
        except (OSError, ValueError):
            return None
        return about if isinstance(about, dict) and about.keys() >= {"tree", "data", "gone"} else None

    def _age(self, kept: Path) -> float:
        return self.clock.now().timestamp() - (kept / _ABOUT).stat().st_mtime

    def _tidy(self) -> None:
        """Remove the oldest where there are too many, and what was left unfinished."""
        whole: list[tuple[float, Path]] = []
        for path in self.place.iterdir():
            if path.name.startswith("."):
                if self.clock.now().timestamp() - path.lstat().st_mtime > _LOST:
                    remove(path)
            elif (path / _ABOUT).is_file():
                whole.append((self._age(path), path))
            else:
                self._drop(path)
        total = 0
        for number, (age, path) in enumerate(sorted(whole)):
            total += sum(_sizes(self._about(path) or {}))
            if number >= _MOST or total > _BYTES or age > _SECONDS:
                self._drop(path)

    def _drop(self, path: Path) -> None:
        """Out of sight in one move, so that nobody takes half of it for the whole."""
        aside = self.place / f".{new_id()}"
        path.rename(aside)
        remove(aside)


def _sizes(about: Mapping[str, Any]) -> Iterator[int]:
    for part in ("tree", "data"):
        yield from (int(state[1]) for state in about.get(part, {}).values())


def _brief(names: Seen) -> dict[str, tuple[int, ...]]:
    return {name: state[:2] for name, state in names.items()}


def _collides(names: Mapping[str, Any], tree: Path) -> bool:
    """Has a tree files of its own where others were made?"""
    return any((tree / name).is_symlink() or (tree / name).is_file() for name in names)
