"""Does a box hold on this machine? It is tried from within before anything is trusted to it."""

import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness_executor.config import config_home, safe_environment, state_home, work_home
from harness_executor.errors import HarnessError
from harness_executor.sandbox import trying
from harness_executor.sandbox.base import Command, Room, Sandbox

_SECONDS = 20.0
_PRIVATE = (".ssh", ".aws", ".config", ".netrc", ".gitconfig", ".bash_history", ".docker", ".kube")


@dataclass(frozen=True)
class Layer:
    """One thing a box has to hold."""

    name: str
    holds: bool
    seen: str


def try_box(sandbox: Sandbox) -> tuple[Layer, ...]:
    """Every layer of a box, as it was met from within; one that cannot be opened holds nothing."""
    with tempfile.TemporaryDirectory(prefix="harness-trial-") as folder, socket.socket() as outside:
        outside.bind(("127.0.0.1", 0))
        outside.listen()
        tree = Path(folder) / "tree"
        tree.mkdir()
        private = [f"{safe_environment()['HOME']}/{name}" for name in _PRIVATE]
        hidden = [*private, str(state_home()), str(config_home()), str(work_home()), folder]
        try:
            box = sandbox.open(Room(tree, Path("/trial")))
        except (HarnessError, OSError) as error:
            return (Layer("start", holds=False, seen=str(error)),)
        try:
            words = (*box.script(Path(trying.__file__)), str(outside.getsockname()[1]), *hidden)
            done = box.run(Command(words, box.root, {}, Path(folder) / "log"), _SECONDS)
        except (HarnessError, OSError) as error:
            return (Layer("start", holds=False, seen=str(error)),)
        finally:
            box.close()
    return _layers(done.output)


def _layers(output: str) -> tuple[Layer, ...]:
    rows = [line.split("\t") for line in output.splitlines() if line.count("\t") == 2]
    if not rows:
        return (Layer("start", holds=False, seen=output.strip()[-500:] or "it said nothing"),)
    return (
        Layer("start", holds=True, seen=f"process 1 runs {Path(sys.executable).name}"),
        *(Layer(name, word == "held", seen) for name, word, seen in rows),
    )
