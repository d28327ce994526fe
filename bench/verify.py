"""What `harness verify` costs: against two bare starts of the same server and the same requests, once each.

`python bench/verify.py` measures the sample project of `harness demo`; `--app NAME`, as often as wanted,
one of tests/apps instead that needs no step before its start (`make apps` fetches their packages). `make
bench` runs it. Both are measured in one run, in turn, with `--checks none`, so that only verification is
measured. The floor starts each side once, on the machine, one after the other, and asks it once; `harness
verify` starts each side twice, since only a second start tells noise, all at once, in boxes it has tried, and
asks every server. So a second ratio counts against as many bare starts as it makes, and its processor time,
over the cores, is the least that it could take. Two more ratios leave out what a program that runs already,
as `harness-run` does, has behind it: its start, and the trial of its box. The ratios fail nothing; a person
looks at them.
"""

import argparse
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from harness_executor.demo.sample import make_sample  # noqa: E402 - as bench/noise.py
from harness_executor.evidence.differential import RUNS  # noqa: E402 - as above
from harness_executor.evidence.scenario_file import load_scenarios  # noqa: E402 - as above
from harness_executor.kernel.scenario import Scenario, Step  # noqa: E402 - as above
from tests.apps.project import apps, check_out  # noqa: E402 - as above
from tests.conftest import commit_all  # noqa: E402 - as above
from tests.pages import add_stats, blocks  # noqa: E402 - as above

ROUNDS = 7
AIM = 1.5
ALONE = "  of it all, from the trees to the evidence"
"""What a verification costs in a program that runs already, as in `harness-run`."""


@dataclass(frozen=True)
class Subject:
    """A project before and after a change, and how its server is started and asked."""

    name: str
    base: Path
    change: Path
    scenarios: Path
    start: str
    """The command, with `{port}` in it."""
    ready: str = "/health"
    env: Mapping[str, str] = field(default_factory=dict)
    requests: tuple[Scenario, ...] = ()
    """What the floor sends, besides the look whether it is ready."""

    @property
    def words(self) -> tuple[str, ...]:
        """The command that is measured."""
        return ("verify", "--base", "HEAD", "--scenarios", str(self.scenarios), "--checks", "none")


def sample(folder: Path) -> Subject:
    """The project of `harness demo`, with the change and the scenarios that the README shows."""
    base, change = (make_sample(folder / name) for name in ("base", "change"))
    add_stats(change)
    file = change / "scenarios.yaml"
    file.write_text(next(one.text for one in blocks("README.md") if one.language == "yaml"), encoding="utf-8")
    return Subject(
        "sample", base, change, file, "python3 app.py --port {port}", requests=load_scenarios(file)
    )


def of_app(name: str, folder: Path) -> Subject:
    """One of tests/apps, started as `harness init` found it."""
    app = next((app for app in apps() if app.name == name), None) or sys.exit(f"tests/apps has no {name}")
    base, change = (check_out(app, folder / side) for side in ("base", "change"))
    harness(("init",), change.root, folder)
    commit_all(change.root, "Add harness/")
    change.become_feature()
    startup = json.loads((change.root / "harness/environment.json").read_text(encoding="utf-8"))["startup"]
    ready = startup["readiness"]["config"].get("endpoint") or "/"
    start = f"cd {startup['working_dir']} && {startup['command']}"
    return Subject(name, base.root, change.root, app.scenarios, start, ready, startup.get("env") or {})


@contextmanager
def bare_server(tree: Path, subject: Subject) -> Iterator[int]:
    """A server on the machine that answers; gives its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    given = {name: value.replace("{port}", str(port)) for name, value in subject.env.items()}
    path = os.pathsep.join([str(tree / ".venv/bin"), str(tree / "node_modules/.bin"), os.environ["PATH"]])
    process = subprocess.Popen(
        ["sh", "-c", subject.start.replace("{port}", str(port))],
        cwd=tree,
        env={"HOME": str(tree.parent), "PORT": str(port), **given, "PATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _await_answer(port, subject.ready)
        yield port
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # `python3` may be a shim that has the real one as a child
        process.wait()


def _await_answer(port: int, path: str) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            if ask(port, "GET", path)[0] < 500:
                return
        except OSError:
            time.sleep(0.002)
    sys.exit(f"a bare server did not answer at {path}")


def ask(port: int, method: str, path: str, body: object = None) -> tuple[int, bytes]:
    """One request over a connection of its own: the status and the body of the answer."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        given = {} if body is None else {"content-type": "application/json"}
        client.request(method, path, None if body is None else json.dumps(body), given)
        answer = client.getresponse()
        return answer.status, answer.read()
    finally:
        client.close()


def send(port: int, scenarios: tuple[Scenario, ...]) -> None:
    """Every request of the scenarios, once."""
    known: dict[str, str] = {}
    for scenario in scenarios:
        known = {**dict.fromkeys(scenario.let, "milk"), **known}
        for step in scenario.steps:
            known |= _sent(port, step, known)


def _sent(port: int, step: Step, known: dict[str, str]) -> dict[str, str]:
    if step.request is None:
        sys.exit("the floor can send requests only")
    call = json.dumps([step.request.method, step.request.path, step.request.json])
    filled = re.sub(r"\{\{ (\w+) \}\}", lambda found: known[found[1]], call)
    answer: dict[str, Any] = json.loads(ask(port, *json.loads(filled))[1])
    return {name: str(answer[path.removeprefix("$.")]) for name, path in step.capture.items()}


def seconds(run: Callable[[], object]) -> float:
    """How long something takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def processor() -> float:
    """Seconds of processor time that the children of this program have used, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def floor(subject: Subject) -> dict[str, float]:
    """Seconds of the two starts, and of the requests to both; ending the servers is not counted."""
    taken = {"start": 0.0, "requests": 0.0}
    for tree in (subject.base, subject.change):
        began = time.perf_counter()
        with bare_server(tree, subject) as port:
            taken["start"] += time.perf_counter() - began
            taken["requests"] += seconds(lambda port=port: send(port, subject.requests))  # type: ignore[misc]  # bound at once
    return taken


def harness(words: tuple[str, ...], tree: Path, home: Path, *program: str) -> str:
    """One run of `harness`, in a process of its own, as a user has it; gives its standard error."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    command = [sys.executable, *(program or ("-m", "harness_executor")), *words]
    ran = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"`harness {' '.join(words)}` did not hold: {ran.stdout}{ran.stderr}")
    return ran.stderr


def watched(subject: Subject, home: Path) -> dict[str, float]:
    """One `harness verify` with a watch on its parts: where its time went, in seconds."""
    program = (str(ROOT / "bench" / "verifying.py"), str(time.monotonic()))
    return dict(json.loads(harness(subject.words, subject.change, home, *program).splitlines()[-1]))


def middle(rows: list[dict[str, float]]) -> dict[str, float]:
    """The median of each, in milliseconds."""
    return {name: median(row[name] for row in rows) * 1000 for name in rows[0]}


def measure(subject: Subject, home: Path) -> None:
    """Measure in turn, and print."""
    bare: list[dict[str, float]] = []
    whole: list[float] = []
    used: list[float] = []
    parts: list[dict[str, float]] = []
    harness(subject.words, subject.change, home)
    for _ in range(ROUNDS):
        bare.append(floor(subject))
        before = processor()
        whole.append(seconds(lambda: harness(subject.words, subject.change, home)))
        used.append(processor() - before)
        parts.append(watched(subject, home))
    least = middle(bare)
    mine, ground = median(whole) * 1000, median(sum(row.values()) for row in bare) * 1000
    spent = median(used) * 1000
    load = " ".join(Path("/proc/loadavg").read_text().split()[:3])
    print(f"{subject.name}: load {load}; {os.cpu_count()} cores; median of {ROUNDS}, without checks")
    print(f"{'harness verify, ms':<44}{mine:>8.0f}\n{'  its processor time':<44}{spent:>8.0f}")
    print(f"{'floor: two bare starts and the requests, ms':<44}{ground:>8.0f}")
    print(f"{'  the two starts':<44}{least['start']:>8.0f}\n{'  the requests':<44}{least['requests']:>8.0f}")
    print(f"{f'ratio (aim ≤ {AIM})':<44}{mine / ground:>8.2f}")
    print(f"{'ratio to as many bare starts as it makes':<44}{mine / ground / RUNS:>8.2f}")
    where = middle(parts)
    alone = where[ALONE] / ground
    print(f"{'ratio without the start of the program':<44}{alone:>8.2f}")
    print(f"{'  to as many bare starts as it makes':<44}{alone / RUNS:>8.2f}")
    print("\nwhere the time of `harness verify` goes, ms")
    for name, taken in where.items():
        print(f"  {name:<42}{taken:>8.0f}")
    print()


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description="What `harness verify` costs, against bare starts.")
    parser.add_argument("--app", action="append", metavar="NAME", help="a project of tests/apps")
    names = parser.parse_args().app
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for subject in [of_app(name, home / name) for name in names] if names else [sample(home)]:
            measure(subject, home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
