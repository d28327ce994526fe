"""Tries to leave a box from within, and prints what each try came to.

Runs with a bare interpreter inside the box; the arguments are the port of a server outside, the names of two
sockets outside, and paths that are not for commands. Each line is the name of a layer, `held` or `open`, and
what was seen.
"""

import ctypes
import os
import socket
import sys

LAYERS: tuple[str, ...] = (
    *("system is read only", "remounting", "kernel settings", "capabilities", "capability bound"),
    *("new privileges", "system call filter", "user namespaces", "processes"),
    *("network", "network of its own", "sockets", "files of the user", "names of files", "terminal"),
)
"""Everything that is tried; a sandbox says which of it must hold."""

_MS_REMOUNT, _MS_BIND = 32, 4096
_IPPROTO_MPTCP, _MSG_FASTOPEN = 262, 0x20000000
_CLONE_NEWUSER = 0x10000000


def status(name: str) -> str:
    """A field of what the kernel says of this process."""
    with open("/proc/self/status", encoding="ascii") as lines:  # noqa: PTH123 - pathlib is not loaded here
        return next((line.split()[1] for line in lines if line.startswith(f"{name}:")), "?")


def call(name: str, *arguments: object) -> str:
    """What a call of the C library came to: the name of its error, or nothing when it worked."""
    library = ctypes.CDLL(None, use_errno=True)
    return os.strerror(ctypes.get_errno()) if getattr(library, name)(*arguments) < 0 else ""


def writes(path: str) -> str:
    """Why a file cannot be written to, or nothing when it can."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError as error:
        return error.strerror or "refused"
    return ""


def adds(folder: str) -> str:
    """Why a file cannot be added to a folder, or nothing when it can; it is taken away again."""
    path = f"{folder}/.harness-{os.getpid()}"
    refused = writes(path)
    if not refused:
        os.unlink(path)  # noqa: PTH108 - pathlib is not loaded here
    return refused


def opens(path: str) -> bool:
    """Can a file or folder be read?"""
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def connects(family: int, protocol: int, address: tuple[str, int] | str) -> str:
    """Why a socket outside cannot be connected to, or nothing when it can."""
    try:
        with socket.socket(family, socket.SOCK_STREAM, protocol) as client:
            client.settimeout(2)
            client.connect(address)
    except OSError as error:
        return error.strerror or "refused"
    return ""


def sends(port: int) -> str:
    """Why a server outside cannot be connected to by sending, or nothing when it can."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
            client.sendto(b"x", _MSG_FASTOPEN, ("127.0.0.1", port))
    except OSError as error:
        return error.strerror or "refused"
    return ""


def interfaces() -> str:
    """The network interfaces there are."""
    return " ".join(sorted(name for _, name in socket.if_nameindex()))


def processes() -> list[str]:
    """The processes that can be seen."""
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - pathlib is not loaded here
    except OSError:
        return []


def reaches(port: int, sockets: tuple[str, str]) -> dict[str, tuple[bool, str]]:
    """The layers between a command and whoever listens outside."""
    server = ("127.0.0.1", port)
    ways = (
        connects(socket.AF_INET, 0, server),
        connects(socket.AF_INET, _IPPROTO_MPTCP, server),
        sends(port),
    )
    file, abstract = sockets
    names = (connects(socket.AF_UNIX, 0, file), connects(socket.AF_UNIX, 0, f"\0{abstract}"))
    return {
        "network": (all(ways), "; ".join(ways)),
        "network of its own": (interfaces() == "lo", interfaces()),
        "sockets": (all(names), "; ".join(names)),
    }


def tries(port: int, sockets: tuple[str, str], hidden: list[str]) -> dict[str, tuple[bool, str]]:
    """Every layer: does it hold, and what was seen."""
    remount = call("mount", b"none", b"/usr", None, _MS_REMOUNT | _MS_BIND, None)
    unshare, usr, core = (
        call("unshare", _CLONE_NEWUSER),
        adds("/usr"),
        writes("/proc/sys/kernel/core_pattern"),
    )
    numbers = processes()
    seen = [path for path in hidden if os.path.exists(path)]  # noqa: PTH110 - as above
    read = [path for path in seen if opens(path)]
    terminal = writes("/dev/tty")
    return {
        "system is read only": (bool(usr), usr),
        "remounting": (bool(remount), remount),
        "kernel settings": (bool(core), core),
        "capabilities": (not int(status("CapEff") + status("CapPrm"), 16), status("CapEff")),
        "capability bound": (not int(status("CapBnd"), 16), status("CapBnd")),
        "new privileges": (status("NoNewPrivs") == "1", f"NoNewPrivs {status('NoNewPrivs')}"),
        "system call filter": (status("Seccomp") == "2", f"mode {status('Seccomp')}"),
        "user namespaces": (bool(unshare), unshare),
        "processes": (len(numbers) < 10, f"{len(numbers)} to be seen"),
        **reaches(port, sockets),
        "files of the user": (not read, " ".join(read) or "none to be read"),
        "names of files": (not seen, " ".join(seen) or "none to be seen"),
        "terminal": (bool(terminal), terminal),
    }


def main(port: str, file: str, abstract: str, *hidden: str) -> None:
    """Print what every try came to."""
    for name, (holds, seen) in tries(int(port), (file, abstract), list(hidden)).items():
        os.write(1, f"{name}\t{'held' if holds else 'open'}\t{seen}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
