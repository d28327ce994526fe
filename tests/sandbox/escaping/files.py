"""Ways out over files: what lies beside the tree, and what is shown to be read only."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.sandbox.escaping.probe import Control, Needs, Probe, Stage, library, printed, secret_in

_REMOUNT, _BIND = 32, 4096
_OUTPUTS, _PROGRAM = "/run/harness/output", "/run/harness/program/harness_executor"


def _read(*places: str | Path) -> str:
    found = [secret_in(Path(place).read_text(errors="replace")) for place in places]
    return " ".join(filter(None, found))


def _fresh(name: str) -> Path:
    place = Path.cwd() / name
    place.unlink(missing_ok=True)
    return place


def _make_in(folder: str | Path) -> str:
    """Have a file without a name in a folder, which is gone when it is closed."""
    os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
    return f"wrote into {folder}"


def _listed(folder: str, besides: str = "") -> str:
    return " ".join(place.name for place in Path(folder).iterdir() if place.name != besides)


def _numbers() -> Iterator[str]:
    return (entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit())


def a27_symlink_to_state(stage: Stage) -> str:
    """Read the state through a link in the tree."""
    link = _fresh("to-state")
    link.symlink_to(f"{stage.state}/key")
    return secret_in(printed("sh", "-c", f"cat {link}"))


def a27_symlink_written_through(stage: Stage) -> str:
    """Open the log for writing through a link to its folder."""
    link = _fresh("to-folder")
    link.symlink_to(stage.state)
    os.close(os.open(link / "events.jsonl", os.O_WRONLY | os.O_APPEND))
    return "opened the log"


def a29_hardlink_to_state(stage: Stage) -> str:
    """Have a second name in the tree for a file of the state."""
    link = _fresh("hard")
    link.hardlink_to(f"{stage.state}/key")
    return _read(link)


def a29_hardlink_to_tools(stage: Stage) -> str:
    """Have a second name in the tree for a file that is only shown."""
    link = _fresh("hard-tool")
    link.hardlink_to(f"{stage.tools}/tool")
    return f"linked {link.stat().st_nlink}"


def a30_proc_self_root(stage: Stage) -> str:
    """Read the state from a shell over the root of this process."""
    return secret_in(printed("sh", "-c", f"cat /proc/self/root{stage.state}/key"))


def a30_root_of_others(stage: Stage) -> str:
    """Read the state over the root of every process, process 1 among them."""
    places = [f"/proc/{number}/root{stage.state}/key" for number in _numbers()]
    return secret_in(printed("cat", *places))


def a30_folder_of_others(stage: Stage) -> str:
    """Read the state over the folder that a process stands in."""
    return secret_in(printed("cat", *(f"/proc/{number}/cwd/key" for number in _numbers())))


def a30_descriptors_of_others(stage: Stage) -> str:
    """Read what another process has open."""
    found = []
    for number in _numbers():
        with suppress(OSError):
            open_files = list(Path(f"/proc/{number}/fd").iterdir())
            found += [str(place) for place in open_files if str(place.readlink()) == f"{stage.state}/key"]
    return secret_in(printed("cat", *found)) if found else ""


def a30_dev_fd(stage: Stage) -> str:
    """Read what the starter of this process has left open."""
    for number in range(3, 64):
        with suppress(OSError):
            if str(Path(f"/dev/fd/{number}").readlink()) == f"{stage.state}/key":
                return _read(f"/dev/fd/{number}")
    return ""


def a35_state(stage: Stage) -> str:
    """Read the state home."""
    return _listed(stage.state)


def a35_seal_key(stage: Stage) -> str:
    """Read the key of the seal."""
    return _read(f"{stage.state}/key")


def a35_journal_append(stage: Stage) -> str:
    """Open the log to add to it."""
    os.close(os.open(f"{stage.state}/events.jsonl", os.O_WRONLY | os.O_APPEND))
    return "opened the log"


def a35_evidence(stage: Stage) -> str:
    """Read the evidence."""
    return _read(f"{stage.state}/evidence/run-1/exchanges.jsonl")


def a36_lock_file(stage: Stage) -> str:
    """Put the lock file away; it is put back."""
    lock = Path(stage.state, "lock")
    lock.rename(lock.with_name("lock.gone"))
    lock.with_name("lock.gone").rename(lock)
    return "moved the lock"


def home_ssh(stage: Stage) -> str:
    """Read the user's key."""
    return _read(f"{stage.home}/.ssh/id_ed25519")


def home_aws(stage: Stage) -> str:
    """Read the user's access to a cloud."""
    return _read(f"{stage.home}/.aws/credentials")


def home_config(stage: Stage) -> str:
    """Read the user's settings of this program."""
    return _read(f"{stage.config}/config.toml")


def home_netrc(stage: Stage) -> str:
    """Read the user's passwords."""
    return _read(f"{stage.home}/.netrc")


def home_listed(stage: Stage) -> str:
    """List the user's home."""
    return _listed(stage.home)


def work_home_listed(stage: Stage) -> str:
    """List the trees of other work."""
    return _listed(stage.work)


def base_tree(stage: Stage) -> str:
    """Read the other tree of the same run."""
    return _read(f"{stage.base}/answer.py")


def base_tree_written(stage: Stage) -> str:
    """Change the other tree of the same run."""
    os.close(os.open(f"{stage.base}/answer.py", os.O_WRONLY))
    return "opened the other tree"


def write_usr(stage: Stage) -> str:
    """Write into the system."""
    return _make_in("/usr")


def write_etc(stage: Stage) -> str:
    """Add a file to the settings of the system that the box has."""
    os.close(os.open("/etc/probe", os.O_WRONLY | os.O_CREAT))
    return "wrote /etc/probe"


def write_passwd(stage: Stage) -> str:
    """Change who there is in the box."""
    os.close(os.open("/etc/passwd", os.O_WRONLY))
    return "opened /etc/passwd"


def write_root(stage: Stage) -> str:
    """Add a file to the root."""
    os.close(os.open("/probe", os.O_WRONLY | os.O_CREAT))
    return "wrote /probe"


def write_program(stage: Stage) -> str:
    """Write into this program."""
    return _make_in(_PROGRAM)


def write_tools(stage: Stage) -> str:
    """Write into a toolchain that is shown."""
    return _make_in(stage.tools)


def write_outputs(stage: Stage) -> str:
    """Write into the folder of long results."""
    return _make_in(_OUTPUTS)


def write_beside(stage: Stage) -> str:
    """Write into installed packages."""
    return _make_in(Path.cwd() / "node_modules")


def a40_remount_tools(stage: Stage) -> str:
    """Lift what makes a folder read only, and write into it."""
    library("mount", b"none", stage.tools.encode(), None, _REMOUNT | _BIND, None)
    return _make_in(stage.tools)


def a40_remount_usr(stage: Stage) -> str:
    """Lift what makes the system read only."""
    library("mount", b"none", b"/usr", None, _REMOUNT | _BIND, None)
    return "" if os.statvfs("/usr").f_flag & os.ST_RDONLY else "/usr may be written to"


def core_pattern(stage: Stage) -> str:
    """Open the setting that names a program which the kernel runs as root."""
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return "opened core_pattern"


def proc_writable(stage: Stage) -> str:
    """Open any file of /proc for writing that is not about a process."""
    skipped = {"self", "thread-self", "net", "mounts"}
    tops = [place for place in Path("/proc").iterdir() if not place.name.isdigit()]
    return " ".join(_writable([place for place in tops if place.name not in skipped]))


def _writable(places: list[Path]) -> Iterator[str]:
    while places:
        place = places.pop()
        with suppress(OSError):
            kind = place.lstat().st_mode
            if stat.S_ISDIR(kind):
                places += place.iterdir()
            elif stat.S_ISREG(kind):
                os.close(os.open(place, os.O_WRONLY | os.O_NONBLOCK))
                yield str(place)


def proc_of_root(stage: Stage) -> str:
    """Read what /proc tells to nobody but root."""
    found = [
        place
        for place in Path("/proc").iterdir()
        if not place.name.isdigit() and stat.S_ISREG(mode := place.lstat().st_mode) and not mode & 0o004
    ]
    return " ".join(place.name for place in found if place.name != "kmsg" and _first_byte(place))


def _first_byte(place: Path) -> bytes:
    with suppress(OSError), place.open("rb") as stream:
        return stream.read(1)
    return b""


def etc_of_root(stage: Stage) -> str:
    """List folders of /etc that are open to root only."""
    found = []
    for folder, names, _ in os.walk("/etc"):
        inner = [Path(folder, name) for name in names]
        found += [
            str(place) for place in inner if not place.lstat().st_mode & 0o005 and os.access(place, os.R_OK)
        ]
    return " ".join(found)


def sys_listed(stage: Stage) -> str:
    """List the devices of the machine."""
    return _listed("/sys")


def a41_run_listed(stage: Stage) -> str:
    """List where the services of the machine have their sockets."""
    return _listed("/run", besides="harness")


def device_opened(stage: Stage) -> str:
    """Open a disk, or a device that shows the machine's memory or messages, to read."""
    lines = Path("/proc/partitions").read_text().splitlines()[2:]
    names = ["kmsg", "mem", "kvm", "fuse", "loop-control", *(line.split()[3] for line in lines)]
    return " ".join(name for name in names if _opens(f"/dev/{name}"))


def _opens(place: str) -> bool:
    with suppress(OSError):
        os.close(os.open(place, os.O_RDONLY | os.O_NONBLOCK))
        return True
    return False


def device_made(stage: Stage) -> str:
    """Make the device of a disk."""
    place = _fresh("disk")
    os.mknod(place, stat.S_IFBLK | 0o600, os.makedev(7, 0))
    place.unlink()
    return "made a disk"


PROBES = (
    *map(Probe, (a27_symlink_to_state, a27_symlink_written_through, a29_hardlink_to_state)),
    *map(Probe, (a29_hardlink_to_tools, a30_proc_self_root, a30_root_of_others, a30_folder_of_others)),
    *map(Probe, (a30_descriptors_of_others, a30_dev_fd, a35_state, a35_seal_key, a35_journal_append)),
    *map(Probe, (a35_evidence, a36_lock_file, home_ssh, home_aws, home_config, home_netrc, home_listed)),
    *map(Probe, (work_home_listed, base_tree, base_tree_written, sys_listed, a41_run_listed)),
    *(Probe(act, Control.MOUNTS) for act in (write_etc, write_passwd, write_root, write_program)),
    *(Probe(act, Control.MOUNTS) for act in (write_tools, write_outputs, write_beside)),
    *(Probe(act, Control.RIGHTS) for act in (a40_remount_tools, a40_remount_usr)),
    *(Probe(act, Control.MOUNTS, needs=Needs.ROOT) for act in (write_usr, core_pattern, proc_writable)),
    *(Probe(act, needs=Needs.ROOT) for act in (proc_of_root, etc_of_root, device_opened, device_made)),
)
