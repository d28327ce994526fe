"""Build, lint and tests, run on base and change and compared."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from harness_executor.kernel.events import CheckResult
from harness_executor.sandbox.base import Box, Command, Finished, Room, Sandbox

SECONDS = 900.0
SETUP = "setup"


def compare_checks(
    checks: Mapping[str, str], base: Room, change: Room, sandbox: Sandbox
) -> tuple[CheckResult, ...]:
    """Every check on both trees; a check that was already red does not block.

    The check called `setup` may reach the hosts that the user listed.
    """
    results: list[CheckResult] = []
    with ExitStack() as boxes:
        old, new = (boxes.enter_context(_closing(sandbox.open(room))) for room in (base, change))
        for name, command in checks.items():
            with ThreadPoolExecutor(2) as pool:
                before = pool.submit(_run, old, name, command, base.tree.with_name(f"base-{name}.log"))
                after = pool.submit(_run, new, name, command, change.tree.with_name(f"change-{name}.log"))
            result = after.result()
            said = f"{result.output[-4000:]}\n[{result.cause}]" if result.cause else result.output[-4000:]
            results.append(CheckResult(name, command, before.result().ok, result.ok, said))
    return tuple(results)


@contextmanager
def _closing(box: Box) -> Iterator[Box]:
    try:
        yield box
    finally:
        box.close()


def _run(box: Box, name: str, command: str, log: Path) -> Finished:
    with box.leaving() if name == SETUP else nullcontext({}) as leading:
        env = box.environment(leading)
        return box.run(Command(("sh", "-c", command), box.root, env, log), SECONDS)
