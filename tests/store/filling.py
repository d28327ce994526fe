"""Appends until the disk is full, makes room, goes on: `python -m tests.store.filling ROOT HOW`."""

import json
import resource
import sys
from pathlib import Path

from harness_executor.errors import DiskError
from harness_executor.kernel.events import Presented
from harness_executor.store.log import Log
from tests.store.place import OPENED, Place

SIZES = (300, 4000, 900, 70, 1700)
"""Sizes of facts, so that the disk gets full at many places of a page."""


def append_until_full(log: Log, acked: list[str]) -> str:
    """Append until it fails; gives the words of the failure."""
    for number in range(10_000):
        text = f"{len(acked)}-".ljust(SIZES[number % len(SIZES)], "x")
        try:
            log.append(Presented(text))
        except DiskError as error:
            return error.message
        acked.append(text)
    raise AssertionError("the disk never got full")


def main() -> None:
    """Fill, look, make room, go on, look again; what happened goes to standard output."""
    root, how = Path(sys.argv[1]), sys.argv[2]
    place = Place(root)
    ballast = place.layout.root / "ballast"
    acked: list[str] = []
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
    else:
        place.layout.root.mkdir(exist_ok=True)
        ballast.write_bytes(b"x" * 20_000)
    with place.open() as log:
        log.append(OPENED)
        said = append_until_full(log, acked)
        seen = [fact.path for fact in place.facts() if isinstance(fact, Presented)]
        if how == "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        ballast.unlink(missing_ok=True)
        if how != "reopen":
            acked.append("after")
            log.append(Presented("after"))
    if how == "reopen":
        place.write(Presented("after"))
        acked.append("after")
    left = [fact.path for fact in place.facts() if isinstance(fact, Presented)]
    print(json.dumps({"said": said, "acked": acked, "seen": seen, "left": left}))


if __name__ == "__main__":
    main()
