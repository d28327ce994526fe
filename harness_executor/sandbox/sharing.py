"""More system calls that a program may not make where it shares the machine with others.

For a box that has no network, processes or memory of its own. The filter takes away the ways around what
Landlock holds, and what reaches other programs of the user through no file.
"""

import errno
from typing import Final

from harness_executor.sandbox.seccomp import (
    AF_INET,
    AF_INET6,
    AF_NETLINK,
    AND,
    ARCHITECTURE,
    ARCHITECTURES,
    ERROR,
    HAS_ANY,
    IS,
    LOAD,
    NETLINK_ROUTE,
    NUMBER,
    RETURN,
    SOCK_SEQPACKET,
    SOCK_STREAM,
    Line,
    Source,
    answers,
    argument,
    assemble,
    refuse_unknown,
)

_DENIED: Final = {
    "x86_64": {
        "shmget": 29,
        "shmat": 30,
        "shmctl": 31,
        "semget": 64,
        "semop": 65,
        "semctl": 66,
        "msgget": 68,
        "msgsnd": 69,
        "msgrcv": 70,
        "msgctl": 71,
        "semtimedop": 220,
        "mq_open": 240,
        "mq_unlink": 241,
        "inotify_add_watch": 254,
    },
    "aarch64": {
        "inotify_add_watch": 27,
        "mq_open": 180,
        "mq_unlink": 181,
        "msgget": 186,
        "msgctl": 187,
        "msgrcv": 188,
        "msgsnd": 189,
        "semget": 190,
        "semctl": 191,
        "semtimedop": 192,
        "semop": 193,
        "shmget": 194,
        "shmctl": 195,
        "shmat": 196,
    },
}
"""What reaches the rest of the machine where no namespace is in between: the memory, semaphores and queues
of other programs, and the changes of files whose content is out of reach."""

_ATTRIBUTES: Final = {
    "x86_64": (188, 189, 190, 197, 198, 199, 463, 466, 469),
    "aarch64": (5, 6, 7, 14, 15, 16, 463, 466, 469),
}
"""Every call that sets or removes an attribute of a file by its name: said not to be supported, as of a file
system without them, so that copying goes on."""

_EXAMINED: Final = {
    "x86_64": {
        "ioctl": 16,
        "socket": 41,
        "sendto": 44,
        "sendmsg": 46,
        "socketpair": 53,
        "setpriority": 141,
        "sched_setparam": 142,
        "sched_setscheduler": 144,
        "sched_setaffinity": 203,
        "ioprio_set": 251,
        "prlimit64": 302,
        "sendmmsg": 307,
        "sched_setattr": 314,
    },
    "aarch64": {
        "ioctl": 29,
        "ioprio_set": 30,
        "sched_setparam": 118,
        "sched_setscheduler": 119,
        "sched_setaffinity": 122,
        "setpriority": 140,
        "socket": 198,
        "socketpair": 199,
        "sendto": 206,
        "sendmsg": 211,
        "prlimit64": 261,
        "sendmmsg": 269,
        "sched_setattr": 274,
    },
}
"""Calls that may be made for oneself, or for what cannot leave the box, and not otherwise."""

_TCP: Final = 6
_FAST_OPEN: Final = 0x2000_0000
"""Connects by sending, which Landlock does not see."""
_SETFLAGS, _FSSETXATTR = 0x4008_6602, 0x401C_5820
"""Both change what a file is, through a descriptor that may only read it."""


def program(machine: str) -> bytes:
    """The filter for a machine as `os.uname().machine` names it; it stands beside the one of every box."""
    refuse_unknown(machine)
    attributes: Source = ["not supported", Line(RETURN, ERROR | errno.EOPNOTSUPP)]
    return assemble([*_by_number(machine), *_about_others(), *_about_sockets(), *answers(), *attributes])


def _by_number(machine: str) -> Source:
    calls = _EXAMINED[machine]
    own = ("prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr")
    return [
        Line(LOAD, ARCHITECTURE),
        Line(IS, ARCHITECTURES[machine], no="kill"),
        Line(LOAD, NUMBER),
        *(Line(IS, number, "not permitted") for number in _DENIED[machine].values()),
        *(Line(IS, number, "not supported") for number in _ATTRIBUTES[machine]),
        *(Line(IS, calls[name], "own") for name in own),
        Line(IS, calls["setpriority"], "setpriority"),
        Line(IS, calls["ioprio_set"], "ioprio_set"),
        Line(IS, calls["ioctl"], "ioctl"),
        Line(IS, calls["sendto"], "fourth flags"),
        Line(IS, calls["sendmmsg"], "fourth flags"),
        Line(IS, calls["sendmsg"], "third flags"),
        Line(IS, calls["socketpair"], "socketpair"),
        Line(IS, calls["socket"], "socket", "allow"),
    ]


def _about_others() -> Source:
    return [
        "setpriority",
        Line(LOAD, argument(0)),
        Line(IS, 0, "who", "not permitted"),
        "ioprio_set",
        Line(LOAD, argument(0)),
        Line(IS, 1, "who", "not permitted"),
        "who",
        Line(LOAD, argument(1)),
        Line(IS, 0, "allow", "not permitted"),
        "own",
        Line(LOAD, argument(0)),
        Line(IS, 0, "allow", "not permitted"),
        "ioctl",
        Line(LOAD, argument(1)),
        Line(IS, _SETFLAGS, "not permitted"),
        Line(IS, _FSSETXATTR, "not permitted", "allow"),
    ]


def _about_sockets() -> Source:
    return [
        "fourth flags",
        Line(LOAD, argument(3)),
        Line(HAS_ANY, _FAST_OPEN, "not permitted", "allow"),
        "third flags",
        Line(LOAD, argument(2)),
        Line(HAS_ANY, _FAST_OPEN, "not permitted", "allow"),
        # one that is not connected could go to any socket of the machine that has a place among the files
        "socketpair",
        Line(LOAD, argument(1)),
        Line(AND, 0xF),
        Line(IS, SOCK_STREAM, "allow"),
        Line(IS, SOCK_SEQPACKET, "allow", "not permitted"),
        "socket",
        Line(LOAD, argument(0)),
        Line(IS, AF_INET, "stream"),
        Line(IS, AF_INET6, "stream"),
        Line(IS, AF_NETLINK, "netlink", "no such family"),
        "stream",
        Line(LOAD, argument(1)),
        Line(AND, 0xF),
        Line(IS, SOCK_STREAM, no="not permitted"),
        Line(LOAD, argument(2)),
        Line(IS, 0, "allow"),
        Line(IS, _TCP, "allow", "not permitted"),
        "netlink",
        Line(LOAD, argument(2)),
        Line(IS, NETLINK_ROUTE, "allow", "no such family"),
    ]
