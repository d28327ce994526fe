"""Tries to leave a box from within, and prints what each try came to.

Runs with a bare interpreter inside the box; the arguments are the port of a server outside, and paths that
must not be there. Each line is a name, `held` or `open`, and what was seen.
"""

import ctypes
import os
import socket
import sys

_MS_REMOUNT, _MS_BIND = 32, 4096
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


def reaches(port: int) -> str:
    """Why a server of the machine cannot be reached, or nothing when it can."""
    with socket.socket() as client:
        client.settimeout(2)
        try:
            client.connect(("127.0.0.1", port))
        except OSError as error:
            return error.strerror or "refused"
    return ""


def interfaces() -> str:
    """The network interfaces there are."""
    return " ".join(sorted(name for _, name in socket.if_nameindex()))


def tries(port: int, hidden: list[str]) -> dict[str, tuple[bool, str]]:
    """Every layer: does it hold, and what was seen."""
    remount = call("mount", b"none", b"/usr", None, _MS_REMOUNT | _MS_BIND, None)
    capabilities = status("CapEff") + status("CapPrm") + status("CapBnd")
    unshare, usr, core = (
        call("unshare", _CLONE_NEWUSER),
        adds("/usr"),
        writes("/proc/sys/kernel/core_pattern"),
    )
    numbers = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - as above
    seen = [path for path in hidden if os.path.exists(path)]  # noqa: PTH110 - as above
    network = reaches(port)
    terminal = writes("/dev/tty")
    return {
        "system is read only": (bool(usr), usr),
        "remounting": (bool(remount), remount),
        "kernel settings": (bool(core), core),
        "capabilities": (not int(capabilities, 16), f"{int(capabilities, 16):x}"),
        "new privileges": (status("NoNewPrivs") == "1", f"NoNewPrivs {status('NoNewPrivs')}"),
        "system call filter": (status("Seccomp") == "2", f"mode {status('Seccomp')}"),
        "user namespaces": (bool(unshare), unshare),
        "processes": (len(numbers) < 10, f"{len(numbers)} to be seen"),
        "network": (bool(network) and interfaces() == "lo", f"{network}; {interfaces()}"),
        "files of the user": (not seen, " ".join(seen) or "none to be seen"),
        "terminal": (bool(terminal), terminal),
    }


def main(port: str, *hidden: str) -> None:
    """Print what every try came to."""
    for name, (holds, seen) in tries(int(port), list(hidden)).items():
        os.write(1, f"{name}\t{'held' if holds else 'open'}\t{seen}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
