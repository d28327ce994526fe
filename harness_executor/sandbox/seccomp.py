"""The system calls that a program in a box may not make, as a filter the kernel runs.

The filter takes away what reaches other processes, the mounts, the kernel's own settings, or parts of
the kernel that ordinary programs do not need. A program in the box has no right to most of it anyway:
this is the second wall, and it keeps a fault of the kernel's rarely used parts out of reach.
"""

import errno
import struct
from typing import Final

from harness_executor.errors import HarnessError
from harness_executor.kernel.frozen import frozen

ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What the kernel calls a machine, for each name that `os.uname` gives."""

_DENIED: Final = {
    "x86_64": {
        "ptrace": 101,
        "syslog": 103,
        "vhangup": 153,
        "modify_ldt": 154,
        "pivot_root": 155,
        "adjtimex": 159,
        "chroot": 161,
        "acct": 163,
        "settimeofday": 164,
        "mount": 165,
        "umount2": 166,
        "swapon": 167,
        "swapoff": 168,
        "reboot": 169,
        "sethostname": 170,
        "setdomainname": 171,
        "iopl": 172,
        "ioperm": 173,
        "init_module": 175,
        "delete_module": 176,
        "quotactl": 179,
        "nfsservctl": 180,
        "lookup_dcookie": 212,
        "clock_settime": 227,
        "kexec_load": 246,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "perf_event_open": 298,
        "fanotify_init": 300,
        "open_by_handle_at": 304,
        "clock_adjtime": 305,
        "setns": 308,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "kcmp": 312,
        "finit_module": 313,
        "kexec_file_load": 320,
        "bpf": 321,
        "userfaultfd": 323,
    },
    "aarch64": {
        "lookup_dcookie": 18,
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "nfsservctl": 42,
        "chroot": 51,
        "vhangup": 58,
        "quotactl": 60,
        "acct": 89,
        "unshare": 97,
        "kexec_load": 104,
        "init_module": 105,
        "delete_module": 106,
        "clock_settime": 112,
        "syslog": 116,
        "ptrace": 117,
        "reboot": 142,
        "sethostname": 161,
        "setdomainname": 162,
        "settimeofday": 170,
        "adjtimex": 171,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "swapon": 224,
        "swapoff": 225,
        "perf_event_open": 241,
        "fanotify_init": 262,
        "open_by_handle_at": 265,
        "clock_adjtime": 266,
        "setns": 268,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "kcmp": 272,
        "finit_module": 273,
        "bpf": 280,
        "userfaultfd": 282,
        "kexec_file_load": 294,
    },
}
_DENIED_EVERYWHERE: Final = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "open_tree_attr": 467,
}
"""Newer calls have the same number on every machine."""

_EXAMINED: Final = {
    "x86_64": {"ioctl": 16, "socket": 41, "socketpair": 53, "clone": 56, "clone3": 435},
    "aarch64": {"ioctl": 29, "socket": 198, "socketpair": 199, "clone": 220, "clone3": 435},
}
"""Calls whose arguments decide. Those of `clone3` lie in memory, where a filter cannot look: it is said
not to exist, so that the C library takes `clone`."""

_NAMESPACES: Final = 0x7E02_0000
"""Every flag of `clone` that makes a namespace; the one of time is none of them, it cannot be given there."""
_X32: Final = 0x4000_0000
"""The bit of calls of the x32 machine, which are other numbers for the same acts."""
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
"""Both put words into the terminal of whoever started us."""
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCK_STREAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_PACKET = 1, 3, 5, 10
NETLINK_ROUTE, NETLINK_SOCK_DIAG = 0, 4

LOAD, AND, RETURN = 0x20, 0x54, 0x06
IS, AT_LEAST, HAS_ANY = 0x15, 0x35, 0x45
NUMBER, ARCHITECTURE = 0, 4
"""Where the data of a call has its number and its machine."""

ERROR: Final = 0x0005_0000
"""The answer that is an error of the call."""
_ANSWERS: Final = {
    "allow": 0x7FFF_0000,
    "kill": 0x8000_0000,
    "not permitted": ERROR | errno.EPERM,
    "no such call": ERROR | errno.ENOSYS,
    "no such family": ERROR | errno.EAFNOSUPPORT,
}


@frozen
class Line:
    """One instruction, and the labels of where to go on; without a label, with the next."""

    code: int
    value: int
    yes: str = ""
    no: str = ""


Source = list[Line | str]
"""Instructions, with each label in front of what it names."""


def program(machine: str) -> bytes:
    """The filter for a machine as `os.uname().machine` names it, in the form `bwrap --seccomp` reads."""
    refuse_unknown(machine)
    return assemble([*_by_number(machine), *_by_arguments(), *answers()])


def refuse_unknown(machine: str) -> None:
    """Say so where there is no filter for a machine."""
    if machine not in ARCHITECTURES:
        raise HarnessError(
            f"there is no filter of system calls for {machine}",
            hint=f"use a machine that is one of: {', '.join(ARCHITECTURES)}",
        )


def answers() -> Source:
    """What a filter can say, by the labels that lead there."""
    lines: Source = []
    for label, value in _ANSWERS.items():
        lines += [label, Line(RETURN, value)]
    return lines


def _by_number(machine: str) -> Source:
    calls = _EXAMINED[machine]
    denied = {**_DENIED[machine], **_DENIED_EVERYWHERE}
    x32 = [Line(AT_LEAST, _X32, "kill")] if machine == "x86_64" else []
    return [
        Line(LOAD, ARCHITECTURE),
        Line(IS, ARCHITECTURES[machine], no="kill"),
        Line(LOAD, NUMBER),
        *x32,
        *(Line(IS, number, "not permitted") for number in denied.values()),
        Line(IS, calls["clone3"], "no such call"),
        Line(IS, calls["clone"], "clone"),
        Line(IS, calls["ioctl"], "ioctl"),
        Line(IS, calls["socket"], "socket"),
        Line(IS, calls["socketpair"], "socket", "allow"),
    ]


def _by_arguments() -> Source:
    return [
        "clone",
        Line(LOAD, argument(0)),
        Line(HAS_ANY, _NAMESPACES, "not permitted", "allow"),
        "ioctl",
        Line(LOAD, argument(1)),
        Line(IS, _TIOCSTI, "not permitted"),
        Line(IS, _TIOCLINUX, "not permitted", "allow"),
        "socket",
        Line(LOAD, argument(0)),
        Line(IS, AF_UNIX, "type"),
        Line(IS, AF_INET, "type"),
        Line(IS, AF_INET6, "type"),
        # its type says nothing: the C library opens a raw one to list the addresses of the machine
        Line(IS, AF_NETLINK, "netlink", "no such family"),
        "type",
        Line(LOAD, argument(1)),
        Line(AND, 0xF),
        Line(IS, SOCK_RAW, "not permitted"),
        Line(IS, SOCK_PACKET, "not permitted", "allow"),
        "netlink",
        Line(LOAD, argument(2)),
        Line(IS, NETLINK_ROUTE, "allow"),
        Line(IS, NETLINK_SOCK_DIAG, "allow", "no such family"),
    ]


def argument(index: int) -> int:
    """Where the lower half of an argument lies; the kernel reads no more of those we look at."""
    return 16 + 8 * index


def assemble(source: Source) -> bytes:
    """The filter as the kernel reads it."""
    places: dict[str, int] = {}
    lines: list[Line] = []
    for item in source:
        if isinstance(item, str):
            places[item] = len(lines)
        else:
            lines.append(item)

    def steps(here: int, label: str) -> int:
        return places[label] - here - 1 if label else 0

    # a step that does not fit its byte is an error of struct, never another filter
    return b"".join(
        struct.pack("<HBBI", line.code, steps(here, line.yes), steps(here, line.no), line.value)
        for here, line in enumerate(lines)
    )
