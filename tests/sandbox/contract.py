"""What every sandbox does, whatever it is made of.

`SandboxContract` needs a fixture `subject` that gives a `Subject`, and holds for all of them; `BoxContract`
for those that keep commands away from the user's files, and `PrivateContract` for those that have a network
and processes of their own.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness_executor.errors import BoxBroke
from harness_executor.evidence.sockets import free_port, listeners
from harness_executor.sandbox.base import Box, Cause
from harness_executor.sandbox.limits import Limits
from tests.canary import CANARY
from tests.sandbox.reaching import REACHES, Outside
from tests.sandbox.staying import STAYERS
from tests.sandbox.subjects import SERVER, Subject, end, heard, left

ROOT = Path(__file__).parent.parent.parent
CYCLES = 100
stayers = pytest.mark.parametrize("name", STAYERS)

POLITE = """
    def leave(*_):
        os._exit(5)
    signal.signal(signal.SIGTERM, leave)
    up()
    time.sleep(600)
"""
HOG = """
    os.fork()
    os.fork()
    held = bytearray(os.urandom(1)) * 120_000_000
    time.sleep(600)
"""
SWARM = """
    children = 0
    while children < 300:
        try:
            if os.fork() == 0:
                time.sleep(600)
        except BlockingIOError:
            time.sleep(0.05)
        children += 1
    time.sleep(600)
"""
FILLER = """
    with open("full", "wb") as file:
        for _ in range(60):
            file.write(os.urandom(5_000_000))
            os.fsync(file.fileno())
            time.sleep(0.05)
    time.sleep(600)
"""


class SandboxContract:
    """What holds with and without a box."""

    def test_gives_back_code_and_output(self, subject: Subject) -> None:
        """A command's code and both of its outputs come back, in order."""
        done = subject.shell(subject.open(), "echo one; echo two >&2; exit 7")
        assert (done.code, done.output, done.cause) == (7, "one\ntwo\n", Cause.NONE)
        assert not done.ok

    def test_a_killed_command_has_the_code_of_its_signal(self, subject: Subject) -> None:
        """A command that is killed by a signal says so in its code."""
        assert subject.shell(subject.open(), "kill -9 $$").code == -signal.SIGKILL

    def test_a_command_that_is_not_there_says_so(self, subject: Subject) -> None:
        """A program that cannot be found ends with 127, its name and the reason."""
        done = subject.run(subject.open(), "no-such-program")
        assert done.code == 127
        assert "cannot start no-such-program" in done.output

    def test_a_command_too_long_to_start_harms_nothing(self, subject: Subject) -> None:
        """A command that no system could start is an error of its own, and the next one runs."""
        box = subject.open()
        with pytest.raises(OSError, match="Argument list too long"):
            subject.run(box, "echo", "x" * 3_000_000)
        assert subject.shell(box, "echo still here").output == "still here\n"

    def test_runs_where_it_is_told(self, subject: Subject) -> None:
        """A command begins in the folder it is given, as the box sees it."""
        box = subject.open()
        (subject.tree / "inner").mkdir()
        assert subject.shell(box, "pwd; cd inner && pwd").output.split() == [
            str(box.root),
            str(box.root / "inner"),
        ]

    def test_a_command_has_the_environment_it_is_given(self, subject: Subject) -> None:
        """A command has what the box gives and what is added, and no key of the user's."""
        box = subject.open()
        done = subject.run(box, "env", "-u", "PWD", "-u", "SHLVL", "-u", "_", "env")
        told = dict(line.split("=", 1) for line in done.output.splitlines())
        assert told == box.environment({"MARK": subject.mark.text})
        assert CANARY in os.environ["SOMEBODYS_API_KEY"]
        assert CANARY not in done.output

    def test_output_is_bounded(self, subject: Subject) -> None:
        """A command that says more than is kept is ended long before its time."""
        box = subject.open()
        command = subject.command(box, "yes", log_limit=100_000)
        began = time.monotonic()
        done = box.run(command, 60)
        assert done.cause is Cause.OUTPUT
        assert time.monotonic() - began < 20
        assert command.log
        assert command.log.stat().st_size == 100_000
        assert subject.mark.is_gone()

    def test_time_is_bounded(self, subject: Subject) -> None:
        """A command that takes too long is ended, and what it said is kept."""
        done = subject.run(subject.open(), "sh", "-c", "echo begun; exec sleep 600", seconds=5.0)
        assert (done.cause, done.output) == (Cause.TIME, "begun\n")
        assert subject.mark.is_gone()

    def test_runs_in_the_background(self, subject: Subject) -> None:
        """A command that is started goes on by itself, is known by its processes, and is waited for."""
        running = subject.start(
            subject.open(), "up()\nwhile os.path.exists('up'): time.sleep(0.01)\nos._exit(4)"
        )
        assert running.exit_code() is None
        assert running.wait(0.1) is None
        assert subject.mark.alive() & running.pids()
        (subject.tree / "up").unlink()
        assert running.wait(20) == 4
        assert running.exit_code() == 4
        assert running.pids() == set()

    def test_stops_politely_first(self, subject: Subject) -> None:
        """A command that heeds SIGTERM ends by itself, before its grace is over."""
        running = subject.start(subject.open(), POLITE)
        began = time.monotonic()
        assert running.stop(30.0)
        assert time.monotonic() - began < 10
        assert running.exit_code() == 5

    @stayers
    def test_stop_leaves_nothing(self, subject: Subject, name: str) -> None:
        """Whatever a command does to stay, nothing of it is left when it was stopped."""
        running = subject.start(subject.open(), STAYERS[name])
        assert subject.mark.alive()
        assert running.stop(0.2)
        assert subject.mark.is_gone()

    @stayers
    def test_nothing_outlives_a_killed_owner(self, subject: Subject, name: str) -> None:
        """When the owner is killed, whatever it ran is gone within two seconds."""
        words = (subject.name, str(subject.folder), subject.mark.text, STAYERS[name])
        owner = subprocess.Popen(
            [sys.executable, "-m", "tests.sandbox.subjects", *words], cwd=ROOT, stdout=subprocess.PIPE
        )
        with owner:
            assert owner.stdout
            assert owner.stdout.readline() == b"up\n"
            assert subject.mark.alive()
            owner.kill()
        assert subject.mark.is_gone(2.0)

    def test_a_server_is_reached_and_listed(self, subject: Subject) -> None:
        """A connection to a server of the box is made by `dial`, and the kernel lists it by `inquire`."""
        box, port = subject.open(), free_port()
        assert listeners(port, box.inquire) == []
        subject.start(box, SERVER.format(port=port, word="hello"))
        assert heard(box.dial(port)) == b"hello"
        (found,) = listeners(port, box.inquire)
        assert (found.address, found.port) == ("127.0.0.1", port)

    def test_dialling_nobody_fails_at_once(self, subject: Subject) -> None:
        """A port on which nobody listens is an error, soon."""
        box = subject.open()
        subject.shell(box, "true")
        began = time.monotonic()
        with pytest.raises(OSError, match="refused"):
            box.dial(free_port())
        assert time.monotonic() - began < 10

    def test_a_change_is_seen_outside(self, subject: Subject) -> None:
        """What a command writes into a tree is there for its owner, and the other way round."""
        box = subject.open()
        (subject.tree / "given").write_text("from outside\n")
        assert (
            subject.shell(box, "cat given; mkdir -p a/b; echo from inside > a/b/made").output
            == "from outside\n"
        )
        assert (subject.tree / "a/b/made").read_text() == "from inside\n"

    def test_shows_what_lies_beside(self, subject: Subject) -> None:
        """Installed packages and long results can be read."""
        box = subject.open()
        done = subject.shell(box, f"cat packages/package.py {box.outputs}/long.txt")
        assert done.output == "installed\na long result\n"

    def test_runs_commands_at_the_same_time(self, subject: Subject) -> None:
        """Each of many commands has its own output and its own code."""
        box = subject.open()
        with ThreadPoolExecutor(8) as pool:
            ends = list(pool.map(lambda n: subject.shell(box, f"sleep 0.2; echo {n}; exit {n}"), range(24)))
        assert [(done.code, done.output) for done in ends] == [(n, f"{n}\n") for n in range(24)]

    def test_a_box_outlives_the_thread_that_opened_it(self, subject: Subject) -> None:
        """A box belongs to the program, not to a thread of it."""
        boxes: list[Box] = []
        opening = threading.Thread(target=lambda: boxes.append(subject.open()))
        opening.start()
        opening.join()
        running = subject.start(boxes[0], "up()\ntime.sleep(600)")
        time.sleep(0.3)
        assert subject.shell(boxes[0], "echo alive").output == "alive\n"
        assert running.exit_code() is None
        assert running.stop(0.2)

    def test_leaks_nothing(self, subject: Subject) -> None:
        """A hundred boxes, each with a command, leave no descriptor, thread, process, mount or file."""

        def once() -> None:
            box = subject.open()
            assert subject.shell(box, "true").ok
            assert box.close()
            subject.boxes.clear()

        once()
        before = left(subject.folder)
        for _ in range(CYCLES):
            once()
        assert left(subject.folder) == before
        assert subject.mark.alive() == set()


class BoxContract:
    """What holds where commands are kept away from the user's files."""

    @stayers
    def test_close_leaves_nothing(self, subject: Subject, name: str) -> None:
        """Whatever a command does to stay, nothing of it is left when its box was closed."""
        box = subject.open()
        running = subject.start(box, STAYERS[name])
        assert subject.mark.alive()
        subject.boxes.clear()
        assert box.close()
        assert subject.mark.is_gone()
        assert running.wait(2) == -signal.SIGKILL

    @pytest.mark.parametrize("name", REACHES)
    def test_keeps_commands_away(self, subject: Subject, outside: Outside, name: str) -> None:
        """What works without a box does not work in one."""
        done = subject.python(subject.open(), outside.script(name))
        assert "reached" not in done.output
        assert outside.is_untouched()

    def test_has_a_home_of_its_own(self, subject: Subject, home: Path) -> None:
        """The home of commands is not the user's, is empty, and takes files."""
        box = subject.open()
        assert box.environment()["HOME"] != str(home)
        done = subject.shell(box, 'ls -A "$HOME" && touch "$HOME/file" && mktemp >/dev/null && ls -A "$HOME"')
        assert (done.code, done.output) == (0, "file\n")
        assert list(home.iterdir()) == []

    def test_a_tree_that_may_only_be_read_is_not_written_to(self, subject: Subject) -> None:
        """No file of a read-only tree is changed, made or removed."""
        (subject.tree / "file").write_text("as it was\n")
        box = subject.open(subject.room(writable=False))
        for line in ("echo changed > file", "echo made > new", "rm file", "mkdir folder", "mv file other"):
            assert subject.shell(box, f"cat file && {line}").code != 0
        assert (subject.tree / "file").read_text() == "as it was\n"
        assert {path.name for path in subject.tree.iterdir()} == {"file", "packages"}

    @pytest.mark.parametrize("copied", [False, True])
    def test_what_lies_beside_stays_as_it_is(self, subject: Subject, copied: bool) -> None:
        """Nothing written to installed packages or to results reaches them, also where writing is allowed."""
        box = subject.open(subject.room(copied=copied))
        subject.shell(box, "echo x >> packages/package.py; echo x > packages/new; rm packages/package.py")
        subject.shell(box, f"echo x >> {box.outputs}/long.txt; echo x > {box.outputs}/new")
        assert {path.name: path.read_text() for path in subject.packages.iterdir()} == {
            "package.py": "installed\n"
        }
        assert [path.read_text() for path in (subject.folder / "outputs").iterdir()] == ["a long result\n"]

    def test_too_much_memory_ends_a_command(self, subject: Subject) -> None:
        """A command that needs more memory than its box may have is ended for that."""
        box = subject.open(limits=Limits(memory=200_000_000))
        assert subject.python(box, HOG).cause is Cause.MEMORY
        assert box.why_ended() is Cause.MEMORY
        assert subject.mark.is_gone()

    def test_too_many_processes_end_a_command(self, subject: Subject) -> None:
        """A command that starts more processes than its box may have is ended for that."""
        box = subject.open(limits=Limits(processes=60))
        done = subject.python(box, SWARM)
        assert done.cause is Cause.PROCESSES
        assert box.why_ended() is Cause.PROCESSES
        assert subject.mark.is_gone()

    def test_filling_the_disk_ends_a_command(self, subject: Subject) -> None:
        """A command that uses up more of the disk than it may is ended for that."""
        box = subject.open(limits=Limits(disk=40_000_000))
        assert subject.python(box, FILLER).cause is Cause.DISK
        assert subject.mark.is_gone()

    def test_a_box_that_ended_says_so(self, subject: Subject) -> None:
        """A command for a box that is gone is refused, with a reason and a hint."""
        box = subject.open()
        subject.shell(box, "true")
        end(box)
        with pytest.raises(BoxBroke, match="the box ended") as refused:
            subject.shell(box, "true")
        assert refused.value.hint
        subject.boxes.clear()
        box.close()


class PrivateContract:
    """What holds where a box has a network and processes of its own."""

    def test_two_boxes_serve_on_the_same_port(self, subject: Subject) -> None:
        """Each of two boxes has its own server on the same port, and the machine has none there."""
        port = free_port()
        boxes = [subject.open(), subject.open()]
        for number, box in enumerate(boxes):
            subject.start(box, SERVER.format(port=port, word=number))
        assert [heard(box.dial(port)) for box in boxes] == [b"0", b"1"]
        assert [len(listeners(port, box.inquire)) for box in boxes] == [1, 1]
        assert listeners(port) == []

    def test_shows_the_tree_at_the_place_of_the_project(self, subject: Subject) -> None:
        """Commands find the tree where the project itself is on this machine."""
        box = subject.open()
        assert box.is_private
        assert box.root == subject.folder / "project"
        (subject.tree / "marked").touch()
        assert subject.shell(box, f"ls {subject.folder / 'project'}").output.split() == ["marked", "packages"]
