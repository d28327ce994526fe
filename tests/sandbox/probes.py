"""Every way out of a box that is tried, and the program that tries them where it is started.

The program is given the file of a stage, where it is, and the names of the probes; it prints what each
came to.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from tests.sandbox.escaping import files, kernel, network, processes
from tests.sandbox.escaping.probe import Control, Outcome, Result, Stage, attempt

PROBES = {probe.name: probe for probe in (*files.PROBES, *kernel.PROBES, *processes.PROBES, *network.PROBES)}
BOX = "box"
"""Where probes are that must not get through."""


def start(package: Path, stage: Path, where: str, names: Iterable[str]) -> list[str]:
    """What a bare interpreter is told so that it tries these probes."""
    boot = (
        f"import sys; sys.path.insert(0, {str(package)!r})\n"
        "from tests.sandbox.probes import main; main(*sys.argv[1:])"
    )
    return ["-I", "-S", "-B", "-c", boot, str(stage), where, *names]


def outcomes(output: str) -> dict[str, Outcome]:
    """What was printed, as values."""
    listed = json.loads(output.splitlines()[-1])
    return {name: Outcome(Result(each["result"]), each["seen"]) for name, each in listed.items()}


def chosen(met: Iterable[str], where: str = BOX) -> list[str]:
    """The probes that are tried at a place, where these needs are met."""
    own = [probe for probe in PROBES.values() if probe.needs in met]
    return [probe.name for probe in own if where in (BOX, probe.control)]


def main(stage: str, where: str, *names: str) -> None:
    """Try probes one after the other."""
    if where == Control.RIGHTS:
        network.furnish()
    found = {name: asdict(attempt(PROBES[name].act, Stage.read(Path(stage)))) for name in names}
    sys.stdout.write(f"\n{json.dumps(found)}\n")
