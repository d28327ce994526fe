"""What a test is called: the same on base and change, wherever the tree lies."""

from collections.abc import Iterable

LONGEST = 400
"""Letters of a name that are kept."""


def named(file: str, names: Iterable[str], root: str = "") -> str:
    """`file::name::name`, with the file as the project knows it."""
    parts = [part for part in (short(file, root), *names) if part]
    return "::".join(parts).replace("\n", " ")[:LONGEST]


def short(file: str, root: str) -> str:
    """A file as it is called in the tree."""
    place = file.removeprefix("file://").replace("\\", "/")
    return place.removeprefix(f"{root}/").removeprefix("./") if root else place.removeprefix("./")
