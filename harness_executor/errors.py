"""Every error the program raises on purpose, as one tree.

HarnessError                   exit 1   could not
├── UsageError                 exit 2   the command or a file the user wrote is wrong
│   └── ShapeError             exit 2   data that does not fit its type
├── NeedsHuman                 exit 3   waits for a person
├── Refused                    exit 4   the gate said no
├── RepositoryError            exit 1   the repository cannot be worked on
├── LogError                   exit 1   the event log cannot be used
│   ├── LogDamaged                      it does not check out
│   ├── LogHeld                         another process writes this task
│   └── LogFenced                       another process took this task over
├── DiskError                  exit 1   a durable write failed
├── ServerError                exit 1   the server under test
│   ├── ServerNotReady                  never answered in time
│   ├── ServerExited                    ended before or while it was tested
│   ├── PortTaken                       somebody else listens there
│   └── ForeignListener                 the answering socket is not ours
├── AgentError                 exit 1   a subagent
│   ├── AgentDied                       the process ended without an answer
│   ├── AgentSilent                     no heartbeat
│   ├── AgentTimedOut                   no answer within its time
│   └── ReplyRejected                   no acceptable answer within its tries
└── ProviderError              exit 1   the model's service
    └── ModelUnknown           exit 2   no such provider, or no key for it
"""

from typing import ClassVar


class HarnessError(Exception):
    """Something went wrong that a user can act on."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(HarnessError):
    """The command line, or a file the user wrote, is wrong."""

    exit_code = 2


class ShapeError(UsageError):
    """Data does not fit the type that reads it."""

    def __init__(self, problems: tuple[tuple[tuple[str | int, ...], str], ...], *, hint: str = "") -> None:
        super().__init__("; ".join(f"{_dotted(where)}: {what}" for where, what in problems), hint=hint)
        self.problems = problems


class NeedsHuman(HarnessError):
    """A person has to decide before this can go on."""

    exit_code = 3


class Refused(HarnessError):
    """The gate refused."""

    exit_code = 4


class RepositoryError(HarnessError):
    """The repository cannot be worked on."""


class LogError(HarnessError):
    """The event log cannot be used."""


class LogDamaged(LogError):
    """The log does not check out."""


class LogHeld(LogError):
    """Another process is writing this task."""


class LogFenced(LogError):
    """Another process has taken this task over."""


class DiskError(HarnessError):
    """A durable write failed."""


class ServerError(HarnessError):
    """The server under test could not be used."""


class ServerNotReady(ServerError):
    """The server never became ready."""


class ServerExited(ServerError):
    """The server ended by itself."""


class PortTaken(ServerError):
    """Somebody else listens on the port."""


class ForeignListener(ServerError):
    """The socket that answers does not belong to the server we started."""


class AgentError(HarnessError):
    """A subagent failed."""


class AgentDied(AgentError):
    """The subagent's process ended without an answer."""


class AgentSilent(AgentError):
    """The subagent stopped sending heartbeats."""


class AgentTimedOut(AgentError):
    """The subagent gave no answer within its time."""


class ReplyRejected(AgentError):
    """The subagent gave no acceptable answer within its tries."""


class ProviderError(HarnessError):
    """The model's service failed."""


class ModelUnknown(ProviderError):
    """No provider of that name, or no key for it."""

    exit_code = 2


def _dotted(where: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in where) or "value"
