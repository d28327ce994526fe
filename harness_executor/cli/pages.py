"""The files that `harness init` writes: only where there is none, never over a person's text."""

import json
import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from harness_executor.home import Home
from harness_executor.kernel.frozen import frozen
from harness_executor.store.files import write_atomically
from harness_executor.workspace.detect import documents
from harness_executor.workspace.detect.detection import Detection
from harness_executor.workspace.project import environment_file, load
from harness_executor.workspace.sections import section

_OURS = {
    "project": {"name", "type", "language", "description", "framework"},
    "runtime": {
        "language",
        "version",
        "package_manager",
        "install_command",
        "build_command",
        "test_command",
        "lint_command",
        "typecheck_command",
    },
    "startup": {"command", "args", "working_dir", "env", "build", "steps", "readiness"},
    "test_environment": {"setup_commands"},
}
"""Keys of each section that are written anew; others are a person's."""
_WHOLE = {
    "version",
    "generated_by",
    "generated_at",
    "services",
    "env_vars",
    "ports",
    "entry_points",
    "imports",
    "_meta",
}


@frozen
class Page:
    """One file, and what is to be done with it."""

    name: str
    text: str
    writes: bool
    why: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    before: str = ""
    """Where the file of a person is kept that this one takes the place of."""

    @property
    def action(self) -> str:
        """What was done."""
        return "written" if self.writes else "kept"

    @property
    def planned(self) -> str:
        """What would be done."""
        return "would write" if self.writes else "would keep"


def pages(home: Home, found: Detection, data: dict[str, Any], *, force: bool) -> tuple[Page, ...]:
    """What is written, and what is left as it is and why."""
    made = {
        "AGENTS.md": documents.agents,
        "docs/ARCHITECTURE.md": documents.architecture,
        "docs/DEVELOPMENT.md": documents.development,
    }
    written = [_document(home.repository.root, name, make(found, data)) for name, make in made.items()]
    return (_environment(home, data, force=force), *written)


def put(home: Home, page: Page) -> None:
    """Write a file, if it is to be written."""
    if not page.writes:
        return
    path = home.repository.root / page.name
    if page.before:
        write_atomically(home.repository.root / page.before, path.read_bytes())
    write_atomically(path, page.text)
    if page.data:
        home.written.remember(page.text)


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What is found now, and every key that a person added before."""
    result = {key: value for key, value in old.items() if key not in _WHOLE}
    for key, value in new.items():
        before = old.get(key)
        if key in _OURS and isinstance(before, Mapping) and isinstance(value, Mapping):
            result[key] = {**{k: v for k, v in before.items() if k not in _OURS[key]}, **value}
        else:
            result[key] = value
    return result


def _environment(home: Home, data: dict[str, Any], *, force: bool) -> Page:
    root = home.repository.root
    path = environment_file(root)
    place = (path or home.layout.harness / "environment.json").relative_to(root)
    obstacle = _obstacle(root, place)
    if obstacle:
        return Page(str(place), "", writes=False, why=obstacle)
    if path is None:
        return Page(str(place), _text(data), writes=True, data=data)
    is_ours = home.written.is_ours(path)
    before = load(path) if is_ours or force else {}
    same = _essence(before) == _essence(data)
    if (is_ours and same) or not (is_ours or force):
        why = "nothing changed" if is_ours else "it is yours; --force writes it anew"
        return Page(str(place), "", writes=False, why=why)
    page = Page(str(place), _text(merged(before, data)), writes=True, data=data)
    if is_ours:
        return page
    kept = _free(root, place)
    return replace(page, before=kept, why=f"as it was before: {kept}")


def _free(root: Path, place: Path) -> str:
    """A name beside a file that nothing has yet."""
    names = (place.with_suffix(f".old{more}.json") for more in ("", *(f"-{n}" for n in range(2, 9999))))
    return str(next(name for name in names if not os.path.lexists(root / name)))


def _essence(data: Mapping[str, Any]) -> dict[str, Any]:
    """What matters of it: our own pages are read the next time, and may give other reasons for the same."""
    return {**data, "generated_at": "", "_meta": section(data, "_meta").get("confirmed")}


def _document(root: Path, name: str, text: str) -> Page:
    why = _obstacle(root, Path(name)) or ("it is there already" if (root / name).exists() else "")
    return Page(name, "" if why else text, writes=not why, why=why)


def _obstacle(root: Path, place: Path) -> str:
    """Why nothing can be written in a place, if so: a link could lead anywhere."""
    for path in (*reversed(place.parents), place):
        is_file, there = path == place, root / path
        if there.is_symlink():
            return f"{path} is a link, and nothing is written through one"
        if there.exists() and there.is_dir() == is_file:
            return f"{path} is no {'file' if is_file else 'folder'}"
    return ""


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
