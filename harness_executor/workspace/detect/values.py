"""What is found of a project, as values."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from harness_executor.kernel.frozen import frozen


class Kind(StrEnum):
    """What a project is for."""

    SERVER = "web-api"
    FRONTEND = "frontend"
    CLI = "cli"
    LIBRARY = "library"


class Place(StrEnum):
    """Where the port of a server is set."""

    OPTION = "option"
    ENVIRONMENT = "environment"
    FILE = "a file"
    FIXED = "fixed in code"
    UNKNOWN = "unknown"


@frozen
class Port:
    """The port of a server, and where it is set."""

    place: Place = Place.UNKNOWN
    number: int | None = None
    """The port it takes when nobody says anything."""
    name: str = ""
    """The variable or the option."""


@frozen
class Route:
    """A path that a server answers to."""

    method: str
    path: str
    file: str = ""

    @property
    def is_plain(self) -> bool:
        """Can it be asked for as it is?"""
        return self.method in ("GET", "ANY") and not any(mark in self.path for mark in "{<:*(?$[")


@frozen
class Step:
    """Something that is done once before the start."""

    name: str
    command: str
    inputs: tuple[str, ...] = ()
    reason: str = ""
    clears: bool = False
    """May it throw away what a database holds?"""
    lingers: bool = False
    """May it stay open when it is done?"""


@frozen
class Candidate:
    """One way to start a server."""

    command: str
    score: int
    reasons: tuple[str, ...] = ()
    folder: str = "."
    framework: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    port: Port = Port()
    build: str = ""
    """What has to be run before, because what is started is made by it."""
    source: str = ""
    """The file it was found in."""
    kind: Kind = Kind.SERVER

    @property
    def fixed_port(self) -> int | None:
        """The port that it insists on, if it does."""
        takes_any = any("{port}" in text for text in (self.command, *self.env.values()))
        insists = self.port.place in (Place.FIXED, Place.FILE)
        return self.port.number if insists and not takes_any else None


@frozen
class Variable:
    """A variable of the environment that the code reads."""

    name: str
    required: bool = False
    default: str = ""
    test_value: str = ""
    sensitive: bool = False
    purpose: str = ""
    where: str = ""
    fits: str = ""
    """A pattern of the values with which the program runs, where the code shows it."""


@frozen
class Service:
    """Another program that the project talks to."""

    name: str
    type: str
    required: bool = True
    reasons: tuple[str, ...] = ()
    connection: Mapping[str, str | int] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    """Further variables that tell its address."""


@frozen
class Entry:
    """A command or an import name of a project without a server."""

    name: str
    command: str
    reason: str = ""
    installed: bool = False
    """Is it a command that the project's installation brings?"""


@frozen
class Commands:
    """How a project is installed and checked."""

    install: str = ""
    build: str = ""
    test: str = ""
    lint: str = ""
    typecheck: str = ""


@frozen
class Stack:
    """One program of a repository: a folder with code and what it is made with."""

    folder: str
    language: str
    package_manager: str = ""
    version: str = ""
    framework: str = ""
    name: str = ""
    description: str = ""
    dependencies: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    """Those of them that every installation has, where that is told apart."""
    lent: frozenset[str] = frozenset()
    """What packages of the same repository list that count to it."""
    commands: Commands = Commands()
    candidates: tuple[Candidate, ...] = ()
    routes: tuple[Route, ...] = ()
    variables: tuple[Variable, ...] = ()
    entries: tuple[Entry, ...] = ()
    """Commands and import names that it offers."""
    imports: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    """Addresses of databases that are written into its code."""
    making: str = ""
    """What makes its commands and imports, where they are not in the repository."""
    made: tuple[str, ...] = ()
    """Python files with its version that its installation writes, and git does not keep."""
    steps: tuple[Step, ...] = ()
    layout: Mapping[str, str] = field(default_factory=dict)
    """Its most important files and folders, each with what it is."""
