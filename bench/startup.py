"""What `harness --help` costs, as a ratio of a bare Python, in one run: median CPU of 20 starts each."""

import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

STARTS = 20
LIMIT = 3.0
BIN = Path(sys.executable).parent


def cpu_of(command: list[str]) -> float:
    """CPU seconds, user and system, of one start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={"PATH": os.defpath})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def main() -> int:
    """Measure both in turn, so that a busy moment meets both."""
    commands = {
        "python3 -c pass": [sys.executable, "-c", "pass"],
        "harness --help": [str(BIN / "harness"), "--help"],
    }
    for command in commands.values():
        cpu_of(command)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            seconds[name].append(cpu_of(command))
    medians = {name: round(statistics.median(values) * 1000, 1) for name, values in seconds.items()}
    ratio = round(medians["harness --help"] / medians["python3 -c pass"], 2)
    print(json.dumps({"cpu_ms_median": medians, "ratio": ratio, "limit": LIMIT, "starts": STARTS}, indent=2))
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
