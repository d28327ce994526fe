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
│   ├── PackagesMissing                 they could not be fetched, and it does not start without; parked
│   ├── PortTaken                       somebody else listens there
│   └── ForeignListener                 the answering socket is not ours
├── ServiceError               exit 1   a database or another service that the project needs
│   ├── ServiceMissing                  it is not on this machine, and nobody gave an address
│   └── ServiceFailed                   it did not start, or did not answer
├── SandboxError               exit 1   the box that commands run in
│   ├── NoBox                  exit 3   none works on this machine
│   └── BoxBroke                        it could not be made, or ended by itself
├── AgentError                 exit 1   a subagent
│   ├── AgentDied                       the process ended without an answer
│   ├── AgentSilent                     no heartbeat
│   ├── AgentStale                      heartbeats, and no progress
│   ├── AgentTimedOut                   no answer within its time
│   ├── AgentOutOfMemory                it needed more memory than it may have
│   ├── AgentLooping                    the same call with the same result, again and again
│   └── ReplyRejected                   no acceptable answer within its tries
├── BudgetSpent                exit 6   a cap of money, tokens, turns or time; the task is parked
└── ProviderError              exit 1   the model's service
    ├── ModelUnknown           exit 2   no such provider, or no key for it
    ├── ProviderFault                   may pass: overloaded, lost, cut off
    ├── RequestRefused                  will not pass: the request itself is wrong
    ├── ContextOverflow                 the conversation does not fit the model's window
    ├── KeyRefused             exit 3   the key does not open it; the task is parked
    ├── QuotaSpent             exit 3   the account's money or quota is gone; the task is parked
    └── ProviderDown           exit 3   it did not come back within the tries; the task is parked

An error with a `pause` parks the task under that name instead of failing its step.
"""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Fault:
    """What a service said when it failed."""

    status: int = 0
    """The HTTP status; 0 when no answer came."""
    request_id: str = ""
    after: float | None = None
    """Seconds it asked to wait, as it asked."""
    billed: bool = False
    """May the call have cost something? A connection that was lost after it was sent may."""


class HarnessError(Exception):
    """Something went wrong that a user can act on."""

    exit_code: ClassVar[int] = 1
    pause: ClassVar[str] = ""
    """Why a task is parked that meets this, or nothing."""

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
    pause = "human"


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


class PackagesMissing(ServerError):
    """Packages could not be fetched, and the server does not start without them."""

    pause = "human"


class PortTaken(ServerError):
    """Somebody else listens on the port."""


class ForeignListener(ServerError):
    """The socket that answers does not belong to the server we started."""


class ServiceError(HarnessError):
    """A service that the project needs could not be used."""


class ServiceMissing(ServiceError):
    """It is not on this machine, and nobody gave an address."""


class ServiceFailed(ServiceError):
    """It did not start, or did not answer."""


class SandboxError(HarnessError):
    """The box that commands run in failed."""


class NoBox(SandboxError):
    """No sandbox works on this machine."""

    exit_code = 3
    pause = "human"


class BoxBroke(SandboxError):
    """A box could not be made, or ended by itself."""


class AgentError(HarnessError):
    """A subagent failed."""


class AgentDied(AgentError):
    """The subagent's process ended without an answer."""


class AgentSilent(AgentError):
    """The subagent stopped sending heartbeats."""


class AgentStale(AgentError):
    """The subagent is alive and gets nowhere."""


class AgentTimedOut(AgentError):
    """The subagent gave no answer within its time."""


class AgentOutOfMemory(AgentError):
    """The subagent needed more memory than it may have."""


class AgentLooping(AgentError):
    """The subagent made the same call with the same result until it was stopped."""


class ReplyRejected(AgentError):
    """The subagent gave no acceptable answer within its tries."""


class BudgetSpent(HarnessError):
    """A cap of money, tokens, turns or time is reached."""

    exit_code = 6
    pause = "budget"


class ProviderError(HarnessError):
    """The model's service failed."""

    def __init__(self, message: str, *, hint: str = "", said: Fault | None = None) -> None:
        super().__init__(message, hint=hint)
        self.said = said or Fault()


class ModelUnknown(ProviderError):
    """No provider of that name, or no key for it."""

    exit_code = 2
    pause = "human"


class ProviderFault(ProviderError):
    """The service failed in a way that may pass."""


class RequestRefused(ProviderError):
    """The service will never answer this request."""


class ContextOverflow(ProviderError):
    """The conversation does not fit the model's window."""


class KeyRefused(ProviderError):
    """The service does not accept the key."""

    exit_code = 3
    pause = "auth"


class QuotaSpent(ProviderError):
    """The account's money or quota is gone."""

    exit_code = 3
    pause = "provider_quota"


class ProviderDown(ProviderError):
    """The service did not come back within the tries."""

    exit_code = 3
    pause = "provider_down"


def _dotted(where: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in where) or "value"
