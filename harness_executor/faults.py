"""Named places where a test can make the world fail; inert unless armed."""

import errno
import os
import signal
from collections import Counter
from dataclasses import dataclass, field

from harness_executor.errors import UsageError


@dataclass
class _Arming:
    acts: dict[tuple[str, int], str] = field(default_factory=dict)
    log: str = ""
    seen: Counter[str] = field(default_factory=Counter)


_arming = _Arming()


def arm(spec: str, log: str = "") -> None:
    """Arm points: `name#n=kill`, `=stop`, `=exit:N` or `=raise:ENOSPC`, comma-separated; log their names."""
    _arming.log = log
    for part in filter(None, spec.split(",")):
        place, _, act = part.partition("=")
        name, _, number = place.partition("#")
        if not act or not number.isdigit():
            raise UsageError(f"cannot read the fault {part!r}", hint="write it as name#1=kill")
        _arming.acts[name, int(number)] = act


def point(name: str) -> None:
    """Stand at a named place; the armed act happens here."""
    if not (_arming.acts or _arming.log):
        return
    _arming.seen[name] += 1
    if _arming.log:
        _note(f"{name}#{_arming.seen[name]}\n")
    act = _arming.acts.get((name, _arming.seen[name]))
    if act:
        _do(act)


def _note(line: str) -> None:
    target = os.open(_arming.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(target, line.encode())
    finally:
        os.close(target)


def _do(act: str) -> None:
    kind, _, value = act.partition(":")
    match kind:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "exit" if value.isdigit():
            os._exit(int(value))
        case "raise" if hasattr(errno, value):
            code = getattr(errno, value)
            raise OSError(code, os.strerror(code))
        case _:
            raise UsageError(
                f"cannot do the fault {act!r}", hint="kill, stop, exit:N and raise:ENAME are known"
            )
