"""Limits that the kernel holds against a process and whatever it starts.

Read by a bare interpreter in a box, so it imports nothing of the package. The limit of processes binds
an ordinary user, and in a user namespace counts only what is in there; it does not bind the machine's
root, whose processes only a cgroup bounds.
"""

import resource


def lower(memory: int, processes: int, file_size: int, open_files: int) -> None:
    """Lower the limits of this process for good; one that is lower already stays."""
    final = (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, most in final:
        soft, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (_least(soft, most), _least(hard, most)))
    # a program that needs more open files asks for them itself, up to what the user has
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_least(soft, open_files), hard))


def _least(now: int, most: int) -> int:
    return most if now == resource.RLIM_INFINITY else min(now, most)
