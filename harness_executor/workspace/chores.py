"""What is done in a fresh copy before a server starts: install, build, migrate, seed, make a key."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.needs import Service
from harness_executor.workspace.sections import names, section, texts, words

INSTALL, BUILD = "install", "build"


@frozen
class Chore:
    """One thing to be done first, once per side."""

    command: str
    name: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    """Patterns of the files it reads; without one, it is taken to read all of them."""
    network: bool = True
    """May it reach the hosts that the user listed?"""
    clears: bool = False
    """May it throw away what a database holds? Then it is done only where all data is thrown away."""
    lingers: bool = False
    """May it stay open when it is done? Then it is ended once nothing of it works any more."""

    @property
    def is_step(self) -> bool:
        """Is it done in every fresh copy, whatever packages are there?"""
        return self.name != INSTALL


def read_chores(data: Mapping[str, Any], services: tuple[Service, ...], path: Path) -> tuple[Chore, ...]:
    """Everything that is done before the start, in its order."""
    return (*_runtime(data, path), *_fill(services), *_steps(data, path), *_setup(data, path))


def _runtime(data: Mapping[str, Any], path: Path) -> Iterator[Chore]:
    runtime = section(data, "runtime")
    if command := runtime.get("install_command"):
        yield Chore(words(command, "runtime.install_command", path), INSTALL)
    if section(data, "startup").get("build") is True and (command := runtime.get("build_command")):
        yield Chore(words(command, "runtime.build_command", path), BUILD)


def _fill(services: tuple[Service, ...]) -> Iterator[Chore]:
    for service in services:
        for command in service.commands:
            yield Chore(command, f"fill {service.name}")


def _steps(data: Mapping[str, Any], path: Path) -> Iterator[Chore]:
    steps = section(data, "startup").get("steps") or []
    if not isinstance(steps, list):
        raise UsageError(f"{path.name}: startup.steps is {steps!r}", hint="a list of commands")
    for number, step in enumerate(steps):
        where = f"startup.steps[{number}]"
        if isinstance(step, Mapping):
            yield Chore(
                words(step.get("command"), f"{where}.command", path),
                str(step.get("name") or ""),
                texts(section(step, "env")),
                names(step.get("inputs"), f"{where}.inputs", path),
                step.get("network") is not False,
                step.get("clears") is True,
                step.get("lingers") is True,
            )
        else:
            yield Chore(words(step, where, path))


def _setup(data: Mapping[str, Any], path: Path) -> Iterator[Chore]:
    where = "test_environment.setup_commands"
    for command in names(section(data, "test_environment").get("setup_commands"), where, path):
        yield Chore(command)
