"""Which ports a server gets, and where they are written into its command."""

from collections.abc import Mapping
from dataclasses import field

from harness_executor.evidence.services.running import Serving
from harness_executor.evidence.sockets import free_port
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box
from harness_executor.workspace.project import Start


@frozen
class Ports:
    """The port of a server, and further ones by name."""

    main: int
    named: Mapping[str, int] = field(default_factory=dict)

    def all(self) -> tuple[int, ...]:
        """Every port."""
        return (self.main, *self.named.values())

    def values(self) -> dict[str, str]:
        """What stands for each in a command."""
        return {"port": str(self.main), **{f"port.{name}": str(one) for name, one in self.named.items()}}


def fixed_port(start: Start) -> int | None:
    """The port a server insists on: one is named, and the start command takes no other."""
    takes_any = any("{port}" in text for text in (start.command, *start.env.values()))
    return None if takes_any else start.readiness.port


def has_fixed(start: Start) -> bool:
    """Can no two of them run on one network?"""
    return bool(fixed_port(start) or any(start.ports.values()))


def choose_ports(start: Start, box: Box, wished: int) -> Ports:
    """The ports of one server; in a network of its own it gets the one that is wished for."""
    main = fixed_port(start) or (box.is_private and wished) or free_port()
    named: dict[str, int] = {}
    for number, (name, port) in enumerate(start.ports.items(), 1):
        # both sides are asked alike: where the network is private, further ports follow the first
        named[name] = port or (main + number if box.is_private and main < 60_000 else free_port())
    return Ports(main, named)


def placeholders(ports: Ports, services: Mapping[str, Serving]) -> dict[str, str]:
    """Everything that can be filled in."""
    told = {
        f"service.{name}.{part}": value
        for name, service in services.items()
        for part, value in service.seat.address.parts().items()
    }
    return {**ports.values(), **told}


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its placeholders filled in; other braces stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def server_environment(
    start: Start, values: Mapping[str, str], services: Mapping[str, Serving]
) -> dict[str, str]:
    """The variables of a server and of what is done before it; where services are wins over the project."""
    given = {name: filled(value, values) for name, value in start.env.items()}
    found = {name: value for service in services.values() for name, value in service.variables().items()}
    return {"PORT": values["port"], "HOST": "127.0.0.1", "PYTHONUNBUFFERED": "1", **given, **found}
