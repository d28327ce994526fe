"""Trees outside the repository: exported to be worked on, and read back as trees."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from pathlib import Path

from harness_executor import faults
from harness_executor.errors import RepositoryError
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.janitor import open_up
from harness_executor.workspace.dependencies import DEPENDENCIES, beside, installs
from harness_executor.workspace.git import Git, find_git
from harness_executor.workspace.installed import with_imports
from harness_executor.workspace.pointers import Pointer, fetched, find_pointers, text_of
from harness_executor.workspace.repository import Repository
from harness_executor.workspace.trees import Entry, governing, list_tree, submodules

STATE = tuple(
    f"{root}/{part}" for root in ("harness", ".harness") for part in ("tasks", "trace", "memory", "sessions")
)
"""Where the harness keeps its state; never part of a change."""

_ON_DISK = ("core.autocrlf", "core.eol", "core.fileMode", "core.symlinks")
"""Settings of the user's that say how files look on disk; none of them runs anything."""

_NEVER_COMMITTED = "\n".join(
    [
        *("__pycache__", "*.pyc", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage", ".DS_Store"),
        *DEPENDENCIES,
        *(f"/{place}" for place in STATE),
        "",
    ]
)

_MOST_READ = 100
"""Hidden files that are read."""

Hides = Callable[[str], bool]
"""Is a file of this name left out?"""


def _nothing(_name: str) -> bool:
    return False


@frozen
class Desk:
    """A git directory of our own over the user's objects: no hook, filter or setting of theirs applies."""

    repository: Repository
    path: Path
    git: Git

    def export(self, tree: str, target: Path, *more: Path, without: Hides = _nothing) -> Path:
        """Write a tree into a fresh folder without `.git`, or several, but for the files that are hidden."""
        index = self.path / f"export-{os.getpid()}-{target.name}.index"
        try:
            where = {"GIT_INDEX_FILE": str(index)}
            self.git.run("read-tree", tree, extra=where)
            hidden = _joined(entry.name for entry in self._hidden(tree, without))
            if hidden:
                words = ("-C", str(self.path), "update-index", "--force-remove", "-z", "--stdin")
                self.git.run(*words, stdin=hidden, extra={**where, "GIT_WORK_TREE": str(self.path)})
            for place in (target, *more):
                self._check_out(place, where)
        finally:
            index.unlink(missing_ok=True)
        faults.point("tree.exported")
        return target

    def _check_out(self, target: Path, index: Mapping[str, str]) -> None:
        draft = target.with_name(f".{target.name}.draft")
        for path in (draft, target):
            remove(path)
        draft.mkdir(parents=True)
        where = {**index, "GIT_WORK_TREE": str(draft)}
        self.git.run("-C", str(draft), "checkout-index", "--all", "--force", extra=where)
        draft.rename(target)

    def room(self, tree: Path, *, old: str = "", new: str = "", writable: bool = True) -> Room:
        """What a box shows of an exported tree; packages may be written to where their list was changed."""
        root = self.repository.root
        names = [name for both in self.names(old, new) for name in both] if old != new else []
        found = beside(root)
        free = {name: folder for name, folder in found.items() if _is_free(tree, name, folder)}
        known = [entry.name for entry in list_tree(self.git, old)] if old else ()
        return with_imports(Room(tree, root, free, installs(names, free), writable=writable), known)

    def snapshot(self, folder: Path, start: str, *, without: Hides = _nothing) -> str:
        """The tree of a folder, beginning with an earlier tree; what was hidden stays as it was there."""
        before = list_tree(self.git, start)
        modules = submodules(before)
        is_theirs = folder == self.repository.root
        if is_theirs:
            _refuse_any(self._moved(modules))
        else:
            _refuse_nested_git(folder)
            _refuse_any(name for name in modules if any(_files(folder / name)))
        hidden = [entry for entry in before if without(entry.name)]
        tree = self._write(folder, start, before, hidden)
        after = list_tree(self.git, tree) if tree != start else before
        added = submodules(after).keys() - modules.keys()
        if added:
            raise _nested(folder / min(added))
        if not is_theirs:
            _refuse_any(name for name, _ in governing(before).items() ^ governing(after).items())
        faults.point("git.tree.written")
        return tree

    def diff(self, old: str, new: str, *only: str) -> str:
        """The difference of two trees, or of some files of theirs, for people."""
        words = (
            "diff-tree",
            "-r",
            "-p",
            "--no-ext-diff",
            "--no-textconv",
            "--find-renames",
            "--no-color",
            old,
            new,
            "--",
            *only,
        )
        return self.git.run(*words, extra={"GIT_LITERAL_PATHSPECS": "1"}).decode(errors="replace")

    def names(self, old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files changed and the files created between two trees."""
        raw = self.git.once("diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new)
        parts = raw.decode(errors="surrogateescape").split("\0")
        pairs = list(zip(parts[0::2], parts[1::2], strict=False))
        return (
            tuple(_printable(name) for state, name in pairs if state != "A"),
            tuple(_printable(name) for state, name in pairs if state == "A"),
        )

    def held_back(self, tree: str, hides: Hides) -> dict[str, str]:
        """The files of a tree that are hidden, each with its text."""
        blobs = [entry for entry in self._hidden(tree, hides) if not entry.is_submodule][:_MOST_READ]
        texts = (self.git.run("cat-file", "blob", entry.id).decode(errors="replace") for entry in blobs)
        return {_printable(entry.name): text for entry, text in zip(blobs, texts, strict=True)}

    def commit(self, tree: str, parent: str, message: str, when: datetime) -> str:
        """A commit that is the same whenever it is made again."""
        name, address = self.repository.author()
        stamp = f"{int(when.timestamp())} +0000"
        who = {
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": address,
            "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": address,
            "GIT_COMMITTER_DATE": stamp,
        }
        made = self.git.text("commit-tree", tree, "-p", parent, stdin=message.encode(), extra=who)
        faults.point("git.commit.made")
        return made

    def made(self, branch: str, tree: str, parent: str, trailers: str) -> str | None:
        """The commit at the tip of a branch, if it is the one that these would make."""
        tip = self.repository.tip(branch)
        if tip is None:
            return None
        head, _, message = self.git.run("cat-file", "commit", tip).decode(errors="replace").partition("\n\n")
        lines = [line for line in head.split("\n") if line.startswith(("tree ", "parent "))]
        is_it = lines == [f"tree {tree}", f"parent {parent}"] and message.endswith(f"\n\n{trailers}")
        return tip if is_it else None

    def state_files(self, folder: Path) -> tuple[str, ...]:
        """Files in a tree that pose as state of the harness."""
        places = (folder / place for place in STATE if not (folder / place).parent.is_symlink())
        posing = islice((path for place in places for path in _files(place)), 20)
        return tuple(_printable(str(path.relative_to(folder))) for path in posing)

    def is_dirty(self) -> bool:
        """Does the user's working tree differ from HEAD, or hold files git does not know?"""
        head = self.repository.tree_of("HEAD")
        if any(self._moved(submodules(list_tree(self.git, head)))):
            return True
        return self.snapshot(self.repository.root, head) != head

    def notes(self, tree: str) -> tuple[str, ...]:
        """What an export of a tree leaves out, for the user."""
        listed = list_tree(self.git, tree)
        empty = sorted(submodules(listed))
        pointers = [pointer.entry.name for pointer in find_pointers(self.git, listed)]
        told = {
            "submodules are left empty": empty,
            "git-lfs pointers stay pointers, without their files": pointers,
        }
        return tuple(f"{what}: {_some(names)}" for what, names in told.items() if names)

    def clear(self) -> None:
        """Remove every folder of the desk."""
        remove(self.path)

    def _hidden(self, tree: str, hides: Hides) -> list[Entry]:
        listed = () if hides is _nothing else list_tree(self.git, tree)
        return [entry for entry in listed if hides(entry.name)]

    def _write(self, folder: Path, start: str, before: tuple[Entry, ...], hidden: list[Entry]) -> str:
        """The files of a folder as a tree, with those that were hidden from it."""
        index = self.path / f"snapshot-{os.getpid()}-{folder.name}.index"
        where = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(folder)}
        places = ["."]
        try:
            self.git.run("read-tree", start, extra={"GIT_INDEX_FILE": str(index)})
            if folder == self.repository.root:
                self._overlook(before, where)
                standing = (name for name in submodules(before) if (folder / name).is_dir())
                places += [f":(exclude,top,literal){name}" for name in standing]
            self.git.run("-C", str(folder), "add", "--all", "--", *places, extra=where)
            if folder == self.repository.root:
                self._add_tracked(before, where)
            links = _dependency_links(self.repository.root, folder)
            if links:
                self.git.run("-C", str(folder), "update-index", "--force-remove", "--", *links, extra=where)
            kept = [entry for entry in hidden if _is_away(folder, entry.name)]
            if kept:
                lines = _joined(f"{entry.mode} {entry.id}\t{entry.name}" for entry in kept)
                self.git.run("update-index", "-z", "--index-info", stdin=lines, extra=where)
            return self.git.text("write-tree", extra={"GIT_INDEX_FILE": str(index)})
        finally:
            index.unlink(missing_ok=True)

    def _add_tracked(self, before: tuple[Entry, ...], where: Mapping[str, str]) -> None:
        """Add what the user's git tracks although a pattern ignores it."""
        root, known = self.repository.root, {entry.name for entry in before}
        new = [name for name in self.repository.tracked() if name not in known and not _is_state(name)]
        there = [name for name in new if _stands(root, name)]
        if there:
            words = ("add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul")
            literal = {**where, "GIT_LITERAL_PATHSPECS": "1"}
            self.git.run("-C", str(root), *words, stdin=_joined(there), extra=literal)

    def _overlook(self, before: tuple[Entry, ...], where: Mapping[str, str]) -> None:
        """Keep in our index what the user's git would keep: files left out, and pointers with their files."""
        root = self.repository.root
        absent = self.repository.left_out() & {entry.name for entry in before}
        kept = [name for name in absent if not os.path.lexists(root / name)]
        known = find_pointers(self.git, before)
        for pointer in self._ruled(fetched(root, known), where):
            kept.append(pointer.entry.name)
            if pointer not in known:
                self._put(pointer, where)
        if kept:
            words = ("-C", str(root), "update-index", "--assume-unchanged", "-z", "--stdin")
            self.git.run(*words, stdin=_joined(kept), extra=where)

    def _ruled(self, pointers: tuple[Pointer, ...], where: Mapping[str, str]) -> tuple[Pointer, ...]:
        """Those of the pointers whose files the project still gives to git-lfs."""
        if not pointers:
            return ()
        words = ("-C", str(self.repository.root), "check-attr", "-z", "--stdin", "filter")
        said = self.git.run(*words, stdin=_joined(pointer.entry.name for pointer in pointers), extra=where)
        parts = said.decode(errors="surrogateescape").split("\0")
        ruled = {name for name, rule in zip(parts[0::3], parts[2::3], strict=False) if rule == "lfs"}
        return tuple(pointer for pointer in pointers if pointer.entry.name in ruled)

    def _put(self, pointer: Pointer, where: Mapping[str, str]) -> None:
        """Let our index have a pointer for the file that is on disk now."""
        blob = self.git.text("hash-object", "-w", "--stdin", stdin=text_of(pointer))
        line = _joined([f"{pointer.entry.mode} {blob}\t{pointer.entry.name}"])
        self.git.run("update-index", "-z", "--index-info", stdin=line, extra=where)

    def _moved(self, modules: Mapping[str, str]) -> Iterator[str]:
        """Submodules of the user's that stand at another commit."""
        stands = ((name, self.repository.submodule_at(name)) for name in modules)
        return (name for name, commit in stands if commit not in (None, modules[name]))


def open_desk(repository: Repository, path: Path) -> Desk:
    """A desk over a repository, made anew if there is none."""
    inside = path / "git"
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    env = {
        "GIT_DIR": str(inside),
        "GIT_OBJECT_DIRECTORY": str(repository.objects),
        "GIT_CEILING_DIRECTORIES": str(path.parent),
    }
    git = Git(find_git(repository.root), {**repository.git.env, **env})
    if not (inside / "info" / "exclude").exists():
        remove(inside)
        inside.mkdir(parents=True)
        git.run(
            "init",
            "--quiet",
            "--bare",
            f"--object-format={repository.object_format}",
            "--template=",
            str(inside),
        )
        ours = {"core.bare": "false", "core.quotePath": "false", "checkout.workers": "0"}
        with (inside / "config").open("a", encoding="utf-8", errors="surrogateescape") as settings:
            for key, value in {**ours, **repository.settings(_ON_DISK)}.items():
                settings.write(_setting(key, value))
        (inside / "info").mkdir(exist_ok=True)
        (inside / "info" / "exclude").write_text(_NEVER_COMMITTED + repository.excludes())
    return Desk(repository, path, git)


def _setting(key: str, value: str) -> str:
    """A setting as it stands in a file of git's."""
    section, _, name = key.partition(".")
    told = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'[{section}]\n\t{name} = "{told}"\n'


def _dependency_links(root: Path, folder: Path) -> list[str]:
    links = [name for name in beside(root) if (folder / name).is_symlink()]
    return [name for name in links if (folder / name).readlink() == root / name]


def _is_free(tree: Path, name: str, folder: Path) -> bool:
    """May a folder be shown in a tree? Not where the tree has something of its own, or a link on the way."""
    place = tree / name
    above = [tree / parent for parent in Path(name).parents]
    if any(path.is_symlink() or (path.exists() and not path.is_dir()) for path in above):
        return False
    if place.is_symlink():
        return place.readlink() == folder
    return not place.exists() or (place.is_dir() and not any(place.iterdir()))


def _is_away(folder: Path, name: str) -> bool:
    """Is nothing in the place of a file: neither itself, nor a file or link where its folder was?"""
    parents = [folder / parent for parent in list(Path(name).parents)[:-1]]
    blocked = any(path.is_symlink() or (path.exists() and not path.is_dir()) for path in parents)
    return not blocked and not os.path.lexists(folder / name)


def _stands(root: Path, name: str) -> bool:
    """Is a file or link there, and no link on the way to it?"""
    path = root / name
    is_file = path.is_symlink() or path.is_file()
    return is_file and not any((root / above).is_symlink() for above in Path(name).parents[:-1])


def _is_state(name: str) -> bool:
    return any(name == place or name.startswith(f"{place}/") for place in STATE)


def _refuse_nested_git(folder: Path) -> None:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if name.lower().rstrip(". ") == ".git":
                raise _nested(Path(parent))
        folders[:] = [name for name in folders if name not in DEPENDENCIES]


def _nested(place: Path) -> RepositoryError:
    return RepositoryError(
        f"{_printable(str(place))} holds a .git of its own", hint="remove it; nested repositories are refused"
    )


def _refuse_any(changed: Iterable[str]) -> None:
    for name in sorted(changed)[:1]:
        raise RepositoryError(
            f"{_printable(name)}: a submodule was changed",
            hint="change a submodule in its own repository, and which there are by hand",
        )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(_printable(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _joined(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\0" for name in names).encode(errors="surrogateescape")


def _files(place: Path) -> Iterator[Path]:
    if place.is_symlink():
        yield place
    else:
        yield from (path for path in place.rglob("*") if path.is_symlink() or not path.is_dir())


def _printable(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="replace")


def remove(path: Path) -> None:
    """Remove a file, or a folder with everything in it."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        with suppress(OSError):
            path.chmod(0o700)
        open_up(str(path))
        shutil.rmtree(path, ignore_errors=True)
