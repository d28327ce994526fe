"""Kills coordinators with servers up, again and again, and counts what they leave."""

import argparse
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.reliability.killing import kill_one


def main() -> int:
    """Kill as often as asked; every survivor is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=3)
    options = parser.parse_args()
    began, bad = time.monotonic(), 0
    with ThreadPoolExecutor(options.at_once) as pool:
        for number, left in enumerate(pool.map(_kill, range(options.kills)), 1):
            bad += bool(left)
            if left or number % 50 == 0:
                print(f"{number} killed, {bad} left something {' | '.join(left)}".rstrip(), flush=True)
    print(f"{options.kills} kills, {bad} left something, in {time.monotonic() - began:.0f} s")
    return 1 if bad else 0


def _kill(seed: int) -> list[str]:
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    try:
        return kill_one(folder, seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
