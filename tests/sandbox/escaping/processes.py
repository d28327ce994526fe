"""Ways out over processes: those of the machine, the first of the box, and what is inherited."""

import ctypes
import errno
import fcntl
import os
import resource
import signal
import stat
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.sandbox.escaping.probe import (
    CANARY,
    LENGTH,
    Control,
    Needs,
    Probe,
    Stage,
    call,
    library,
    printed,
    refusal,
    secret_in,
)

_SEIZE, _DETACH = 0x4206, 17
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def a38_ptrace(stage: Stage) -> str:
    """Trace a process of the user outside."""
    return _traced(stage.target)


def _traced(process: int) -> str:
    call("ptrace", _SEIZE, process, 0, 0)
    return f"traces {process}"


def a38_process_vm_readv(stage: Stage) -> str:
    """Read the memory of a process of the user outside."""
    return secret_in(_memory_of(stage.target, stage.address).decode(errors="replace"))


def _memory_of(process: int, address: int) -> bytes:
    size = len(CANARY) + LENGTH
    found = ctypes.create_string_buffer(size)
    here = ctypes.c_char_p(struct.pack("QQ", ctypes.addressof(found), size))
    there = ctypes.c_char_p(struct.pack("QQ", address, size))
    call("process_vm_readv", process, here, 1, there, 1, 0)
    return found.raw


def a38_proc_mem(stage: Stage) -> str:
    """Read the memory of a process of the user outside, as a file."""
    with Path(f"/proc/{stage.target}/mem").open("rb", buffering=0) as memory:
        memory.seek(stage.address)
        return secret_in(memory.read(len(CANARY) + LENGTH).decode(errors="replace"))


def a45_signal(stage: Stage) -> str:
    """Send a process of the user outside a signal, which it takes for nothing."""
    os.kill(stage.target, signal.SIGUSR1)
    return f"reached {stage.target}"


def a45_held_by_descriptor(stage: Stage) -> str:
    """Get hold of a process of the user outside."""
    os.close(os.pidfd_open(stage.target))
    return f"holds {stage.target}"


def a45_seen(stage: Stage) -> str:
    """See a process of the user outside."""
    return Path(f"/proc/{stage.target}/stat").read_text()


def _told(kind: str) -> Iterator[str]:
    for place in Path("/proc").glob(f"[0-9]*/{kind}"):
        with suppress(OSError):
            yield secret_in(place.read_text(errors="replace"))


def a46_environ(stage: Stage) -> str:
    """Find the key in the environment of any process."""
    return next(filter(None, _told("environ")), "")


def a46_cmdline(stage: Stage) -> str:
    """Find the key among the words of any process."""
    return next(filter(None, _told("cmdline")), "")


def a46_own_environment(stage: Stage) -> str:
    """Find the key in what was handed down."""
    return next(filter(None, map(secret_in, os.environ.values())), "")


def a41_environment(stage: Stage) -> str:
    """Find where the user's agents and screens are."""
    names = ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "DISPLAY", "GPG_AGENT_INFO")
    return " ".join(name for name in names if name in os.environ)


def a46_core_dump(stage: Stage) -> str:
    """Leave a picture of memory behind by a crash."""
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    place = Path.cwd() / "crash"
    place.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        os.chdir(place)
        os.abort()
    _, status = os.waitpid(child, 0)
    return "a core was written" if os.WCOREDUMP(status) else ""


def a46_environ_of_process_1(stage: Stage) -> str:
    """Open the environment of process 1."""
    os.close(os.open("/proc/1/environ", os.O_RDONLY))
    return "opened it"


def a46_memory_of_process_1(stage: Stage) -> str:
    """Open the memory of process 1 to write to it."""
    os.close(os.open("/proc/1/mem", os.O_RDWR))
    return "opened it"


def a46_maps_of_process_1(stage: Stage) -> str:
    """See where the memory of process 1 lies."""
    return Path("/proc/1/maps").read_text()[:100]


def a46_descriptors_of_process_1(stage: Stage) -> str:
    """See what process 1 has open; that it has something open is no secret."""
    return " ".join(str(place.readlink()) for place in Path("/proc/1/fd").iterdir())


def process_1_traced(stage: Stage) -> str:
    """Trace process 1."""
    return _traced(1)


def keeper_traced(stage: Stage) -> str:
    """Trace the process that keeps this command."""
    return _traced(_keeper())


def keeper_memory(stage: Stage) -> str:
    """Open the memory of the process that keeps this command."""
    os.close(os.open(f"/proc/{_keeper()}/mem", os.O_RDWR))
    return "opened it"


def keeper_report(stage: Stage) -> str:
    """Get hold of the pipe on which the keeper says how this command ended."""
    return " ".join(_taken_from(_keeper(), stat.S_ISFIFO))


def _keeper() -> int:
    """The process below process 1 that this one is below."""
    here = os.getpid()
    while (above := _above(here)) != 1:
        here = above
    return here


def _above(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def door_taken(stage: Stage) -> str:
    """Get hold of the sockets over which process 1 is spoken to."""
    return " ".join(_taken_from(1, stat.S_ISSOCK))


def _taken_from(process: int, is_wanted: Callable[[int], bool]) -> Iterator[str]:
    holder = os.pidfd_open(process)
    for number in range(64):
        with suppress(OSError):
            taken = call("pidfd_getfd", holder, number, 0)
            if is_wanted(os.fstat(taken).st_mode):
                yield str(number)


def door_opened(stage: Stage) -> str:
    """Open what process 1 has open, to write junk on its lines."""
    return " ".join(
        str(number) for number in range(64) if not refusal(partial(_open, f"/proc/1/fd/{number}"))
    )


def _open(place: str) -> None:
    os.close(os.open(place, os.O_WRONLY))


def a47_descriptors(stage: Stage) -> str:
    """Have more open than standard input, output and error."""
    listed = subprocess.run(
        ["ls", "/proc/self/fd"], capture_output=True, text=True, close_fds=False, check=True
    ).stdout
    return " ".join(sorted(set(listed.split()) - {"0", "1", "2", "3"}))


def a43_terminal_opened(stage: Stage) -> str:
    """Open the terminal of whoever started us."""
    os.close(os.open("/dev/tty", os.O_RDWR))
    return "opened it"


def a43_tiocsti(stage: Stage) -> str:
    """Type into a terminal: EIO is the terminal's own answer where the machine has turned this off."""
    _, terminal = os.openpty()
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    number = refusal(lambda: fcntl.ioctl(terminal, termios.TIOCSTI, b"x"))
    return "the terminal was asked" if number in (0, errno.EIO) else ""


def a44_setuid(stage: Stage) -> str:
    """Become another by a program that belongs to another."""
    return _gained(f"{stage.tools}/setuid/cat", "Uid")


def a44_file_capabilities(stage: Stage) -> str:
    """Gain a right by a program that has it."""
    found = _gained(f"{stage.tools}/capable/cat", "CapEff")
    return found if int(found or "0", 16) else ""


def _gained(program: str, name: str) -> str:
    said = printed(program, "/proc/self/status")
    line = next(line for line in said.splitlines() if line.startswith(f"{name}:")).split()
    return "" if name == "Uid" and line[1] == line[2] else line[2 if name == "Uid" else 1]


def shm_of_the_machine(stage: Stage) -> str:
    """Read memory that is shared under a number."""
    _LIBRARY.shmat.restype = ctypes.c_void_p
    number = library("shmget", stage.key, 0, 0)
    place = _LIBRARY.shmat(number, None, 0o10000)
    return secret_in(ctypes.string_at(place, len(CANARY) + LENGTH).decode(errors="replace"))


def semaphores_of_the_machine(stage: Stage) -> str:
    """Find semaphores under a number."""
    return f"semaphore {library('semget', stage.key, 0, 0)}"


def messages_of_the_machine(stage: Stage) -> str:
    """Find a queue of messages under a number."""
    return f"queue {library('msgget', stage.key, 0)}"


def queue_of_the_machine(stage: Stage) -> str:
    """Find a queue of messages under a name."""
    os.close(library("mq_open", stage.queue.encode(), os.O_RDONLY))
    return "opened it"


def shared_memory_of_the_machine(stage: Stage) -> str:
    """Read memory that is shared under a name."""
    return secret_in(Path(f"/dev/shm/{stage.shared}").read_text(errors="replace"))


PROBES = (
    *map(Probe, (a38_ptrace, a38_process_vm_readv, a38_proc_mem, a45_signal, a45_held_by_descriptor)),
    *map(Probe, (a45_seen, a46_environ, a46_cmdline, a46_own_environment, a41_environment)),
    *map(Probe, (a46_core_dump, a47_descriptors, a43_terminal_opened, a43_tiocsti)),
    *(Probe(act, Control.RIGHTS) for act in (a46_environ_of_process_1, a46_memory_of_process_1)),
    *(Probe(act, Control.RIGHTS) for act in (a46_maps_of_process_1, a46_descriptors_of_process_1)),
    *(Probe(act, Control.RIGHTS) for act in (process_1_traced, keeper_traced, keeper_memory)),
    *(Probe(act, Control.RIGHTS) for act in (keeper_report, door_taken, door_opened)),
    *map(Probe, (shm_of_the_machine, semaphores_of_the_machine, messages_of_the_machine)),
    *map(Probe, (queue_of_the_machine, shared_memory_of_the_machine)),
    *(Probe(act, needs=Needs.PREPARED) for act in (a44_setuid, a44_file_capabilities)),
)
