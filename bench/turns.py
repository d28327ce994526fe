"""What the harness adds to a model: against a bare loop over the same SDK and the same loopback model.

`python bench/turns.py` prints the table; `make bench` runs it. Everything is measured in one run.
"""

import contextlib
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from harness_executor.demo.sample import REQUEST, make_sample
from harness_executor.demo.script import HONEST
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.loopback.trouble import Trouble
from harness_executor.providers.script import Script

TURNS = 20
CROWD = 8
LATENCY = 0.5
DONE = {"calls": [{"name": "submit_result", "arguments": {"status": "failed", "summary": "nothing to do"}}]}
HERE = Path(__file__).parent


class Watched(LoopbackModel):
    """A loopback model that remembers when each request came."""

    times: list[float]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Trouble]:
        """Note the moment as well."""
        self.times.append(time.monotonic())
        return super().take(path, headers, body)


def _shell(turn: int) -> dict[str, Any]:
    return {"calls": [{"name": "shell", "arguments": {"command": f"echo {turn}"}}]}


def _serve(line: Connection, turns: int, delay: float) -> None:
    replies = [*map(_shell, range(turns)), DONE]
    model = Watched(Script({**HONEST.lines, "executor": [{"replies": replies}]}), delay=delay)
    model.times = []
    with model:
        line.send(model.url)
        while line.recv() == "give":
            line.send((model.times, model.bodies))


@dataclass(frozen=True)
class Seen:
    """What the model saw of one run."""

    times: list[float]
    bodies: list[bytes]
    cpu: float
    """Seconds of processor time of the run and all it started, from the first request on."""
    began: float
    peak: dict[str, float]
    """Memory in MiB while it ran."""

    def executor(self) -> list[tuple[float, dict[str, Any]]]:
        """The requests of the executor, with their times."""
        asked = zip(self.times, map(json.loads, self.bodies), strict=True)
        return [(at, body) for at, body in asked if "You are the executor" in body.get("system", "")]


@contextmanager
def _model(
    turns: int, delay: float = 0.0
) -> Iterator[tuple[str, Callable[[], tuple[list[float], list[bytes]]]]]:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_serve, args=(theirs, turns, delay))
    server.start()
    try:
        url = ours.recv()

        def give() -> tuple[list[float], list[bytes]]:
            ours.send("give")
            answer: tuple[list[float], list[bytes]] = ours.recv()
            return answer

        yield url, give
    finally:
        ours.send("stop")
        server.join()


def _run(argv: list[str], turns: int, *, delay: float = 0.0, look: float = 0.0) -> Seen:
    """Run a program against a model of its own; with `look`, measure its memory after so many seconds."""
    with _model(turns, delay) as (url, give), tempfile.TemporaryDirectory() as home:
        env = {
            "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
            "HOME": home,
            "ANTHROPIC_API_KEY": "sk-bench-0123456789",
            "ANTHROPIC_BASE_URL": url,
        }
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not give()[0] and process.poll() is None:
            time.sleep(0.005)
        started = _used(process.pid)
        time.sleep(look)
        peak = _memory(process.pid) if look else {}
        said = process.communicate()[1]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times, bodies = give()
        if not times:
            sys.exit(f"nothing was asked: {said.decode()[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - started
    return Seen(times, bodies, cpu, began, peak)


def _family(root: int) -> set[int]:
    """A process and all below it."""
    family, grown = {root}, True
    while grown:
        more = {pid for pid, parent in _parents().items() if parent in family and pid not in family}
        family |= more
        grown = bool(more)
    return family


def _used(root: int) -> float:
    """Seconds of processor time that a process and all below it have used so far."""
    ticks = 0
    for pid in _family(root):
        with contextlib.suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory(root: int) -> dict[str, float]:
    """MiB that the processes below one share and have for themselves; the one itself is left out."""
    below = _family(root)
    rolls = {pid: _roll(pid) for pid in below}
    alone = sorted(
        roll["Private_Clean"] + roll["Private_Dirty"] for pid, roll in rolls.items() if pid != root
    )
    return {
        "all": sum(roll["Pss"] for roll in rolls.values()) / 1024,
        "below": sum(roll["Pss"] for pid, roll in rolls.items() if pid != root) / 1024,
        "each": median(alone[-CROWD - 1 : -1] or [0]) / 1024,
    }


def _parents() -> dict[int, int]:
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    return found


def _roll(pid: int) -> dict[str, int]:
    sums = {"Pss": 0, "Private_Clean": 0, "Private_Dirty": 0}
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in sums:
                sums[name] = int(rest.split()[0])
    except OSError:
        pass
    return sums


def per_turn(seen: Seen) -> float:
    """Milliseconds from one request of the executor to the next, the median."""
    times = [at for at, _ in seen.executor()]
    return median(later - earlier for earlier, later in pairwise(times)) * 1000


def fixed_tokens(seen: Seen) -> float:
    """Tokens of what every request repeats, by the usual four bytes each."""
    body = seen.executor()[0][1]
    return len(json.dumps([body["system"], body["tools"]], separators=(",", ":"))) / 4


def repeated(seen: Seen) -> float:
    """The smallest share of a request that the next one repeats byte for byte, from its beginning."""
    texts = [_prompt(body) for _, body in seen.executor()]
    return min(_same(earlier, later) / len(earlier) for earlier, later in pairwise(texts))


def _same(one: str, other: str) -> int:
    """How many characters two texts have in common from their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def _prompt(body: dict[str, Any]) -> str:
    """A request in the order a model reads it, without the bracket that ends it."""
    return json.dumps([body["tools"], body["system"], body["messages"]])[:-2]


def main() -> int:
    """Measure and print."""
    python = [sys.executable, str(HERE / "turning.py")]
    bare, ours = _run([*python, "bare", "1"], TURNS), _run([*python, "ours", "1"], TURNS)
    crowd = _run([*python, "ours", str(CROWD)], TURNS, delay=LATENCY, look=TURNS * LATENCY / 2)
    bare_crowd = _run([*python, "bare", str(CROWD)], TURNS, delay=LATENCY, look=TURNS * LATENCY / 2)
    with tempfile.TemporaryDirectory() as folder:
        repo = make_sample(Path(folder) / "repo")
        command = [sys.executable, "-m", "harness_executor", "run", REQUEST, "--repo", str(repo)]
        run = _run([*command, "--model", "anthropic:bench"], 1)
    rows = [
        ("one turn, ms", per_turn(ours), per_turn(bare), "≤ 2"),
        ("processor time of a turn, ms", _cpu(ours), _cpu(bare), ""),
        ("start to first request, ms", _first(run), _first(bare), "≤ 2"),
        (f"{CROWD} at once: time over the ideal", _stretch(crowd), _stretch(bare_crowd), "≤ 1.25"),
        (f"{CROWD} at once: memory together, MiB", crowd.peak["below"], bare_crowd.peak["all"], "≤ 250"),
        ("memory of one alone, MiB", crowd.peak["each"], bare_crowd.peak["each"], ""),
    ]
    print(f"{'':<40}{'harness':>10}{'bare SDK':>10}{'ratio':>8}  aim")
    for name, mine, floor, aim in rows:
        print(f"{name:<40}{mine:>10.2f}{floor:>10.2f}{mine / max(floor, 1e-9):>8.2f}  {aim}")
    print(f"{'fixed prompt (guide and tools), tokens':<40}{fixed_tokens(ours):>10.0f}{'':>18}  ≤ 2000")
    print(f"{'share of a request the next one repeats':<40}{repeated(ours):>10.2%}{'':>18}  ≥ 99 %")
    return 0


def _cpu(seen: Seen) -> float:
    return seen.cpu / TURNS * 1000


def _first(seen: Seen) -> float:
    return (seen.times[0] - seen.began) * 1000


def _stretch(seen: Seen) -> float:
    return (max(seen.times) + LATENCY - min(seen.times)) / ((TURNS + 1) * LATENCY)


if __name__ == "__main__":
    sys.exit(main())
