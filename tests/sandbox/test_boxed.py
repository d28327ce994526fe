"""A box as its owner has it: sockets of its network, the way out, and what ends it."""

import http.server
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.config import Settings
from harness_executor.errors import BoxBroke, NoBox
from harness_executor.sandbox.base import Box, Cause, Command, Room
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.choice import choose
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.programs import bubblewraps

FETCH = """
import sys, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())
except OSError as error:
    print(error)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An empty tree."""
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@contextmanager
def boxed(tree: Path, hosts: tuple[str, ...] = ()) -> Iterator[Box]:
    """A box of the machine's own program."""
    program, *_ = bubblewraps(tree)
    box = Bubblewrap(program, hosts=hosts).open(Room(tree, Path("/srv/project")))
    try:
        yield box
    finally:
        assert box.close()


@contextmanager
def web() -> Iterator[int]:
    """A server of this machine, outside every box."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"from outside")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def fetch(box: Box, url: str, tree: Path, **env: str) -> str:
    """What a command of the box gets from an address."""
    words = (sys.executable, "-c", FETCH, url)
    return box.run(Command(words, box.root, box.environment(env), tree.parent / "log"), 20).output.strip()


def test_setup_steps_reach_listed_hosts_and_no_others(tree: Path) -> None:
    """While steps may leave, a listed host answers and another is refused; afterwards nothing leads out."""
    with web() as port, boxed(tree, hosts=(f"127.0.0.1:{port}",)) as box:
        url = f"http://127.0.0.1:{port}/"
        with box.leaving() as leading:
            open_way = {name: value for name, value in leading.items() if name.upper() != "NO_PROXY"}
            assert fetch(box, url, tree, **open_way) == "from outside"
            assert "403" in fetch(box, "http://example.com/", tree, **open_way)
            assert "refused" in fetch(box, url, tree)
        assert "refused" in fetch(box, url, tree, **open_way)


def test_without_listed_hosts_nothing_leads_out(tree: Path) -> None:
    """A user who lists no host gives no variables and no proxy."""
    with web() as port, boxed(tree) as box, box.leaving() as leading:
        assert dict(leading) == {}
        assert "refused" in fetch(box, f"http://127.0.0.1:{port}/", tree)
        assert "refused" in fetch(box, f"http://127.0.0.1:{port}/", tree, http_proxy="http://127.0.0.1:3128")


def test_names_of_services_lead_to_the_box_itself(tree: Path) -> None:
    """A program finds what it calls `db` on its own loopback, and no other name."""
    look = "import socket, sys\nfor name in sys.argv[1:]: print(socket.gethostbyname(name))"
    program, *_ = bubblewraps(tree)
    box = Bubblewrap(program).open(Room(tree, Path("/srv/project"), names=("db", "cache.internal")))
    try:
        log = tree.parent / "log"
        words = (sys.executable, "-c", look, "localhost", "db", "cache.internal")
        assert (
            box.run(Command(words, box.root, box.environment(), log), 20).output.split() == ["127.0.0.1"] * 3
        )
        assert not box.run(Command((*words, "other"), box.root, box.environment(), log), 20).ok
    finally:
        assert box.close()


def test_a_box_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    """A tree that is not there ends as a named failure with the program's own words."""
    program, *_ = bubblewraps(tmp_path)
    gone = tmp_path / "tree"
    gone.mkdir()
    box = Bubblewrap(program).open(Room(gone, Path("/proc/1/no")))
    with pytest.raises(BoxBroke, match="the box ended") as caught:
        box.run(Command(("true",), box.root, {}, tmp_path / "log"), 5)
    assert "harness doctor" in caught.value.hint
    assert box.close()


def test_a_machine_without_a_box_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a program that makes boxes a run is refused, and says how to go on without one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("harness_executor.sandbox.programs._PINNED", {"bwrap": set(), "libcap": set()})
    with pytest.raises(NoBox, match="bubblewrap was not found") as caught:
        choose(Settings(), tmp_path)
    assert "--sandbox none" in caught.value.hint
    assert choose(Settings(sandbox="none"), tmp_path).kind == "none"


def test_a_program_that_only_poses_as_a_box_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bwrap that runs its command without any box does not hold, and is not used."""
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("harness_executor.sandbox.programs._PINNED", {"bwrap": set(), "libcap": set()})
    assert bubblewraps(tmp_path / "project") == (str(fake),)
    with pytest.raises(NoBox, match="does not hold"):
        choose(Settings(), tmp_path / "project")


def test_a_command_in_the_background_cannot_fill_the_disk(tree: Path) -> None:
    """What is only started is watched too: the box is ended, and says why."""
    program, *_ = bubblewraps(tree)
    box = Bubblewrap(program, limits=replace(Limits(), disk=20_000_000)).open(
        Room(tree, Path("/srv/project"))
    )
    fills = (
        "sh",
        "-c",
        "while :; do dd if=/dev/zero of=f$((i=i+1)) bs=1M count=10 2>/dev/null; sleep 0.1; done",
    )
    running = box.start(Command(fills, box.root, box.environment(), tree.parent / "log"))
    assert running.wait(20) is not None
    assert box.why_ended() is Cause.DISK
    assert box.close()
    assert box.close()
