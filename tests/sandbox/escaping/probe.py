"""What a try to leave a box is, and how it is made."""

import ctypes
import json
import os
import signal
import subprocess
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.sandbox.calls import DENIED, EXAMINED

_SECONDS = 20
_LIBRARY = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {**DENIED[os.uname().machine], **EXAMINED[os.uname().machine]}

CANARY = "harness-probe-"
"""How the secret of a stage begins; what follows is told to nobody in a box."""
LENGTH = 32
"""How many letters follow."""


class Control(StrEnum):
    """Where the same act gets through, so that it is known to work."""

    OUTSIDE = "outside"
    """In a plain process beside the box."""
    RIGHTS = "rights"
    """In the box without the filter of calls and with every capability."""
    MOUNTS = "mounts"
    """In the box with everything writable that is only shown."""
    OPEN = "open"
    """In a box that shows the whole machine and gives every capability."""


class Needs(StrEnum):
    """What a probe needs so that its control can get through at all."""

    NOBODY = "nobody"
    """Every user can do it."""
    PREPARED = "prepared"
    """Every user can do it with what root has prepared."""
    ROOT = "root"
    """Only the root of the machine can do it."""


class Result(StrEnum):
    """What a try came to."""

    ESCAPED = "escaped"
    HELD = "held"
    BROKEN = "broken"
    """The act has a fault of its own, and shows nothing."""


@dataclass(frozen=True)
class Stage:
    """What there is to reach outside, as numbers and places."""

    home: str
    state: str
    config: str
    work: str
    base: str
    tools: str
    sockets: dict[str, str]
    ports: dict[str, int]
    target: int
    """A process of the user with the secret in its memory, environment and words, and where it lies."""
    address: int
    key: int
    """The name of what lies in memory shared between processes."""
    queue: str
    shared: str

    @staticmethod
    def read(path: Path) -> "Stage":
        """A stage that was written down."""
        return Stage(**json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        """Write it down for acts that run elsewhere."""
        path.write_text(json.dumps(asdict(self)))


Act = Callable[[Stage], str]
"""Gives what it got hold of, or nothing; OSError when it is refused."""


@dataclass(frozen=True)
class Probe:
    """One way out."""

    act: Act
    control: Control = Control.OUTSIDE
    needs: Needs = Needs.NOBODY

    @property
    def name(self) -> str:
        """The row it covers, and what it tries."""
        return str(getattr(self.act, "__name__", ""))


@dataclass(frozen=True)
class Outcome:
    """What a try came to, and what was seen."""

    result: Result
    seen: str


def attempt(act: Act, stage: Stage) -> Outcome:
    """Try one way out, in a process of its own."""
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(_SECONDS)
            os.write(said, json.dumps(_outcome(act, stage)).encode())
        finally:
            os._exit(0)
    os.close(said)
    words = b""
    while more := os.read(heard, 65_536):
        words += more
    os.close(heard)
    _, status = os.waitpid(child, 0)
    if not words:
        return Outcome(Result.BROKEN, f"it ended with status {status}")
    result, seen = json.loads(words)
    return Outcome(Result(result), seen)


def _outcome(act: Act, stage: Stage) -> tuple[str, str]:
    try:
        found = act(stage)
    except OSError as error:
        return Result.HELD, str(error)
    except BaseException:
        return Result.BROKEN, traceback.format_exc()
    return (Result.ESCAPED, found[:2000]) if found else (Result.HELD, "nothing was found")


def call(name: str, *arguments: Any) -> int:
    """A system call by its name; raises OSError."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return checked(int(_LIBRARY.syscall(ctypes.c_long(_NUMBERS[name]), *words)))


def library(name: str, *arguments: Any) -> int:
    """A function of the C library; raises OSError."""
    return checked(int(getattr(_LIBRARY, name)(*arguments)))


def checked(answer: int) -> int:
    """An answer of the kernel that is no error."""
    if answer == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def refusal(act: Callable[[], object]) -> int:
    """The number of the error that an act meets, 0 for none."""
    try:
        act()
    except OSError as error:
        return error.errno or -1
    return 0


def printed(*argv: str) -> str:
    """What a program says, whatever its end."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    return done.stdout.strip()


def secret_in(text: str) -> str:
    """The secret of the stage, if the text has it."""
    _, found, rest = text.partition(CANARY)
    whole = found + rest[:LENGTH]
    return whole if len(whole) == len(CANARY) + LENGTH and rest[:LENGTH].isalnum() else ""
