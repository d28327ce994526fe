"""The line between a subagent and the coordinator, as the subagent holds it."""

import json
import os
import queue
import threading
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from harness_executor.clock import SystemClock
from harness_executor.kernel.canonical import parse
from harness_executor.providers.base import Usage
from harness_executor.providers.metered import Bill
from harness_executor.providers.recorded import Recorded
from harness_executor.redaction import Redactor
from harness_executor.shapes import read
from harness_executor.subagents.jobs import Beat, Done, Message, Spent, Wants
from harness_executor.subagents.mailbox import Letter, Mailbox

BEAT_SECONDS = 2.0


@dataclass
class Line:
    """What is said goes out redacted; everything else this process prints goes elsewhere."""

    stream: IO[str]
    redactor: Redactor
    mailbox: Mailbox = field(default_factory=Mailbox)
    granted: "queue.SimpleQueue[int]" = field(default_factory=queue.SimpleQueue)
    last: Beat = field(default_factory=lambda: Beat(0, "starting"))
    received: int = 0
    """Bytes that came from the model's service."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, message: Message) -> None:
        """Send one message."""
        if isinstance(message, Beat):
            self.last = message
            message = Beat(message.turn, message.doing, message.moved + self.received)
        said = {"type": type(message).__name__, **asdict(message)}
        clean = self.redactor.clean_known if isinstance(message, Done) else self.redactor.clean
        data = self.redactor.clean_data(said, clean)
        with self.lock:
            self.stream.write(json.dumps(data) + "\n")
            self.stream.flush()

    def keep_beating(self) -> None:
        """Say again and again what is being done."""
        clock = SystemClock()
        while True:
            clock.sleep(BEAT_SECONDS)
            self.say(self.last)

    def listen(self, stream: IO[str]) -> None:
        """Take grants and letters until the coordinator is gone; then end at once."""
        clock = SystemClock()
        for text in stream:
            data: dict[str, Any] = dict(parse(text))
            if data.pop("type") == "Granted":
                self.granted.put(int(data["call"]))
            else:
                self.mailbox.put(read(Letter, data), clock.monotonic())
        os._exit(1)

    def count(self, received: int) -> None:
        """Note bytes that came from the model's service."""
        self.received += received


@dataclass
class LinePurse:
    """Asks the coordinator before every call, and tells it what the call used."""

    line: Line
    recorded: Recorded

    def reserve(self, call: int, input_tokens: int, output_tokens: int) -> None:
        """Wait until the coordinator has written the reservation down."""
        self.line.say(Wants(call, input_tokens, output_tokens))
        while self.line.granted.get() != call:
            pass

    def settle(self, bill: Bill) -> None:
        """Say what the call used, and where it was recorded."""
        usage = bill.usage or Usage()
        self.line.say(
            Spent(
                bill.call,
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read,
                usage.cache_write,
                is_known=bill.usage is not None,
                failed=bill.failed,
                request_id=bill.request_id,
                record="" if bill.failed else self.recorded.last,
            )
        )
