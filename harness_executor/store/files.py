"""Files that are either the old one or the new one, never half of one."""

import os
from pathlib import Path

from harness_executor import faults
from harness_executor.errors import DiskError


def write_atomically(path: Path, text: str) -> None:
    """Replace a file in one step and make it durable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            faults.point("file.written")
            os.fsync(stream.fileno())
        temporary.replace(path)
        faults.point("file.replaced")
        sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(path, error) from error


def append_line(path: Path, line: str) -> None:
    """Add one line to a file of lines, in one write, durably."""
    path.parent.mkdir(parents=True, exist_ok=True)
    target = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.write(target, line.encode() + b"\n")
        os.fsync(target)
    except OSError as error:
        raise disk_error(path, error) from error
    finally:
        os.close(target)


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
