"""Puts a fence around itself that no program can take down, and becomes a command behind it.

Runs with a bare interpreter, as the process that a keeper starts. The arguments are the limits of every
process, the filters of system calls in hexadecimal, how many folders may be read and how many may be
written to, those folders, and the command. The kernel's Landlock holds the files, the connections and
the signals; what it does not know of, the filters hold.
"""

import ctypes
import errno
import os
import stat
import sys

from harness_executor.sandbox.keeper import NOT_STARTED, Asked, prctl, turn_into
from harness_executor.sandbox.rlimits import lower

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 22, 38, 24
_SECCOMP_FILTER = 2
_CAPABILITY_VERSION = 0x20080522
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FILES = (1 << 16) - 1
"""Every act on files that version 5 and later can refuse."""
_CONNECT = 1 << 1
"""Connecting over TCP, to any port."""
_SCOPES = 0b11
"""Abstract sockets and signals, of and to whoever is outside."""
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = _FILES & ~(_MAKE_CHAR | _MAKE_SOCK | _MAKE_BLOCK | _IOCTL_DEV)
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_DEVICES = (b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/random", b"/dev/urandom")


def version() -> int:
    """The version of Landlock that the kernel has; 0 when it has none."""
    return max(0, _call(_CREATE_RULESET, None, 0, _ASK_VERSION))


def drop_capabilities() -> None:
    """Have no capability, and for a root no way to get one back."""
    capability = 0
    while prctl(_PR_CAPBSET_DROP, capability) == 0:
        capability += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _done(ctypes.CDLL(None, use_errno=True).capset(header, (ctypes.c_uint32 * 6)()), "capset")


def fence_in(readable: tuple[bytes, ...], writable: tuple[bytes, ...]) -> None:
    """Let this process and all it starts reach these files, no connection and no other process."""
    handled = (ctypes.c_uint64 * 3)(_FILES, _CONNECT, _SCOPES)
    ruleset = _done(_call(_CREATE_RULESET, handled, 24, 0), "landlock_create_ruleset")
    for place in (*readable, b"/proc/self"):
        _allow(ruleset, place, _READ)
    for place in writable:
        _allow(ruleset, place, _WRITE)
    for place in _DEVICES:
        _allow(ruleset, place, _READ_FILE | _WRITE_FILE | _IOCTL_DEV)
    _done(_call(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def filter_calls(program: bytes) -> None:
    """Have the kernel ask a filter about every system call from now on."""
    lines = ctypes.create_string_buffer(program, len(program))
    form = (ctypes.c_uint64 * 2)(len(program) // 8, ctypes.addressof(lines))
    _done(prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.addressof(form)), "seccomp")


def _allow(ruleset: int, place: bytes, acts: int) -> None:
    try:
        beneath = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(beneath).st_mode):
        acts &= _OF_A_FILE
    # the kernel reads twelve bytes, without the gap that a plain structure would have
    rule = acts.to_bytes(8, sys.byteorder) + beneath.to_bytes(4, sys.byteorder)
    _done(_call(_ADD_RULE, ruleset, 1, rule, 0), "landlock_add_rule")
    os.close(beneath)


def _call(number: int, *words: object) -> int:
    whole = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    return int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *whole))


def _done(answer: int, name: str) -> int:
    if answer < 0:
        code = ctypes.get_errno() or errno.EPERM
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return answer


def main(limits: str, filters: str, readable: str, writable: str, *words: str) -> None:
    """Become the command, behind the fence; one that does not stand runs nothing."""
    # not the interpreter's own environment: to that one it adds in the C locale
    with open("/proc/self/environ", "rb") as given:  # noqa: PTH123 - pathlib is not loaded here
        environment = given.read().split(b"\0")[:-1]
    rest = tuple(map(os.fsencode, words))
    first, last = int(readable), int(readable) + int(writable)
    try:
        lower(*map(int, limits.split(",")))
        drop_capabilities()
        _done(prctl(_PR_SET_NO_NEW_PRIVS, 1), "no_new_privs")
        fence_in(rest[:first], rest[first:last])
        for program in filters.split(","):
            filter_calls(bytes.fromhex(program))
    except OSError as error:
        os.write(2, os.fsencode(f"the fence does not stand: {error.strerror}\n"))
        os._exit(NOT_STARTED)
    argv = rest[last:]
    words_of_order = (b"", os.fsencode(os.getcwd()), b"%d" % len(argv), *argv, *environment, b"")  # noqa: PTH109 - as above
    turn_into(Asked(b"\0".join(words_of_order)))
    os._exit(NOT_STARTED)
