"""Build, lint and tests, run on base and change and compared."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness_executor.config import safe_environment
from harness_executor.kernel.events import CheckResult
from harness_executor.sandbox.base import Command, Finished, Sandbox

SECONDS = 900.0


def compare_checks(
    checks: Mapping[str, str], base: Path, change: Path, sandbox: Sandbox
) -> tuple[CheckResult, ...]:
    """Every check on both trees; a check that was already red does not block."""
    results: list[CheckResult] = []
    for name, command in checks.items():
        with ThreadPoolExecutor(2) as pool:
            before = pool.submit(_run, name, command, base, sandbox)
            after = pool.submit(_run, name, command, change, sandbox)
        output = after.result().output[-4000:]
        results.append(CheckResult(name, command, before.result().ok, after.result().ok, output))
    return tuple(results)


def _run(name: str, command: str, tree: Path, sandbox: Sandbox) -> Finished:
    log = tree.parent / f"{tree.name}-{name}.log"
    return sandbox.run(Command(("sh", "-c", command), tree, safe_environment(), log), SECONDS)
