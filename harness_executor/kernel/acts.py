"""What a step of a scenario does: ask a server, run a program, probe a library, or query a service."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.lean import LATER


class Language(StrEnum):
    """What a probe is written in."""

    PYTHON = "python"
    NODE = "node"


@frozen
class Upload:
    """A file sent with a form."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str
    """The file's name."""
    text: str
    """What it holds; base64:… for bytes that are no text."""
    type: str = "text/plain"


@frozen
class Listening:
    """The first frames of a stream: server-sent events, or a WebSocket."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    frames: int = 1
    """How many to wait for; the answer's JSON is the list of them."""
    send: tuple[Any, ...] = ()
    """Frames to send on a WebSocket, before anything is waited for."""
    websocket: bool = False
    seconds: float = 10.0


@frozen
class Call:
    """One HTTP request."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    """Path and query, starting with /. May hold {{ name }}."""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    """A JSON body; content-type is set."""
    body: str | None = None
    """A raw body, instead of json."""
    form: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict, metadata=LATER)
    """Fields of a form, instead of json; a list is a field that is sent several times."""
    files: Mapping[str, Upload] = field(default_factory=dict, metadata=LATER)
    """Files of a form, by the name of their field."""
    follow: int = field(default=0, metadata=LATER)
    """How many redirects are followed."""
    listen: Listening | None = field(default=None, metadata=LATER)
    """Read the first frames of a stream instead of a body."""
    port: str = field(default="", metadata=LATER)
    """Another port of the server, by its name in startup.ports."""


@frozen
class Program:
    """One command of the project, run to its end."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    argv: tuple[str, ...]
    """The command and its arguments, no shell. May hold {{ name }}."""
    stdin: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Files to write first, relative to the folder it runs in."""
    seconds: float = 60.0


@frozen
class Probe:
    """A piece of code that uses the project's library; the value of its last line is the answer, as JSON."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    language: Language
    code: str
    """Ends in an expression; `args` holds the arguments. Is taken as it is: values go into args."""
    args: tuple[Any, ...] = ()
    seconds: float = 60.0


@frozen
class Query:
    """A statement for a service of the project, such as SQL; the rows are the answer, as JSON."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    service: str
    """Its name in environment.json."""
    text: str


Act = Call | Program | Probe | Query
