"""A model server nobody here wrote, and the ways to it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_executor.clock import SystemClock
from harness_executor.providers.base import Patience, Provider
from harness_executor.providers.opening import opened
from harness_executor.providers.registry import Reached
from harness_executor.providers.retrying import Retrying

PATHS = {"messages": "", "responses": "/v1", "chat": "/v1"}
"""What each protocol adds to the address."""


@dataclass(frozen=True)
class Server:
    """The model, in a process of its own."""

    url: str
    process: subprocess.Popen[str]

    def base_url(self, api: str) -> str:
        """Where it speaks a protocol."""
        return f"{self.url}{PATHS[api]}"


@dataclass(frozen=True)
class Way:
    """One protocol, streaming or not."""

    api: str
    stream: bool

    def connect(self, server: Server, progress: Callable[[int], None] | None = None) -> Provider:
        """A provider that speaks it with the server, as with any service a user names."""
        return opened(self.api, Reached(server.base_url(self.api), "", self.stream, is_named=True), progress)

    def converse(self, server: Server) -> Provider:
        """The same as a subagent has it; this server may close a connection just as the next call begins."""
        return Retrying(self.connect(server), Patience(attempts=3), SystemClock(), lambda _: None)

    def __str__(self) -> str:
        return f"{self.api}-{'streaming' if self.stream else 'whole'}"


WAYS = [Way(api, stream) for api in PATHS for stream in (True, False)]


@contextmanager
def serving(log: Path) -> Iterator[Server]:
    """The server, which writes what it does to a file, and is gone afterwards."""
    program = Path(__file__).with_name("smol.py")
    with log.open("wb") as talk:
        process = subprocess.Popen(
            [sys.executable, str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=talk,
            text=True,
        )
    try:
        address = process.stdout.readline().strip() if process.stdout else ""
        assert address.startswith("http://127.0.0.1:"), log.read_text(errors="replace")[-2000:]
        yield Server(address, process)
    finally:
        process.kill()
        process.communicate()
