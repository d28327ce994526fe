"""A service at an address that the user gave, instead of one that is thrown away."""

from urllib.parse import urlsplit

from harness_executor.errors import UsageError
from harness_executor.evidence.services.base import ENCODED, Address, read_address
from harness_executor.evidence.services.registry import engines_of
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.needs import Service


@frozen
class Outside:
    """Where it really is, and how a box meets it."""

    to: tuple[str, int]
    within: Address
    """The same user, password and database, at the box's own loopback."""

    @classmethod
    def read(cls, service: Service, url: str) -> "Outside":
        """An address as the user wrote it."""
        engines = engines_of(service.type)
        usual = engines[0].usual if engines else Address(service.type, "", "", "", service.port)
        try:
            parts = urlsplit(url)
            port = parts.port or usual.port
            if not (parts.scheme and parts.hostname and port):
                raise ValueError("it names no host and port")
            mine = read_address(url, Address(parts.scheme, "", "", usual.database, port))
        except ValueError as error:
            raise UsageError(
                f"the address of the service {service.name} cannot be read: {error}",
                hint=f"--service {service.name}={usual.scheme}://USER:PASSWORD@HOST:PORT/DATABASE; {ENCODED}",
            ) from error
        return cls((parts.hostname, port), mine)
