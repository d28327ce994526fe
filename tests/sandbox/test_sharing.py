"""The second filter of system calls, for boxes that share the machine's network and processes."""

import errno
import socket

import pytest

from harness_executor.errors import HarnessError
from harness_executor.sandbox import sharing
from tests.sandbox.calls import ALLOWED, numbers
from tests.sandbox.judging import ALLOW, ARCHITECTURES, ERROR, KILL, NO, NO_FAMILY, judge

MPTCP, FAST_OPEN, CLOEXEC = 262, 0x2000_0000, 0o2000000
NUMBERS = {
    "x86_64": numbers(
        """
        ioctl=16 shmget=29 socket=41 sendto=44 sendmsg=46 socketpair=53 semget=64 msgget=68 setpriority=141
        setxattr=188 sched_setaffinity=203 mq_open=240 ioprio_set=251 inotify_add_watch=254 prlimit64=302
        sendmmsg=307
        """
    ),
    "aarch64": numbers(
        """
        setxattr=5 inotify_add_watch=27 ioctl=29 ioprio_set=30 sched_setaffinity=122 setpriority=140
        mq_open=180 msgget=186 semget=190 shmget=194 socket=198 socketpair=199 sendto=206 sendmsg=211
        prlimit64=261 sendmmsg=269
        """
    ),
}
ANSWERS = [
    ("socket", (socket.AF_INET, socket.SOCK_STREAM, 0), ALLOW),
    ("socket", (socket.AF_INET6, socket.SOCK_STREAM | CLOEXEC, socket.IPPROTO_TCP), ALLOW),
    ("socket", (socket.AF_INET, socket.SOCK_STREAM, MPTCP), NO),
    ("socket", (socket.AF_INET, socket.SOCK_DGRAM, 0), NO),
    ("socket", (socket.AF_INET6, socket.SOCK_DGRAM | CLOEXEC, 0), NO),
    ("socket", (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP), NO),
    ("socket", (socket.AF_UNIX, socket.SOCK_STREAM, 0), NO_FAMILY),
    ("socket", (socket.AF_VSOCK, socket.SOCK_STREAM, 0), NO_FAMILY),
    ("socket", (socket.AF_NETLINK, socket.SOCK_RAW, 0), ALLOW),
    ("socket", (socket.AF_NETLINK, socket.SOCK_RAW, 4), NO_FAMILY),
    ("socketpair", (socket.AF_UNIX, socket.SOCK_STREAM | CLOEXEC, 0), ALLOW),
    ("socketpair", (socket.AF_UNIX, socket.SOCK_SEQPACKET, 0), ALLOW),
    ("socketpair", (socket.AF_UNIX, socket.SOCK_DGRAM | CLOEXEC, 0), NO),
    ("sendto", (3, 0, 1, 0), ALLOW),
    ("sendto", (3, 0, 1, FAST_OPEN | socket.MSG_NOSIGNAL), NO),
    ("sendmsg", (3, 0, socket.MSG_NOSIGNAL), ALLOW),
    ("sendmsg", (3, 0, FAST_OPEN), NO),
    ("sendmmsg", (3, 0, 1, FAST_OPEN), NO),
    ("prlimit64", (0, 7), ALLOW),
    ("prlimit64", (4321, 7), NO),
    ("setpriority", (0, 0, 5), ALLOW),
    ("setpriority", (0, 4321, 5), NO),
    ("setpriority", (2, 0, 5), NO),
    ("ioprio_set", (1, 0, 5), ALLOW),
    ("ioprio_set", (3, 0, 5), NO),
    ("sched_setaffinity", (0, 8), ALLOW),
    ("sched_setaffinity", (4321, 8), NO),
    ("ioctl", (3, 0x5401), ALLOW),
    ("ioctl", (3, 0x4008_6602), NO),
    ("ioctl", (3, 0x401C_5820), NO),
    ("mq_open", (), NO),
    ("shmget", (), NO),
    ("semget", (), NO),
    ("msgget", (), NO),
    ("setxattr", (), ERROR | errno.EOPNOTSUPP),
    ("inotify_add_watch", (), NO),
]
machines = pytest.mark.parametrize("machine", ARCHITECTURES)


@machines
@pytest.mark.parametrize(("name", "arguments", "answer"), ANSWERS)
def test_answers_each_call(machine: str, name: str, arguments: tuple[int, ...], answer: int) -> None:
    """What leaves the box or reaches another program is refused, and its ordinary twin is allowed."""
    program = sharing.program(machine)
    assert judge(program, ARCHITECTURES[machine], NUMBERS[machine][name], *arguments) == answer


@machines
def test_allows_what_programs_need(machine: str) -> None:
    """Of the calls that programs make, only those of the list are refused."""
    program = sharing.program(machine)
    refused = {
        name
        for name, number in ALLOWED[machine].items()
        if judge(program, ARCHITECTURES[machine], number) != ALLOW
    }
    assert refused <= {*NUMBERS[machine], "shmat"}
    assert "chmod" not in refused
    assert "connect" not in refused


@machines
def test_kills_what_speaks_for_another_machine(machine: str) -> None:
    """A call of the 32-bit twin has other numbers, so no answer to it can be right."""
    assert judge(sharing.program(machine), 0x40000003, 0) == KILL


def test_an_unknown_machine_has_no_filter() -> None:
    """A machine whose numbers nobody looked up is refused."""
    with pytest.raises(HarnessError, match="no filter of system calls for sparc"):
        sharing.program("sparc")
