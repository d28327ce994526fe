"""How often the file tools leave their tree while a folder of it is swapped for a link all the time.

`python bench/races.py --attempts 1000000` prints the counts; `make races` runs it. Two processes: one
swaps, one uses the tools. The control is a path that is followed and judged, and opened afterwards.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness_executor.tools.base import Place
from tests.tools.racing import Score, careless_act, make_ring, race, tool_acts

CONTROL = 50_000
"""Attempts of the control, at most."""


def main() -> int:
    """Race, and say what was left of the tree."""
    parser = argparse.ArgumentParser(description="Race the file tools against a link.")
    parser.add_argument("--attempts", type=int, default=1_000_000)
    attempts = parser.parse_args().attempts
    with tempfile.TemporaryDirectory() as folder:
        ring = make_ring(Path(folder, "control"))
        control = race(ring, [careless_act(ring)], min(attempts, CONTROL))
        print(_row("control", control), flush=True)
        ring = make_ring(Path(folder, "tools"))
        tools = race(ring, tool_acts(Place(ring.tree, Path(folder, "output"))), attempts)
        print(_row("tools", tools), flush=True)
    return 1 if tools.escapes or not control.escapes else 0


def _row(name: str, score: Score) -> str:
    return (
        f"{name}: {score.attempts} attempts, {score.done} reached a file, "
        f"{score.escapes} escapes, {score.seconds:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
