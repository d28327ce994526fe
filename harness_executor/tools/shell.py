"""Run commands in the tree."""

from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.clock import SystemClock
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box, Command, Finished, Running
from harness_executor.tools.base import MAX_RESULT, Place, Tool, ToolError
from harness_executor.tools.place import OUTPUT

LONGEST = 600
"""Seconds a command may take."""
MOST = 16
"""Commands that may run in the background at once."""
_LOOK = 0.5
"""Seconds in which a command in the background may fail at once."""
_HALF = MAX_RESULT // 2 - 150
_TAIL = 4000


@frozen
class Shell:
    """What to run."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    command: str
    seconds: int = 120
    """Time it may take."""
    background: bool = False
    """Keep it running, and go on."""


@frozen
class Look:
    """Which command in the background to look at."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    id: int
    stop: bool = False


@frozen
class Terminal:
    """Where commands of a subagent run."""

    place: Place
    box: Box
    log: Path
    background: dict[int, Running] = field(default_factory=dict)
    """What was started in the background, by the number of its output."""
    since: dict[int, float] = field(default_factory=dict)
    """When each was started."""

    def run(self, command: str, seconds: float) -> Finished:
        """Run a command; whatever it starts ends with it."""
        return self.box.run(self._command(command, self.log), seconds)

    def close(self) -> None:
        """End everything in the background."""
        for running in self.background.values():
            running.stop(_LOOK)

    def tools(self) -> tuple[Tool, ...]:
        """The shell as tools."""
        words = "Run a shell command in the project. What it starts ends with it, unless in background."
        look = "Look at a background command, or stop it."
        return (Tool("shell", words, Shell, self._shell), Tool("process", look, Look, self._look))

    def _command(self, command: str, log: Path) -> Command:
        return Command(("sh", "-c", command), self.box.root, self.box.environment(), log)

    def _shell(self, ask: Shell) -> str:
        if ask.background:
            return self._start(ask.command)
        done = self.run(ask.command, min(max(1, ask.seconds), LONGEST))
        size = self.log.stat().st_size
        ended = f"ended: {done.cause}" if done.cause else f"exit code {done.code}"
        return f"{self._said(done.output, size)}\n[{ended}]"

    def _said(self, output: str, size: int) -> str:
        """What a command said; a long output is kept, and its beginning and end are shown."""
        if size <= _HALF * 2:
            return output
        with self.log.open("rb") as stream:
            begin = stream.read(_HALF).decode(errors="replace")
        name = self.place.outputs.adopt(self.log)
        left = size - _HALF * 2
        return f"{begin}\n… {left} bytes left out; all of it is in {name} …\n{output[-_HALF:]}"

    def _start(self, command: str) -> str:
        live = sum(running.exit_code() is None for running in self.background.values())
        if live >= MOST:
            raise ToolError(f"{live} commands run in the background; stop one first")
        log = self.place.outputs.new()
        number = int(log.stem)
        self.since[number] = SystemClock().monotonic()
        self.background[number] = self.box.start(self._command(command, log))
        self.background[number].wait(_LOOK)
        return f"started as process {number}, with its output in {OUTPUT}{log.name}\n{self._state(number)}"

    def _look(self, ask: Look) -> str:
        if ask.id not in self.background:
            known = ", ".join(map(str, self.background)) or "none"
            raise ToolError(f"there is no process {ask.id}; known: {known}")
        if ask.stop:
            self.background[ask.id].stop(5.0)
        return self._state(ask.id)

    def _state(self, number: int) -> str:
        code = self.background[number].exit_code()
        with self.place.outputs.find(f"{OUTPUT}{number}.txt").open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - _TAIL))
            said = stream.read().decode(errors="replace")
        cut = f"… {size - _TAIL} bytes before …\n" if size > _TAIL else ""
        age = SystemClock().monotonic() - self.since[number]
        return f"{cut}{said}\n[{f'running for {age:.0f} s' if code is None else f'exit code {code}'}]"
