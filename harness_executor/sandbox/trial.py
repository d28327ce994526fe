"""Does a box hold on this machine? It is tried from within before anything is trusted to it."""

import os
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from harness_executor.clock import new_id
from harness_executor.config import config_home, safe_environment, state_home, work_home
from harness_executor.errors import HarnessError
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox import trying
from harness_executor.sandbox.base import Command, Room, Sandbox

_SECONDS = 20.0
_PRIVATE = (".ssh", ".aws", ".config", ".netrc", ".gitconfig", ".bash_history", ".docker", ".kube")


@frozen
class Layer:
    """One thing a box has to hold."""

    name: str
    holds: bool
    seen: str


class Tried(Sandbox, Protocol):
    """A sandbox that says what it holds."""

    layers: tuple[str, ...]
    """Which of `trying.LAYERS` must hold; evidence that says `sandboxed` asks for all of them."""


def try_box(sandbox: Tried) -> tuple[Layer, ...]:
    """Every layer of a box, as it was met from within; one that cannot be opened holds nothing."""
    with tempfile.TemporaryDirectory(prefix="harness-trial-") as folder, _Outside(Path(folder)) as outside:
        tree = Path(folder) / "tree"
        tree.mkdir()
        for home in (state_home(), work_home()):
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
        private = [f"{safe_environment()['HOME']}/{name}" for name in _PRIVATE]
        hidden = [*private, str(state_home()), str(config_home()), str(work_home()), folder]
        try:
            box = sandbox.open(Room(tree, Path("/trial")))
        except (HarnessError, OSError) as error:
            return (Layer("start", holds=False, seen=str(error)),)
        try:
            words = (*box.script(Path(trying.__file__)), *outside.words, *hidden)
            done = box.run(Command(words, box.root, box.environment(), Path(folder) / "log"), _SECONDS)
        except (HarnessError, OSError) as error:
            return (Layer("start", holds=False, seen=str(error)),)
        finally:
            box.close()
    return _layers(done.output, sandbox.layers)


class _Outside(ExitStack):
    """Servers on this machine that no command may reach: on the network, among the files, and by a name."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        name = f"harness-trial-{new_id()}"
        port = self._listen(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        held = os.open(folder, os.O_PATH)
        self.callback(os.close, held)
        self._listen(socket.AF_UNIX, f"/proc/self/fd/{held}/s")  # a path of any length fits this way
        self._listen(socket.AF_UNIX, f"\0{name}")
        self.words = (str(port), str(folder / "s"), name)
        """How they are reached, as `trying` is told."""

    def _listen(self, family: socket.AddressFamily, address: tuple[str, int] | str) -> socket.socket:
        server = self.enter_context(socket.socket(family))
        server.bind(address)
        server.listen()
        return server


def _layers(output: str, wanted: tuple[str, ...]) -> tuple[Layer, ...]:
    rows = {
        line.split("\t")[0]: line.split("\t")[1:] for line in output.splitlines() if line.count("\t") == 2
    }
    if not rows:
        return (Layer("start", holds=False, seen=output.strip()[-500:] or "it said nothing"),)
    return (
        Layer("start", holds=True, seen=f"the first process runs {Path(sys.executable).name}"),
        *(_layer(name, rows.get(name)) for name in wanted),
    )


def _layer(name: str, row: list[str] | None) -> Layer:
    if row is None:
        return Layer(name, holds=False, seen="it was not tried")
    word, seen = row
    return Layer(name, word == "held", seen)
