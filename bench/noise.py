"""How often the verdict over the same change differs, when the server is never twice the same.

`python bench/noise.py --times 100` verifies an honest change and four broken ones in turn, as often as
that in all; `make noise` runs it. A verdict that is wrong fails it, and is shown whole.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.noise.project import CHANGES, SCENARIOS, START, Change, make_project  # noqa: E402 - as bench/claims.py

VERDICTS = {0: "accepted", 4: "refused"}


def main() -> int:
    """Verify again and again, and count the verdicts."""
    parser = argparse.ArgumentParser(description="Verify a noisy server again and again.")
    parser.add_argument("--times", type=int, default=100)
    times = parser.parse_args().times
    seen: dict[str, Counter[str]] = {change.name: Counter() for change in CHANGES}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        roots = [make_project(Path(folder, str(number)), change) for number, change in enumerate(CHANGES)]
        os.environ["HOME"] = folder
        # every second verification is of the honest change
        for number in range(times):
            at = 0 if number % 2 == 0 else 1 + (number // 2) % (len(CHANGES) - 1)
            seen[CHANGES[at].name][_verdict(roots[at])] += 1
    for change in CHANGES:
        print(f"{change.name:<26}{dict(seen[change.name])}")
    print(f"{times} verifications in {time.monotonic() - began:.0f} s")
    return 0 if all(_is_right(change, seen[change.name]) for change in CHANGES) else 1


def _is_right(change: Change, verdicts: Counter[str]) -> bool:
    return set(verdicts) <= {"accepted" if change.is_honest else "refused"}


def _verdict(root: Path) -> str:
    words = [sys.executable, "-m", "harness_executor", "verify", "--base", "HEAD", "--start", START]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [*words, "--scenarios", str(SCENARIOS)],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    verdict = VERDICTS.get(ran.returncode, f"exit {ran.returncode}")
    print(f"{root.name} {verdict}", flush=True)
    if (verdict == "accepted") != CHANGES[int(root.name)].is_honest:
        print(f"{ran.stdout}{ran.stderr}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
