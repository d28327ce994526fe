"""`harness verify` with a watch on its parts: prints where the time went, as the last line on standard error.

`bench/verify.py` starts it with the moment at which it did so, and the words of the command.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

BEGAN = float(sys.argv[1])
SPANS: list[tuple[str, float, float]] = []
"""What, from when, to when."""


def watch(owner: Any, name: str, part: str) -> None:
    """Note down when a function begins and ends."""
    function: Callable[..., Any] = getattr(owner, name)

    def watched(*words: Any, **named: Any) -> Any:
        began = time.monotonic()
        try:
            return function(*words, **named)
        finally:
            SPANS.append((part, began, time.monotonic()))

    setattr(owner, name, watched)


def total(part: str) -> float:
    """Seconds of a part of which there is one at a time."""
    return sum(end - begin for name, begin, end in SPANS if name == part)


def longest(part: str) -> float:
    """Seconds of the slowest of parts that run beside each other."""
    return max((end - begin for name, begin, end in SPANS if name == part), default=0.0)


def put_watches() -> None:
    """Watch the parts that together are nearly everything."""
    from harness_executor.cli import beginning, verify, verifying  # noqa: PLC0415 - loading it is part of what is measured
    from harness_executor.evidence import differential, examination  # noqa: PLC0415 - as above
    from harness_executor.evidence.server import Server  # noqa: PLC0415 - as above
    from harness_executor.sandbox.bubblewrap import Bubblewrap  # noqa: PLC0415 - as above
    from harness_executor.workspace.export import Desk  # noqa: PLC0415 - as above

    watch(verifying, "read_scenarios", "read")
    watch(beginning, "choose", "trial")
    for owner, name in ((verifying, "_subject"), (verifying, "_known"), (examination, "_places")):
        watch(owner, name, "git")
    watch(verifying, "examine", "examined")
    watch(examination, "observe", "servers")
    watch(Bubblewrap, "open", "open")
    watch(Server, "wait_ready", "ready")
    watch(differential, "_carry_out_all", "asked")
    watch(Server, "stop", "closed")
    watch(Desk, "clear", "cleared")
    watch(verify, "main", "all")


def main() -> int:
    """Run the command, and tell."""
    from harness_executor.cli.door import harness  # noqa: PLC0415 - as above

    put_watches()
    code = harness(sys.argv[2:])
    ended = time.monotonic()
    began = next(begin for name, begin, _ in SPANS if name == "all")
    parts = {
        "start of the program, imports": began - BEGAN,
        "trial of the box": total("trial"),
        "  meanwhile: reading the scenarios": total("read"),
        "git, export of both sides": total("git"),
        "four servers at once, boxes and all": total("servers"),
        "  the slowest box to open": longest("open"),
        "  the slowest server to be ready": longest("ready"),
        "  the slowest pass of scenarios": longest("asked"),
        "  the slowest to close": longest("closed"),
        "clearing away": total("cleared"),
    }
    rest = ended - BEGAN - sum(taken for name, taken in parts.items() if not name.startswith(" "))
    own = {"  of it all, from the trees to the evidence": total("examined")}
    sys.stderr.write(json.dumps({**parts, "comparison, report, the rest": rest, **own}) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
