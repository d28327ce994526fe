"""Ways out over the kernel: namespaces, mounts, and calls that reach its inner parts."""

import ctypes
import errno
import os
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.sandbox.escaping.probe import Control, Needs, Probe, Stage, call, library, refusal, secret_in

_NAMESPACES = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "time": 0x00000080,
}
_BIND = 4096
_SESSION_KEYRING = -3
_JOIN, _SEARCH, _READ = 1, 10, 11
_MAP_CREATE = 0
_USUAL_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)


def _unshare(kind: str, stage: Stage) -> str:
    call("unshare", _NAMESPACES[kind])
    return f"has a {kind} namespace of its own"


def _clone(kind: str, stage: Stage) -> str:
    child = call("clone", _NAMESPACES[kind] | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return f"has a child in a {kind} namespace"


def _named(name: str, act: Callable[..., str], *words: str) -> Callable[[Stage], str]:
    made = partial(act, *words)
    made.__name__ = name  # type: ignore[attr-defined]  # a probe is called like its act
    return made


def a40_nested_and_mounted(stage: Stage) -> str:
    """Be root of a user namespace, and mount there."""
    user, group = os.getuid(), os.getgid()
    call("unshare", _NAMESPACES["user"] | _NAMESPACES["mount"])
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    library("mount", b"none", b"/tmp", b"tmpfs", 0, None)
    return f"is {os.getuid()} and mounts"


def clone3_process(stage: Stage) -> str:
    """Make a process with the call whose flags no filter can read."""
    wanted = struct.pack("8Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = call("clone3", ctypes.c_char_p(wanted), len(wanted))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "has a child of clone3"


def _mount(kind: str, stage: Stage) -> str:
    place = Path.cwd() / f"mounted-{kind}"
    place.mkdir(exist_ok=True)
    library("mount", b"none", os.fsencode(place), kind.encode(), 0, None)
    found = len(list(place.iterdir()))
    library("umount2", os.fsencode(place), 2)
    return f"mounted {kind} with {found} names"


def mount_by_parts(stage: Stage) -> str:
    """Begin a mount with the newer calls."""
    os.close(call("fsopen", ctypes.c_char_p(b"tmpfs"), 0))
    return "began a file system"


def mount_taken(stage: Stage) -> str:
    """Take a mount away from its place."""
    os.close(call("open_tree", -100, ctypes.c_char_p(b"/usr"), 1))
    return "has /usr by itself"


def pivot_root(stage: Stage) -> str:
    """Have another root, in mounts of its own so that nobody is disturbed."""
    place = Path.cwd() / "pivot"
    (place / "old").mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        call("unshare", _NAMESPACES["mount"])
    with suppress(OSError):
        library("mount", os.fsencode(place), os.fsencode(place), None, _BIND, None)
    call("pivot_root", ctypes.c_char_p(os.fsencode(place)), ctypes.c_char_p(os.fsencode(place / "old")))
    return "has another root"


def chroot(stage: Stage) -> str:
    """Have another root for this process."""
    os.chroot(Path.cwd())
    return "has another root"


def setns_of_process_1(stage: Stage) -> str:
    """Enter a namespace of process 1."""
    entered = []
    for kind in ("uts", "ipc", "net", "cgroup", "mnt", "pid", "user"):
        with suppress(OSError):
            descriptor = os.open(f"/proc/1/ns/{kind}", os.O_RDONLY)
            call("setns", descriptor, 0)
            entered.append(kind)
    return " ".join(entered)


def setns_of_this_process(stage: Stage) -> str:
    """Enter a namespace that this process is in already."""
    call("setns", os.open("/proc/self/ns/uts", os.O_RDONLY), 0)
    return "entered"


def bpf_map(stage: Stage) -> str:
    """Make a map for programs of the kernel."""
    wanted = ctypes.c_char_p(struct.pack("5I", 2, 4, 4, 1, 0) + bytes(100))
    os.close(call("bpf", _MAP_CREATE, wanted, 72))
    return "has a map"


def perf_event(stage: Stage) -> str:
    """Measure this process with the counters of the machine."""
    flags = 1 | 1 << 5 | 1 << 6
    event = struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, flags) + bytes(80)
    os.close(call("perf_event_open", ctypes.c_char_p(event), 0, -1, -1, 0))
    return "has a counter"


def userfaultfd(stage: Stage) -> str:
    """Answer the faults of memory."""
    os.close(call("userfaultfd", 1))
    return "answers faults"


def a39_io_uring(stage: Stage) -> str:
    """Have a ring over which calls are made that no filter sees."""
    os.close(call("io_uring_setup", 4, ctypes.create_string_buffer(120)))
    return "has a ring"


def a41_keyring(stage: Stage) -> str:
    """Read a key that the starter has in its session, which is inherited."""
    number = call("keyctl", _SEARCH, _SESSION_KEYRING, b"user", b"harness-probe", 0)
    found = ctypes.create_string_buffer(200)
    call("keyctl", _READ, number, found, 200)
    return secret_in(found.value.decode())


def proc_keys(stage: Stage) -> str:
    """See which keys there are."""
    return " ".join(line for line in Path("/proc/keys").read_text().splitlines() if "harness-probe" in line)


def keyring_joined(stage: Stage) -> str:
    """Have a session of keys."""
    return f"session {call('keyctl', _JOIN, 0)}"


def reboot_and_kexec(stage: Stage) -> str:
    """Get past the question who may end the machine: the words are wrong, so nothing happens."""
    tries = {
        "reboot": lambda: call("reboot", 1, 2, 3, 0),
        "kexec": lambda: call("kexec_load", 0, 1000, 0, 0x8000),
    }
    return " ".join(name for name, act in tries.items() if refusal(act) == errno.EINVAL)


def hostname(stage: Stage) -> str:
    """Give the machine another name."""
    socket.sethostname("elsewhere")
    return socket.gethostname()


def clock_set(stage: Stage) -> str:
    """Have the kernel read a time to set: one that there is not, so nothing happens."""
    wrong = ctypes.c_char_p(struct.pack("qq", -1, -1))
    return "the kernel read it" if refusal(lambda: call("clock_settime", 0, wrong)) == errno.EINVAL else ""


def clock_adjusted(stage: Stage) -> str:
    """Ask how the clock is adjusted."""
    call("adjtimex", ctypes.create_string_buffer(512))
    return "it says"


def kernel_log(stage: Stage) -> str:
    """Ask for the size of the kernel's messages."""
    return f"{call('syslog', 10, 0, 0)} bytes"


def handle_opened(stage: Stage) -> str:
    """Have the kernel look for a file by its number: a wrong one, so that only the right is asked for."""
    wrong = ctypes.c_char_p(struct.pack("Ii", 8, 1) + bytes(8))
    descriptor = os.open("/", os.O_RDONLY)
    number = refusal(lambda: call("open_by_handle_at", descriptor, wrong, os.O_RDONLY))
    return f"it looked: {os.strerror(number)}" if number != errno.EPERM else ""


def families(stage: Stage) -> str:
    """Open a socket of any family but the usual: packets, virtual machines, cryptography and others."""
    kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)
    odd = [family for family in range(1, 46) if family not in _USUAL_FAMILIES]
    return " ".join(str(family) for family in odd if any(_opens(family, kind) for kind in kinds))


def netlink_for_devices(stage: Stage) -> str:
    """Hear what the kernel says of devices."""
    return "opened" if _opens(socket.AF_NETLINK, socket.SOCK_RAW, 15) else ""


def _opens(family: int, kind: int, protocol: int = 0) -> bool:
    with suppress(OSError), socket.socket(family, kind, protocol):
        return True
    return False


def packet_socket(stage: Stage) -> str:
    """See the packets of the network."""
    socket.socket(17, socket.SOCK_RAW, 0).close()
    return "opened"


def vsock(stage: Stage) -> str:
    """Talk to the host of a virtual machine."""
    socket.socket(40, socket.SOCK_STREAM).close()
    return "opened"


PROBES = (
    *(Probe(_named(f"a40_unshare_{kind}", _unshare, kind), Control.RIGHTS) for kind in _NAMESPACES),
    *(Probe(_named(f"a40_clone_{kind}", _clone, kind), Control.RIGHTS) for kind in ("user", "net", "pid")),
    *(Probe(_named(f"mount_{kind}", _mount, kind), Control.OPEN) for kind in ("proc", "sysfs", "tmpfs")),
    *(Probe(act, Control.RIGHTS) for act in (a40_nested_and_mounted, clone3_process, mount_by_parts)),
    *(Probe(act, Control.RIGHTS) for act in (mount_taken, pivot_root, chroot, setns_of_process_1)),
    *(Probe(act, Control.RIGHTS) for act in (setns_of_this_process, perf_event, userfaultfd)),
    *(Probe(act, Control.RIGHTS) for act in (a39_io_uring, keyring_joined, reboot_and_kexec, hostname)),
    *(Probe(act, Control.RIGHTS) for act in (families, netlink_for_devices, packet_socket, vsock)),
    *map(Probe, (a41_keyring, proc_keys, clock_set, clock_adjusted)),
    *(Probe(act, needs=Needs.ROOT) for act in (bpf_map, kernel_log, handle_opened)),
)
