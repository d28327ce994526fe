"""Is a server up? What is asked for decides, and never the first page alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness_executor.clock import Clock, new_id
from harness_executor.evidence.knocking import Asker, Heard
from harness_executor.kernel.patterns import matches
from harness_executor.sandbox.base import Box, Command
from harness_executor.workspace.readiness import Readiness

_SETTLING = 2.0
"""Seconds that a server which listens, and of which nothing else is known, may take to answer."""
_FAILING = 5.0
"""Seconds after which one that fails at what nobody knows is taken for one that always does."""
_UNAVAILABLE = (502, 503, 504)
"""What a server says that is not up yet, or that stands before one that is not."""
_SECONDS = 2.0
"""How long one answer is waited for."""
_COMMAND_SECONDS = 20.0
_IF_MEANT = (
    "; if the change is about that page, `lenient: true` in startup.readiness.config will take the answer"
)


@dataclass
class Waiting:
    """One server that is waited for, with what was seen of it last."""

    readiness: Readiness
    asker: Asker
    box: Box
    log: Path
    command: Callable[[str], Command]
    """Makes a command of the readiness one that runs beside the server."""
    clock: Clock
    seen: str = ""
    """Why it is not ready, for people."""
    since: float | None = field(default=None)
    """When it first listened."""
    failing: int = 0
    """The status with which it fails, if it was taken as up all the same."""

    def is_ready(self) -> bool:
        """Is a server ready that listens?"""
        self.since = self.clock.monotonic() if self.since is None else self.since
        match self.readiness.type:
            case "http":
                return self._answers()
            case "log":
                said = self.log.read_text(errors="replace")
                return matches(self.readiness.pattern, said)
            case "process":
                return self._command_agrees()
            case "tcp":
                return True
        return self._has_settled()

    def _has_settled(self) -> bool:
        """Nobody said what to wait for: an answer that is no failure will do, after a while none at all.

        A failure is waited out: a program that is broken for what it does not know is up, and one that
        cannot serve yet is not.
        """
        heard = self.asker.get(_nowhere(), 0.5)
        self.failing = heard.status if heard and heard.status >= 500 else 0
        if heard and 0 < heard.status < 500:
            return True
        self.seen = f"it answers {heard.status}" if heard and heard.status else "it does not answer HTTP"
        waited = self.clock.monotonic() - (self.since or 0.0)
        return self.failing not in _UNAVAILABLE and waited > (_FAILING if self.failing else _SETTLING)

    def has_recovered(self) -> bool:
        """Was it taken as up while it failed, and answers now? Then it was not up when it was asked."""
        heard = self.asker.get(_nowhere(), _SECONDS) if self.failing else None
        return heard is not None and 0 < heard.status < 500

    def _answers(self) -> bool:
        wanted = self.readiness
        if not wanted.endpoint:
            heard = self.asker.get(_nowhere(), _SECONDS)
            self.seen = _described(heard)
            return heard is not None and 0 < heard.status < 500
        heard = self.asker.get(wanted.endpoint, _SECONDS, whole=True)
        self.seen = _described(heard)
        if heard is None or not self._is_expected(heard):
            self.seen += _IF_MEANT if heard and 0 < heard.status < 500 else ""
            return self._will_do(heard)
        if wanted.body_contains:
            self.seen = f"its answer does not hold {wanted.body_contains!r}"
            return wanted.body_contains.encode() in heard.body
        return not self._answers_everything(heard)

    def _will_do(self, heard: Heard | None) -> bool:
        """Is it another answer than the one that was hoped for, and good enough?"""
        is_late = self.clock.monotonic() - (self.since or 0.0) > _SETTLING
        return self.readiness.lenient and is_late and heard is not None and 0 < heard.status < 500

    def _is_expected(self, heard: Heard) -> bool:
        if self.readiness.expected_status:
            return heard.status == self.readiness.expected_status
        return 200 <= heard.status < 300

    def _answers_everything(self, heard: Heard) -> bool:
        """Does a path that nobody can know get the same answer? Then this one says nothing."""
        other = self.asker.get(_nowhere(), _SECONDS, whole=True)
        if other is None or other.status != heard.status or other.body != heard.body:
            return False
        self.seen = f"any other path is answered in the same way as {self.readiness.endpoint}"
        return True

    def _command_agrees(self) -> bool:
        done = self.box.run(self.command(self.readiness.command), _COMMAND_SECONDS)
        self.seen = f"`{self.readiness.command}` ends with code {done.code}: {done.output[-300:].strip()}"
        return done.ok


def _nowhere() -> str:
    return f"/{new_id()}"


def _described(heard: Heard | None) -> str:
    if heard is None:
        return "it does not answer"
    if not heard.status:
        return "it does not answer HTTP"
    return f"it redirects with {heard.status}" if heard.is_redirect else f"it answers {heard.status}"
