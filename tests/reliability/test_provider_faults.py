"""What becomes of a whole run when the service fails: parked with its cause, and one command goes on."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

import pytest

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.kernel.events import CallReserved, CallStumbled, Cause, Fact, TaskPaused
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.store.record import read
from tests.canary import CANARY
from tests.patience import until

F = TypeVar("F", bound=Fact)

ATTEMPTS = 4
OVERLOADED = Trouble(529, headers={"retry-after": "0"})


class Service(LoopbackModel):
    """The honest script behind real HTTP; every request is noted with its moment."""

    def __init__(self, troubles: Iterable[Trouble | None]) -> None:
        super().__init__(HONEST, troubles)
        self.moments: list[float] = []

    def __enter__(self) -> "Service":
        super().__enter__()
        return self

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Trouble]:
        """Note a request."""
        self.moments.append(time.monotonic())
        return super().take(path, headers, body)


class Bench:
    """A repository, a home, and a service in trouble."""

    def __init__(self, repo: Path, home: Path, service: Service) -> None:
        self.repo, self.service = repo, service
        config = home / ".config" / "harness-executor" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f"[caps]\nattempts = {ATTEMPTS}\n")
        self.env = {
            "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
            "HOME": str(home),
            "ANTHROPIC_API_KEY": CANARY,
            "ANTHROPIC_BASE_URL": service.url,
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Our command, in this repository."""
        return subprocess.Popen(
            [sys.executable, "-m", "harness_executor", *words, "--repo", str(self.repo)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, process: subprocess.Popen[str]) -> tuple[int, Any]:
        """Its exit code and what it printed."""
        out, err = process.communicate(timeout=240)
        assert out, err
        assert "Traceback" not in err
        assert CANARY not in out + err
        return process.returncode, json.loads(out)

    def run(self) -> tuple[int, Any]:
        """`harness run` of the demo's request."""
        return self.end(self.start("run", REQUEST, "--model", "anthropic:honest", "--json"))

    def resume(self) -> tuple[int, Any]:
        """`harness resume` of the only task."""
        return self.end(self.start("resume", self.task.name, "--json"))

    @property
    def task(self) -> Path:
        """The folder of the only task."""
        return next((self.repo / "harness" / "tasks").glob("*/events.jsonl")).resolve().parent

    def facts(self, kind: type[F]) -> list[F]:
        """What the log says of one kind."""
        records = read(self.task / "events.jsonl").records
        return [record.fact for record in records if isinstance(record.fact, kind)]


@pytest.mark.parametrize(
    ("troubles", "cause"),
    [
        pytest.param([Trouble(402)], Cause.PROVIDER_QUOTA, id="p03: 402"),
        pytest.param(
            [Trouble(429, error="enforced_spend_limit_reached")], Cause.PROVIDER_QUOTA, id="p03: spend limit"
        ),
        pytest.param([OVERLOADED] * ATTEMPTS, Cause.PROVIDER_DOWN, id="p05: overloaded for ever"),
        pytest.param([None, None, Trouble(401)], Cause.AUTH, id="p20: key revoked in the middle"),
        pytest.param(
            [Trouble(429, headers={"retry-after": "86400"})],
            Cause.PROVIDER_DOWN,
            id="p02: asked to wait a day",
        ),
    ],
)
def test_a_service_that_fails_parks_the_task(
    sample: Path, home: Path, troubles: list[Trouble | None], cause: Cause
) -> None:
    """P02, P03, P05, P20: exit 3, the cause in the log, no request too many, and `resume` ends it."""
    with Service(troubles) as service:
        bench = Bench(sample, home, service)
        code, shown = bench.run()
        assert (code, shown["status"], shown["waiting_for"]) == (3, "blocked", cause.value)
        assert len(service.requests) == len(troubles)
        assert len(bench.facts(CallReserved)) == len(troubles)
        assert [fact.cause for fact in bench.facts(TaskPaused)] == [cause]
        assert "harness resume" in bench.facts(TaskPaused)[0].hint
        code, shown = bench.resume()
        assert (code, shown["status"]) == (0, "completed")
    assert not any(CANARY in path.read_text(errors="replace") for path in _files(bench.task))


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_p04_stumbles_are_written_down_with_their_requests(sample: Path, home: Path) -> None:
    """After 529 three times the run completes, and the log names each request that failed."""
    with Service([OVERLOADED] * 3) as service:
        bench = Bench(sample, home, service)
        code, shown = bench.run()
        assert (code, shown["status"]) == (0, "completed")
        assert len(bench.facts(CallReserved)) == len(service.requests)
    stumbles = bench.facts(CallStumbled)
    assert [(one.attempt, one.status, one.request_id) for one in stumbles] == [
        (1, 529, "req_1"),
        (2, 529, "req_2"),
        (3, 529, "req_3"),
    ]


def test_p05_every_failed_attempt_is_in_the_log(sample: Path, home: Path) -> None:
    """A service that is down for good leaves its attempts in the log, and a second try as many at most."""
    with Service(repeat(OVERLOADED)) as service:
        bench = Bench(sample, home, service)
        bench.run()
        assert [one.attempt for one in bench.facts(CallStumbled)] == [1, 2, 3, 4]
        assert bench.facts(CallStumbled)[-1].wait == 0.0
        code, _ = bench.resume()
        assert code == 3
        assert len(service.requests) == 2 * ATTEMPTS
        assert len(bench.facts(TaskPaused)) == 2


def test_p24_a_crash_in_a_wait_keeps_the_rest_of_it(sample: Path, home: Path) -> None:
    """Killed while it waits, a run that is resumed sends nothing earlier than the service asked."""
    seconds = 6.0
    with Service([Trouble(429, headers={"retry-after": f"{seconds:.0f}"}), OVERLOADED]) as service:
        bench = Bench(sample, home, service)
        process = bench.start("run", REQUEST, "--model", "anthropic:honest", "--json")
        assert until(lambda: len(service.moments) == 1 and len(bench.facts(CallStumbled)) == 1, 60)
        process.kill()
        process.communicate(timeout=60)
        code, shown = bench.resume()
        assert (code, shown["status"]) == (0, "completed")
    assert service.moments[1] - service.moments[0] >= seconds
    assert [one.attempt for one in bench.facts(CallStumbled)] == [1, 2]
    assert bench.facts(CallStumbled)[0].wait >= seconds


def test_p24_crashes_do_not_add_attempts(sample: Path, home: Path) -> None:
    """Killed in two waits, a run still sends no more than the attempts that are allowed."""
    with Service(repeat(Trouble(529, headers={"retry-after": "1"}))) as service:
        bench = Bench(sample, home, service)
        words: tuple[str, ...] = ("run", REQUEST, "--model", "anthropic:honest", "--json")
        for crash in (1, 2):
            process = bench.start(*words)
            assert until(lambda seen=crash: _count(bench) >= seen, 60)  # type: ignore[misc]  # a default is the usual way
            process.kill()
            process.communicate(timeout=60)
            words = ("resume", bench.task.name, "--json")
        code, shown = bench.end(bench.start(*words))
        assert (code, shown["waiting_for"]) == (3, "provider_down")
        assert len(service.requests) <= ATTEMPTS
    assert bench.facts(CallStumbled)[-1].attempt == ATTEMPTS


def _count(bench: Bench) -> int:
    return len(bench.facts(CallStumbled)) if list(bench.repo.glob("harness/tasks/*/events.jsonl")) else 0
