"""Where scenarios are carried out: a server that answers, the box it stands in, or both."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import TYPE_CHECKING, assert_never

from harness_executor.clock import Clock
from harness_executor.evidence.asking import AGENT
from harness_executor.evidence.dialing import Dial, here
from harness_executor.evidence.executing import SQLITE, Yard
from harness_executor.evidence.services.asked import ask_service
from harness_executor.evidence.services.running import Serving
from harness_executor.kernel.acts import Act, Call, Probe, Program, Query
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Deed
from harness_executor.kernel.values import NoSuchValue

if TYPE_CHECKING:
    from harness_executor.evidence.exchange import Client


@frozen
class Ground:
    """What the steps of a scenario can reach."""

    clock: Clock
    url: str = ""
    """Where the server answers; nothing when there is none."""
    dial: Dial = here
    yard: Yard | None = None
    """Where programs of the project run; nothing when none may."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Further ports of the server, by name."""
    services: Mapping[str, Serving] = field(default_factory=dict)
    """Databases and others that run beside it, by name."""
    agent: str = AGENT
    """Who the client says it is."""

    def user(self) -> "AbstractContextManager[Client | None]":
        """A client of the server with a memory of its own, if there is a server."""
        if not self.url:
            return nullcontext()
        return client_class()(self.url, self.clock, self.dial, agent=self.agent)


def client_class() -> "type[Client]":
    """What requests are sent with: it takes a while to load, which can be done while servers start."""
    from harness_executor.evidence.exchange import Client  # noqa: PLC0415 - as above

    return Client


def carry_out(act: Act, ground: Ground, client: "Client | None", wanted: tuple[str, ...] = ()) -> Deed:
    """Do what a step says, and look at the wanted files; raises LookupError when it cannot be done here."""
    if isinstance(act, Call):
        if client is None:
            raise NoSuchValue(f"{act.method} {act.path}: there is no server")
        return client.send(act, _port(act, ground))
    if ground.yard is None:
        raise NoSuchValue(f"a {type(act).__name__.lower()} cannot be carried out here")
    match act:
        case Program():
            return ground.yard.run(act, wanted)
        case Probe():
            return ground.yard.probe(act, wanted)
        case Query():
            if act.service in ground.services:
                return ask_service(ground.services[act.service], act, ground.clock)
            if not act.service.startswith(SQLITE):
                raise NoSuchValue(f"there is no service {act.service!r}")
            return ground.yard.query(act, wanted)
    assert_never(act)


def _port(call: Call, ground: Ground) -> int | None:
    if not call.port:
        return None
    if call.port not in ground.ports:
        raise NoSuchValue(f"{call.method} {call.path}: startup.ports has no port {call.port!r}")
    return ground.ports[call.port]
