"""A process that seals evidence once it is told to: `python -m tests.store.sealing KEY`."""

import sys
from pathlib import Path

from harness_executor.store.seal import Seal
from tests.kernel.examples import EVIDENCE


def main() -> None:
    """Wait for a line, then print the seal."""
    sys.stdin.readline()
    print(Seal(Path(sys.argv[1])).put(EVIDENCE).seal)


if __name__ == "__main__":
    main()
