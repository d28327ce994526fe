"""Files that are either the old one or the new one, never half of one."""

import os
from contextlib import suppress
from pathlib import Path

from harness_executor import faults
from harness_executor.clock import new_id
from harness_executor.errors import DiskError

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LONE = "backslashreplace"
"""How half a surrogate pair is written: as the escape JSON has for it."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file in one step and make it durable."""
    temporary = path.with_name(f".{path.name}.{new_id()[:12]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # a name nobody can guess, and no link is followed: others may write in this folder
        with os.fdopen(os.open(temporary, _NEW, 0o644), "wb") as stream:
            stream.write(content if isinstance(content, bytes) else content.encode(errors=LONE))
            stream.flush()
            faults.point("file.written")
            os.fsync(stream.fileno())
        temporary.replace(path)
        faults.point("file.replaced")
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise disk_error(path, error) from error


def append_line(path: Path, line: str) -> None:
    """Add one line to a file of lines, durably; an unfinished line before it stays on its own."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            size = os.fstat(target).st_size
            stub = size > 0 and os.pread(target, 1, size - 1) != b"\n"
            write_all(target, b"\n" * stub + line.encode(errors=LONE) + b"\n")
            os.fsync(target)
        finally:
            os.close(target)
    except OSError as error:
        raise disk_error(path, error) from error


def make_secret(path: Path, content: bytes) -> bytes:
    """Make a file that nobody else may read, unless another process was first; gives what is in it."""
    draft = path.with_name(f".{path.name}.{new_id()[:12]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(draft, _NEW, 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        return path.read_bytes()
    except OSError as error:
        raise disk_error(path, error) from error
    finally:
        draft.unlink(missing_ok=True)


def write_all(target: int, data: bytes) -> None:
    """Write every byte, however few the system takes at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def disk_error(path: Path, error: OSError) -> DiskError:
    """What a failed write is called."""
    return DiskError(
        f"cannot write {path}: {error.strerror or error}",
        hint="make room or fix the disk, then `harness resume`; nothing that was acknowledged is lost",
    )
