"""What a box costs: against the same commands and the same server on the machine itself.

`python bench/sandbox.py` prints the table; `make bench` runs it. Everything is measured in one run, the
two sides of a ratio in turn.
"""

import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from harness_executor.config import Settings
from harness_executor.sandbox.base import Box, Command, Room
from harness_executor.sandbox.choice import Boxing, choose
from harness_executor.sandbox.toolchains import interpreter

ARGV = ("sh", "-c", "true")
CALLS = 300
BOXES = 40
SERVERS = 20
PAUSE = 0.003
"""Seconds between commands; a model takes longer."""
AT = Path("/srv/project")
SERVER = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class App(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), App).serve_forever()
"""
BY_HAND = (
    *("--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--dev", "/dev", "--proc", "/proc"),
    *("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"),
    *("--symlink", "usr/lib64", "/lib64", "--tmpfs", "/tmp"),  # noqa: S108 - that of the box
)
"""The least that one would call a box."""


def medians(rounds: int, ways: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Milliseconds of the middle one of many runs of each, in turn."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            time.sleep(PAUSE)
            began = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - began)
    return {name: median(times) * 1000 for name, times in taken.items()}


class Ground:
    """A tree with a server, and both ways to run something in it."""

    def __init__(self, folder: Path, boxing: Boxing) -> None:
        self.boxing = boxing
        self.tree, self.log = folder / "tree", folder / "log"
        self.tree.mkdir()
        (self.tree / "app.py").write_text(SERVER)
        self.env = {"PATH": os.environ["PATH"]}
        self.serve = (str(interpreter()), "-S", "app.py")

    @contextmanager
    def box(self) -> Iterator[Box]:
        """A box that is open for a while."""
        box = self.boxing.sandbox().open(Room(self.tree, AT))
        try:
            yield box
        finally:
            box.close()

    def run_in(self, box: Box) -> None:
        """One command in a box."""
        done = box.run(Command(ARGV, box.root, box.environment(), self.log), 20)
        if not done.ok:
            sys.exit(f"the box failed: {done.output}")

    def fresh(self) -> None:
        """A box of its own for one command."""
        with self.box() as box:
            self.run_in(box)

    def by_hand(self) -> None:
        """The same with the box that one would make by hand."""
        subprocess.run([self.boxing.program, *BY_HAND, "--", *ARGV], env={}, check=True)

    def bare(self) -> None:
        """The same with nothing around it."""
        subprocess.run(ARGV, env=self.env, capture_output=True, check=True)

    @contextmanager
    def boxed_server(self) -> Iterator[Callable[[], socket.socket]]:
        """A server in a box, and how it is reached."""
        with self.box() as box:
            box.start(Command((*self.serve, "8000"), box.root, box.environment(), self.log))
            yield lambda: box.dial(8000)

    @contextmanager
    def bare_server(self) -> Iterator[Callable[[], socket.socket]]:
        """A server on the machine, and how it is reached."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen([*self.serve, str(port)], cwd=self.tree, env=self.env)
        try:
            yield lambda: socket.create_connection(("127.0.0.1", port), timeout=10)
        finally:
            process.kill()
            process.wait()

    def boxed_start(self) -> None:
        """From nothing to the first answer of a server in a box, and to its end."""
        with self.boxed_server() as dial:
            answered(dial)

    def bare_start(self) -> None:
        """The same on the machine."""
        with self.bare_server() as dial:
            answered(dial)


def ask(dial: Callable[[], socket.socket]) -> int:
    """One request over a connection of its own."""
    client = http.client.HTTPConnection("box")
    client.sock = dial()
    try:
        client.request("GET", "/")
        answer = client.getresponse()
        answer.read()
        return answer.status
    finally:
        client.close()


def answered(dial: Callable[[], socket.socket]) -> None:
    """Ask until there is an answer."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            if ask(dial) == 200:
                return
        except OSError:
            time.sleep(0.002)
    sys.exit("the server did not answer")


def main() -> int:
    """Measure and print."""
    boxing = choose(Settings(), Path("/nonexistent"))
    rows: list[tuple[str, float, float, str]] = []
    print(f"{boxing.program}, load {' '.join(Path('/proc/loadavg').read_text().split()[:3])}")
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder), boxing)
        with ground.box() as box:
            calls = medians(CALLS, {"box": lambda: ground.run_in(box), "bare": ground.bare})
        rows.append(("one command in an open box, ms", calls["box"], calls["bare"], "≤ 2"))
        ways = {"box": ground.fresh, "hand": ground.by_hand, "bare": ground.bare}
        fresh = medians(BOXES, ways)
        rows.append(("a box for one command, ms", fresh["box"], fresh["bare"], ""))
        rows.append(("  against the least box by hand, ms", fresh["box"], fresh["hand"], ""))
        starts = medians(SERVERS, {"box": ground.boxed_start, "bare": ground.bare_start})
        rows.append(("a server from nothing to its end, ms", starts["box"], starts["bare"], ""))
        with ground.boxed_server() as boxed, ground.bare_server() as bare:
            answered(boxed)
            answered(bare)
            asked = medians(CALLS, {"box": lambda: ask(boxed), "bare": lambda: ask(bare)})
        rows.append(("one request, ms", asked["box"], asked["bare"], "≤ 2"))
    print(f"{'':<40}{'box':>10}{'bare':>10}{'ratio':>8}  aim")
    for name, mine, floor, aim in rows:
        print(f"{name:<40}{mine:>10.2f}{floor:>10.2f}{mine / floor:>8.2f}  {aim}")
    print(f"load {' '.join(Path('/proc/loadavg').read_text().split()[:3])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
