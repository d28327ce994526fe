"""What goes wrong with one request to the loopback model, for tests."""

from collections.abc import Mapping
from dataclasses import field

from harness_executor.kernel.frozen import frozen


@frozen
class Trouble:
    """One request that does not go as usual; whatever is not said here does."""

    status: int = 200
    """Any other status is answered with an error of the protocol, unless there is a `body`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Added to those of the answer."""
    error: str = ""
    """The type and code of the error, where the status alone does not say it."""
    message: str = "trouble was asked for"
    """The words of the error."""
    body: bytes | None = None
    """Sent instead of the answer; name its `content-type` in the headers."""
    fill: int = 0
    """A body of this many bytes instead of the answer, in chunks without an end in sight."""
    frames: tuple[bytes, ...] | None = None
    """Sent instead of the events of a stream, as they stand."""
    ends: bool = True
    """Without it, a stream ends cleanly before its closing event."""
    fails: str = ""
    """The type of an error event in the middle of a stream."""
    sleep: float = 0.0
    """Seconds before anything is sent."""
    drop: int | None = None
    """The connection is reset after this many bytes of the body; -1 resets it before anything is sent."""
    piece: int = 0
    """Bytes that are sent at a time; 0 sends everything at once."""
    pace: float = 0.0
    """Seconds between two pieces."""
    slow_start: bool = False
    """Is the head of the answer sent in pieces as well?"""
