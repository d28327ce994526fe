"""What a tree lists: its files, its submodules."""

from collections.abc import Iterable

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.git import Git


@frozen
class Entry:
    """One line of a tree."""

    mode: str
    id: str
    size: int
    """In bytes; nothing for a submodule and for an object that is not there."""
    name: str

    @property
    def is_submodule(self) -> bool:
        """Does it stand for a commit of another repository?"""
        return self.mode == "160000"

    @property
    def is_file(self) -> bool:
        """Is it a file, and not a link?"""
        return self.mode.startswith("100")


def list_tree(git: Git, tree: str) -> tuple[Entry, ...]:
    """Every line of a tree, named by its id, and of the trees in it."""
    listed = git.once("ls-tree", "-r", "-l", "-z", tree).decode(errors="surrogateescape").split("\0")
    return tuple(_entry(line) for line in listed if line)


def submodules(entries: Iterable[Entry]) -> dict[str, str]:
    """The commit of each submodule, by its place."""
    return {entry.name: entry.id for entry in entries if entry.is_submodule}


def governing(entries: Iterable[Entry]) -> dict[str, str]:
    """Everything that says which submodules there are: their places, and the files that name them."""
    return {
        entry.name: entry.id
        for entry in entries
        if entry.is_submodule or entry.name.rsplit("/", 1)[-1].lower() == ".gitmodules"
    }


def _entry(line: str) -> Entry:
    about, _, name = line.partition("\t")
    mode, _kind, found, size = about.split()
    return Entry(mode, found, int(size) if size.isdigit() else 0, name)
