"""The ground outside a box: what there is to steal, and the tries to get at it from four places.

Runs as the user whose box is tried, in a session of its own; the arguments are a folder of that user's
with the package, the program that makes boxes, and the needs that are met. Prints what every probe came
to at every place.
"""

import ctypes
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from harness_executor.config import config_home, state_home, work_home
from harness_executor.sandbox.base import Command, Room
from harness_executor.sandbox.bubblewrap import Bubblewrap
from tests.sandbox import probes
from tests.sandbox.escaping.probe import CANARY, LENGTH, Control, Outcome, Stage, call, library
from tests.sandbox.escaping.weakened import MOUNTS, RIGHTS, open_machine

_PR_SET_PTRACER = 0x59616D61
_SECONDS = 60.0


class Ground:
    """A user with secrets, a project, and services."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.secret = CANARY + uuid.uuid4().hex[:LENGTH]
        self.project, self.outputs = folder / "project", folder / "outputs"
        self.tree = work_home() / "change"
        self.tools = folder / "tools"
        os.environ.update(
            SOMEBODYS_API_KEY=self.secret, SSH_AUTH_SOCK="/agent", DISPLAY=":0", DOCKER_HOST="unix:///docker"
        )

    def stage(self) -> Stage:
        """Have everything there, and say where."""
        home, state, base = Path(os.environ["HOME"]), state_home(), work_home() / "base"
        private = (home / ".ssh/id_ed25519", home / ".aws/credentials", home / ".netrc")
        kept = (
            state / "key",
            state / "events.jsonl",
            state / "lock",
            state / "evidence/run-1/exchanges.jsonl",
        )
        for place in (
            *private,
            *kept,
            config_home() / "config.toml",
            base / "answer.py",
            self.tools / "tool",
        ):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{self.secret}\n")
        for place in (self.project / "node_modules", self.outputs, self.tree):
            place.mkdir(parents=True, exist_ok=True)
        os.chdir(state)
        left_open = os.open(state / "key", os.O_RDONLY)
        os.set_inheritable(left_open, True)
        self._take_terminal()
        key = self._share()
        target, address = self._target()
        shared = self._file_in_memory()
        return Stage(
            home=str(home),
            state=str(state),
            config=str(config_home()),
            work=str(work_home()),
            base=str(base),
            tools=str(self.tools),
            sockets=self._sockets(home),
            ports=self._ports(),
            target=target,
            address=address,
            key=key,
            queue=self._queue(),
            shared=shared,
        )

    def _take_terminal(self) -> None:
        _, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        call("keyctl", 1, 0)
        call("add_key", b"user", b"harness-probe", self.secret.encode(), len(self.secret), -3)

    def _share(self) -> int:
        key = int.from_bytes(os.urandom(3), "big") | 1 << 24
        memory = library("shmget", key, 4096, 0o1600)
        attach = ctypes.CDLL(None).shmat
        attach.restype = ctypes.c_void_p
        ctypes.memmove(attach(memory, None, 0), self.secret.encode(), len(self.secret))
        semaphores, messages = library("semget", key, 1, 0o1600), library("msgget", key, 0o1600)
        self.stack.callback(library, "shmctl", memory, 0, None)
        self.stack.callback(library, "semctl", semaphores, 0, 0, None)
        self.stack.callback(library, "msgctl", messages, 0, None)
        return key

    def _queue(self) -> str:
        name = f"/harness-probe-{os.getpid()}"
        os.close(library("mq_open", name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None))
        self.stack.callback(library, "mq_unlink", name.encode())
        return name

    def _file_in_memory(self) -> str:
        place = Path(f"/dev/shm/harness-probe-{os.getpid()}")
        place.write_text(self.secret)
        self.stack.callback(place.unlink)
        return place.name

    def _target(self) -> tuple[int, int]:
        """A process that lets everyone trace it whom the user could trace, with the secret in its memory."""
        script = (
            "import ctypes, signal, sys\n"
            f"ctypes.CDLL(None).prctl({_PR_SET_PTRACER}, ctypes.c_ulong(-1), 0, 0, 0)\n"
            "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
            "held = ctypes.create_string_buffer(sys.argv[1].encode())\n"
            "print(ctypes.addressof(held), flush=True)\n"
            "while True: signal.pause()\n"
        )
        words = [sys.executable, "-I", "-S", "-c", script, self.secret]
        process = subprocess.Popen(words, stdout=subprocess.PIPE)
        self.stack.callback(process.kill)
        assert process.stdout
        return process.pid, int(process.stdout.readline())

    def _sockets(self, home: Path) -> dict[str, str]:
        # a path of a socket is at most 107 letters long
        runtime = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="run-"))
        places = {
            "docker": f"{home}/.docker/run/docker.sock",
            "bus": f"{runtime}/bus",
            "ssh": f"{runtime}/agent.1",
            "gpg": f"{home}/.gnupg/S.gpg-agent",
            "screen": f"{runtime}/.X11-unix/X0",
        }
        for place in places.values():
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            self._serve(socket.AF_UNIX, place)
        abstract = f"harness-probe-{os.getpid()}"
        self._serve(socket.AF_UNIX, f"\0{abstract}")
        return {**places, "abstract": abstract}

    def _ports(self) -> dict[str, int]:
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", 0))
        threading.Thread(target=self._echo, args=[datagrams], daemon=True).start()
        return {
            "loopback": self._serve(socket.AF_INET, ("127.0.0.1", 0)),
            "everywhere": self._serve(socket.AF_INET, ("0.0.0.0", 0)),
            "version 6": self._serve(socket.AF_INET6, ("::1", 0)),
            "datagrams": datagrams.getsockname()[1],
        }

    def _serve(self, family: int, address: str | tuple[str, int]) -> int:
        server = socket.socket(family)
        server.bind(address)
        server.listen()
        threading.Thread(target=self._answer, args=[server], daemon=True).start()
        return 0 if isinstance(address, str) else int(server.getsockname()[1])

    def _answer(self, server: socket.socket) -> None:
        while True:
            made, _ = server.accept()
            with made, suppress(OSError):
                made.recv(4096)
                made.sendall(f"HTTP/1.0 200 OK\r\n\r\n{self.secret}".encode())

    def _echo(self, server: socket.socket) -> None:
        while True:
            _, whom = server.recvfrom(4096)
            server.sendto(self.secret.encode(), whom)

    def room(self) -> Room:
        """The project as a box shows it."""
        beside = {"node_modules": self.project / "node_modules"}
        return Room(self.tree, self.project, beside, outputs=self.outputs)

    def outside(self, where: str, names: list[str], before: list[str]) -> dict[str, Outcome]:
        """Try probes in a plain process, which has what this one left open."""
        words = probes.start(self.folder, self.tree / "stage.json", where, names)
        argv = [*before, sys.executable, *words]
        done = subprocess.run(
            argv,
            cwd=self.tree,
            capture_output=True,
            text=True,
            close_fds=False,
            timeout=_SECONDS,
            check=False,
        )
        return _read(done.stdout, done.stderr)

    def inside(self, where: str, names: list[str], program: str) -> dict[str, Outcome]:
        """Try probes in a box."""
        box = Bubblewrap(program, (str(self.tools),)).open(self.room())
        try:
            shutil.copytree(self.folder / "tests", self.tree / "tests", dirs_exist_ok=True)
            words = probes.start(box.root, box.root / "stage.json", where, names)
            argv = (box.view.interpreter[0], *words)
            done = box.run(Command(argv, box.root, box.environment(), self.folder / "log"), _SECONDS)
        finally:
            box.close()
        return _read(done.output, str(done.cause))


def _read(output: str, error: str) -> dict[str, Outcome]:
    if not output.endswith("}\n"):
        raise ChildProcessError(output + error)
    return probes.outcomes(output)


@contextmanager
def ground(folder: Path) -> Iterator[tuple[Ground, Stage]]:
    """Everything that a box has to hide, until the end."""
    with ExitStack() as stack:
        made = Ground(folder, stack)
        stage = made.stage()
        stage.write(made.tree / "stage.json")
        yield made, stage


def tried(folder: Path, bubblewrap: str, met: tuple[str, ...]) -> dict[str, dict[str, Outcome]]:
    """What every probe came to whose needs are met, by the place where it was tried."""
    names = {where: probes.chosen(met, where) for where in (probes.BOX, *Control)}
    weak = {
        Control.RIGHTS: RIGHTS.program(bubblewrap, folder / "rights"),
        Control.MOUNTS: MOUNTS.program(bubblewrap, folder / "mounts"),
    }
    with ground(folder) as (made, _):
        found: dict[str, dict[str, Outcome]] = {}
        found |= {where: made.inside(where, names[where], program) for where, program in weak.items()}
        found[Control.OPEN] = made.outside(Control.OPEN, names[Control.OPEN], open_machine(bubblewrap))
        found[Control.OUTSIDE] = made.outside(Control.OUTSIDE, names[Control.OUTSIDE], [])
        return {**found, probes.BOX: made.inside(probes.BOX, names[probes.BOX], bubblewrap)}


def main(folder: str, bubblewrap: str, *met: str) -> None:
    """Try everything, and print it."""
    found = tried(Path(folder), bubblewrap, met)
    listed = {where: {name: asdict(each) for name, each in some.items()} for where, some in found.items()}
    sys.stdout.write(f"{json.dumps(listed)}\n")
