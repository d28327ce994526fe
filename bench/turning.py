"""The two loops that bench/turns.py compares: a bare one over the SDK, and a subagent of the harness."""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

GUIDE = "You are the executor. Use the shell."
TOOLS = [
    {
        "name": "shell",
        "description": "Run a shell command.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
    {"name": "submit_result", "description": "End.", "input_schema": {"type": "object", "properties": {}}},
]


def bare() -> None:
    """Ask, run what was asked for, and ask again: as little as a loop can do."""
    import anthropic  # noqa: PLC0415 - the other loop does not load it

    client = anthropic.Anthropic(max_retries=0)
    messages: list[Any] = [{"role": "user", "content": "begin"}]
    while True:
        with client.messages.stream(
            model="bench",
            max_tokens=16_000,
            system=GUIDE,
            messages=messages,
            tools=TOOLS,  # type: ignore[arg-type]  # plain data
        ) as stream:
            reply = stream.get_final_message()
        call = next(block for block in reply.content if block.type == "tool_use")
        if call.name == "submit_result":
            return
        done = subprocess.run(
            ["sh", "-c", str(call.input["command"])], capture_output=True, text=True, check=False
        )
        messages.append({"role": "assistant", "content": [block.model_dump() for block in reply.content]})
        result = {"type": "tool_result", "tool_use_id": call.id, "content": done.stdout + done.stderr}
        messages.append({"role": "user", "content": [result]})


def bare_crowd(size: int) -> None:
    """Fork the bare loop after its SDK is loaded."""
    import anthropic  # noqa: PLC0415 - the other loop does not load it

    if size == 1:
        return bare()
    _ = anthropic.Anthropic(api_key="none").messages
    children = []
    for _ in range(size):
        pid = os.fork()
        if pid == 0:
            bare()
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    return None


def ours(size: int) -> None:
    """Subagents of the harness, from one warm process, each with a log and a coordinator's answers."""
    from harness_executor.subagents.cradle import NurseryCradle  # noqa: PLC0415 - the other loop does not load it

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(NurseryCradle(("anthropic",), Path(folder) / "scratch")) as cradle,
    ):
        cradle.warm_up()
        threads = [
            threading.Thread(target=_work, args=(cradle, Path(folder) / str(number)))
            for number in range(size)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _work(cradle: Any, folder: Path) -> None:
    from harness_executor.clock import SystemClock  # noqa: PLC0415 - the other loop does not load it
    from harness_executor.config import DEFAULT_BUDGET, state_home  # noqa: PLC0415 - the same
    from harness_executor.kernel.events import Driver, Mode, TaskOpened  # noqa: PLC0415 - the same
    from harness_executor.steps.treasury import Treasury  # noqa: PLC0415 - the same
    from harness_executor.store.breakers import Breakers  # noqa: PLC0415 - the same
    from harness_executor.store.layout import TaskFolder  # noqa: PLC0415 - the same
    from harness_executor.store.ledger import Ledger  # noqa: PLC0415 - the same
    from harness_executor.store.log import open_log  # noqa: PLC0415 - the same
    from harness_executor.store.witness import Witness  # noqa: PLC0415 - the same
    from harness_executor.subagents.jobs import Answering, Job, Role, Spent, Wants  # noqa: PLC0415 - the same
    from harness_executor.subagents.spawn import Agents  # noqa: PLC0415 - the same

    clock = SystemClock()
    for name in ("tree", "scratch"):
        (folder / name).mkdir(parents=True)
    job = Job(
        id=folder.name,
        role=Role.EXECUTOR,
        answering=Answering.WORK,
        model="anthropic:bench",
        prompt="begin",
        root=str(folder / "tree"),
        scratch=str(folder / "scratch"),
        may_write=True,
    )
    with open_log(TaskFolder(folder / "task"), clock, Witness(folder / "seen")) as log:
        log.append(TaskOpened("t", "r", Mode.IMPLEMENT, Driver.RUNNER, "b", "t"))
        ledger, breakers = Ledger(state_home() / "ledger"), Breakers(state_home() / "breakers")
        treasury = Treasury(lambda: log.task, DEFAULT_BUDGET, ledger, breakers, clock, {}, clock.monotonic())
        with Agents(clock, cradle).work(job) as work:
            for message in work:
                if isinstance(message, Wants):
                    log.append(treasury.reserve(job.id, job.model, message))
                    work.grant(message.call)
                elif isinstance(message, Spent):
                    log.append(treasury.settle(job.id, job.model, message))


if __name__ == "__main__":
    {"bare": bare_crowd, "ours": ours}[sys.argv[1]](int(sys.argv[2]))
