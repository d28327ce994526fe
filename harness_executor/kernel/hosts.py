"""Which hosts may be reached: a name counts in one spelling, and every other spelling is refused."""

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from harness_executor.kernel.frozen import frozen

PORTS = (80, 443)
"""The ports of an entry that names none."""

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]+)(?::([1-9][0-9]{0,4}))?")
_UNICAST = IPv6Network("2000::/3")
_HIDDEN = tuple(map(IPv4Network, ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24")))
"""Global by their numbers, and yet the platform of a machine in a cloud, or a relay."""


class BadEntry(ValueError):
    """An entry does not name a host."""


@frozen
class Target:
    """A host in its one spelling, with a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@frozen
class Entry:
    """One host, or all hosts below one, that may be reached."""

    host: str
    ports: tuple[int, ...] = PORTS
    below: bool = False
    """Is it about the hosts below this one, and not about the host itself?"""

    def fits(self, target: Target) -> bool:
        """Does it name this host and this port?"""
        named = target.host.endswith(f".{self.host}") if self.below else target.host == self.host
        return named and target.port in self.ports


@frozen
class Allowed:
    """The hosts that may be reached; none when nothing is listed."""

    entries: tuple[Entry, ...] = ()

    def is_allowed(self, host: str, port: int) -> bool:
        """Is this host listed, with this port?"""
        name = canonical(host)
        return name is not None and any(entry.fits(Target(name, port)) for entry in self.entries)


def read_allowed(entries: Iterable[str]) -> Allowed:
    """The hosts that these entries name, such as `pypi.org`, `pypi.org:443` and `*.npmjs.org`."""
    return Allowed(tuple(map(_entry, entries)))


def _entry(text: str) -> Entry:
    below = text.startswith("*.")
    found = _AUTHORITY.fullmatch(text.removeprefix("*."))
    host = canonical(found[1]) if found else None
    if found is None or host is None or (below and (is_address(host) or "." not in host)):
        raise BadEntry(f"{text!r} names no host")
    if found[2] and int(found[2]) > 65535:
        raise BadEntry(f"{text!r} has no such port")
    return Entry(host, (int(found[2]),) if found[2] else PORTS, below)


def canonical(host: str) -> str | None:
    """The one spelling of a host name or an address; None for what is neither, or hides what it is."""
    if not host.isascii():
        return None
    if host.startswith("["):
        return _bracketed(host)
    name = host.lower()
    labels = name.split(".")
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        return None
    if _NUMBER.fullmatch(labels[-1]) and not _is_quad(name):
        return None
    return name


def _bracketed(host: str) -> str | None:
    try:
        address = IPv6Address(host[1:-1])
    except AddressValueError:
        return None
    if not host.endswith("]") or address.scope_id is not None or address.ipv4_mapped is not None:
        return None
    return f"[{address.compressed}]"


def _is_quad(name: str) -> bool:
    try:
        return str(IPv4Address(name)) == name
    except AddressValueError:
        return False


def is_address(host: str) -> bool:
    """Is this canonical host an address and not a name?"""
    return host.startswith("[") or _is_quad(host)


def read_target(text: str, default: int | None = None) -> Target | None:
    """The host and port of `host:port`; None when it is anything else."""
    found = _AUTHORITY.fullmatch(text)
    host = canonical(found[1]) if found else None
    port = int(found[2]) if found and found[2] else default
    if host is None or port is None or port > 65535:
        return None
    return Target(host, port)


def may_lead_to(host: str, address: str) -> bool:
    """May a connection to this listed host go to this address? A name leads only to the public network."""
    if is_address(host):
        return address == host.strip("[]")
    if host == "localhost":
        return _is_loopback(address)
    return is_public(address)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def is_public(address: str) -> bool:
    """Is it one machine on the public network, under no disguise?"""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        wrapped = found.sixtofour is not None or found.teredo is not None
        if found.scope_id is not None or wrapped or found not in _UNICAST:
            return False
    elif any(found in network for network in _HIDDEN):
        return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)
