"""Limits of a process: what they stop, and whom."""

import json
import os
import resource
import signal

import pytest

from harness_executor.sandbox.limits import Limits
from tests.sandbox.hunger import BOMB, HOG, bare, boxed, ended, lowered, ordinary, start

MUCH = 2**40
SAY = """
import json, sys
names = ("DATA", "NPROC", "FSIZE", "CORE", "NOFILE")
print(json.dumps({name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names}))
"""


def limits_after(*numbers: int, before: str = "") -> dict[str, list[int]]:
    """The limits of a process that lowered them."""
    code, said = ended(start(bare(f"import resource\n{before}\n{lowered(*numbers)}{SAY}")))
    assert code == 0
    found: dict[str, list[int]] = json.loads(said)
    return found


def test_lowers_every_limit_for_good() -> None:
    """Both the limit and what it could be raised to are lowered; no core is ever written."""
    found = limits_after(10**9, 100, 10**6, 64)
    expected = {"DATA": [10**9] * 2, "NPROC": [100] * 2, "FSIZE": [10**6] * 2, "CORE": [0, 0]}
    assert {name: found[name] for name in expected} == expected


def test_leaves_open_files_to_the_user() -> None:
    """Of open files a process may still ask for as many as the user has."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits_after(MUCH, MUCH, MUCH, 64)["NOFILE"] == [64, hard]


def test_raises_no_limit() -> None:
    """A limit that is lower already stays as it is."""
    before = "\n".join(
        f"resource.setrlimit(resource.RLIMIT_{name}, {pair})"
        for name, pair in (("DATA", (5 * 10**7, 6 * 10**7)), ("FSIZE", (7, 8)), ("NPROC", (90, 99)))
    )
    before += "\nresource.setrlimit(resource.RLIMIT_NOFILE, (20, 30))"
    found = limits_after(MUCH, MUCH, MUCH, MUCH, before=before)
    assert (found["DATA"], found["FSIZE"]) == ([5 * 10**7, 6 * 10**7], [7, 8])
    assert (found["NPROC"], found["NOFILE"]) == ([90, 99], [20, 30])


def test_needs_nothing_but_the_limits() -> None:
    """A bare interpreter loads one module for it."""
    script = "import sys\nbefore = set(sys.modules)\n" + lowered(MUCH, MUCH, MUCH, 64)
    assert ended(start(bare(f"{script}\nprint(*(set(sys.modules) - before))"))) == (0, "resource")


def test_a_box_cannot_raise_its_limits() -> None:
    """A limit that only was set can be raised again in a box; one that was lowered for good cannot."""
    set_only = (
        "import resource\nkind = resource.RLIMIT_FSIZE\n"
        "resource.setrlimit(kind, (1000, resource.getrlimit(kind)[1]))\n"
    )
    attempt = (
        "try:\n    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n    print('raised')\n"
        "except ValueError:\n    print('not raised')"
    )
    rights = ("--cap-add", "ALL")
    assert ended(start(boxed(*rights, *bare(set_only + attempt)))) == (0, "raised")
    for_good = lowered(MUCH, MUCH, 1000, 64) + attempt
    assert ended(start(boxed(*rights, *bare(for_good)))) == (0, "not raised")


def test_stops_a_process_that_wants_too_much_memory() -> None:
    """A process gets its 300 MB without the limit, and a MemoryError with it."""
    assert ended(start(bare(HOG))) == (0, "300000000")
    process = start(bare(lowered(200_000_000, MUCH, MUCH, 64) + HOG))
    _, errors = process.communicate("\n", timeout=60)
    assert errors.strip().endswith("MemoryError")


def test_stops_a_file_that_grows_too_large() -> None:
    """A file ends at the limit, and so does a program that does not ask."""
    write = (
        "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nfile = os.memfd_create('f')\n"
        "while os.fstat(file).st_size < 5_000_000: os.write(file, bytes(100_000))\nprint('grown')"
    )
    assert ended(start(bare(write))) == (0, "grown")
    assert ended(start(bare(lowered(MUCH, MUCH, 1_000_000, 64) + write))) == (-signal.SIGXFSZ, "")


def test_stops_a_fork_bomb_of_an_ordinary_user() -> None:
    """In a box the limit of processes holds, where without it there is none."""
    bomb = lowered(MUCH, 40, MUCH, 64) + BOMB
    assert ended(start(boxed(*bare(BOMB)), **ordinary())) == (0, "200")
    code, children = ended(start(boxed(*bare(bomb)), **ordinary()))
    assert code == 0
    assert 30 <= int(children) <= 40


def test_counts_only_the_processes_of_the_box() -> None:
    """A second box of the same user gets as many processes while the first has all of its own."""
    bomb = bare(lowered(MUCH, 40, MUCH, 64) + BOMB)
    first = start(boxed(*bomb), **ordinary())
    assert first.stdin
    assert first.stdout
    first.stdin.write("\n")
    first.stdin.flush()
    children = first.stdout.readline().strip()
    assert ended(start(boxed(*bomb), **ordinary()))[1] == children
    assert ended(first)[0] == 0


PROGRAMS = {
    "python3": (
        "import threading\ngate = threading.Event()\n"
        "for _ in range(100): threading.Thread(target=gate.wait).start()\n"
        "print('.')\ngate.set()"
    ),
    "node": "new (require('worker_threads').Worker)('0', {eval: true}).on('exit', () => console.log('.'))",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_leaves_room_for_ordinary_programs(name: str) -> None:
    """Interpreters that reserve a lot and use little start their threads under the usual limits."""
    argv = [name, "-c" if name == "python3" else "-e", PROGRAMS[name]]
    script = lowered(*Limits().of_process()) + f"import os\nos.execvp({name!r}, {argv!r})"
    code, said = ended(start(boxed(*bare(script))))
    assert (code, said) == (0, ".")


@pytest.mark.parametrize("box", [True, False])
def test_does_not_bind_the_processes_of_root(box: bool) -> None:
    """The machine's root is not held, in a box or not: that is what cgroups are for."""
    bomb = bare(lowered(MUCH, 40, MUCH, 64) + BOMB)
    children = int(ended(start(boxed(*bomb) if box else bomb))[1])
    assert (children == 200) == (os.geteuid() == 0)
