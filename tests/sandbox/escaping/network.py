"""Ways out over the network: servers of the machine, names, raw packets, and addresses of clouds."""

import fcntl
import os
import selectors
import shutil
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

from tests.sandbox.escaping.probe import Control, Probe, Stage, printed, secret_in

METADATA = ("169.254.169.254", "169.254.170.2", "168.63.129.16")
"""Where clouds answer machines with their keys: Amazon and others, its containers, Azure."""
LINK_LOCAL = "fe80::5"
_SET_ADDRESS = 0x8916
_ICMP, _ICMPV6 = 1, 58
_FREE = {socket.AF_INET: 15, socket.AF_INET6: 78}
"""The option to serve an address before the machine has it: a new one of version 6 is not there at once."""


def _said(made: socket.socket, address: object) -> str:
    with made:
        made.settimeout(5)
        made.connect(address)  # type: ignore[arg-type]  # each family has its own form
        made.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return made.recv(4096).decode(errors="replace")


def _tcp(host: str, port: int) -> str:
    return _said(socket.socket(socket.AF_INET), (host, port))


def _udp(host: str, port: int) -> str:
    return _said(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), (host, port))


def a49_socket(stage: Stage) -> str:
    """Connect to a server of the machine."""
    return secret_in(_tcp("127.0.0.1", stage.ports["loopback"]))


def a49_programs(stage: Stage) -> str:
    """Fetch a page of the machine with the programs for it that are there."""
    address = f"http://127.0.0.1:{stage.ports['loopback']}/"
    tries = {
        "curl": ("-s", "--max-time", "5", address),
        "wget": ("-q", "-T", "5", "-t", "1", "-O", "-", address),
        "nc": ("-w", "5", "127.0.0.1", str(stage.ports["loopback"])),
    }
    there = {name: words for name, words in tries.items() if shutil.which(name)}
    return " ".join(name for name, words in there.items() if secret_in(printed(name, *words)))


def a49_dev_tcp(stage: Stage) -> str:
    """Connect from a shell that needs no program for it."""
    script = f"exec 3<>/dev/tcp/127.0.0.1/{stage.ports['loopback']}; echo >&3; cat <&3"
    return secret_in(printed("bash", "-c", script))


def a50_udp(stage: Stage) -> str:
    """Ask a server of the machine without a connection."""
    return secret_in(_udp("127.0.0.1", stage.ports["datagrams"]))


def a50_port_53(stage: Stage) -> str:
    """Ask a server of names."""
    return _udp("127.0.0.53", 53)


def a50_getent(stage: Stage) -> str:
    """Have the C library find an address."""
    return printed("getent", "ahostsv4", "canary.example.com")


def a51_icmp(stage: Stage) -> str:
    """Send a packet by hand, and hear it come back."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, _ICMP) as made:
        made.settimeout(5)
        made.sendto(struct.pack("!BBHHH", 8, 0, 0xF7FE, 1, 0), ("127.0.0.1", 0))
        return f"{len(made.recv(100))} bytes came back"


def a51_icmp_of_version_6(stage: Stage) -> str:
    """Open what packets of version 6 are sent with by hand."""
    socket.socket(socket.AF_INET6, socket.SOCK_RAW, _ICMPV6).close()
    return "opened"


def a51_link_local(stage: Stage) -> str:
    """Connect to a neighbour on the same wire."""
    there = (LINK_LOCAL, 80, 0, socket.if_nametoindex("lo"))
    return _said(socket.socket(socket.AF_INET6), there)


def a52_metadata(stage: Stage) -> str:
    """Ask where clouds keep the keys of a machine."""
    found = []
    for host in METADATA:
        with suppress(OSError):
            found.append(_tcp(host, 80))
    return " ".join(found)


def a53_every_address(stage: Stage) -> str:
    """Connect to a server that listens on every address of the machine."""
    found = []
    for host in ("127.0.0.1", "0.0.0.0", "127.1.2.3"):
        with suppress(OSError):
            found.append(secret_in(_tcp(host, stage.ports["everywhere"])))
    return " ".join(found)


def a53_version_6(stage: Stage) -> str:
    """Connect to a server at the other loopback."""
    return secret_in(_said(socket.socket(socket.AF_INET6), ("::1", stage.ports["version 6"])))


def _unix(name: str, stage: Stage) -> str:
    return secret_in(_said(socket.socket(socket.AF_UNIX), stage.sockets[name]))


def a41_docker(stage: Stage) -> str:
    """Talk to the service that runs containers."""
    return _unix("docker", stage)


def a41_dbus(stage: Stage) -> str:
    """Talk to the bus of the user's session."""
    return _unix("bus", stage)


def a41_ssh_agent(stage: Stage) -> str:
    """Talk to the agent that signs with the user's keys."""
    return _unix("ssh", stage)


def a41_gpg_agent(stage: Stage) -> str:
    """Talk to the other agent that does."""
    return _unix("gpg", stage)


def a41_x11(stage: Stage) -> str:
    """Talk to the screen."""
    return _unix("screen", stage)


def a42_abstract(stage: Stage) -> str:
    """Talk to a service that has a name and no file."""
    return secret_in(_said(socket.socket(socket.AF_UNIX), f"\0{stage.sockets['abstract']}"))


def furnish() -> None:
    """Have in this network, for as long as the caller runs, what the acts look for elsewhere."""
    ready, told = os.pipe()
    if os.fork():
        os.close(told)
        word = os.read(ready, 4096)
        if word != b"+":
            raise ChildProcessError(f"the network could not be furnished: {word.decode()}")
        return
    try:
        made = list(_servers())
        os.write(told, b"+")
        _serve(made)
    except OSError as error:
        os.write(told, str(error).encode())
    finally:
        os._exit(1)


def _servers() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for number, host in enumerate(METADATA):
            name = f"lo:{number + 1}".encode()
            place = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(host))
            fcntl.ioctl(asking, _SET_ADDRESS, struct.pack("16s16s", name, place))
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as asking:
        scope = socket.if_nametoindex("lo")
        there = socket.inet_pton(socket.AF_INET6, LINK_LOCAL)
        fcntl.ioctl(asking, _SET_ADDRESS, struct.pack("16sIi", there, 64, scope))
    yield from (_listening(socket.AF_INET, (host, 80)) for host in METADATA)
    yield _listening(socket.AF_INET6, (LINK_LOCAL, 80, 0, scope))
    for host in ("127.0.0.1", "127.0.0.53"):
        names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        names.bind((host, 53))
        yield names


def _listening(family: socket.AddressFamily, address: tuple[object, ...]) -> socket.socket:
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_IPV6 if family == socket.AF_INET6 else socket.IPPROTO_IP, _FREE[family], 1)
    made.bind(address)
    made.listen()
    return made


def _serve(servers: list[socket.socket]) -> None:
    selector = selectors.DefaultSelector()
    for server in servers:
        selector.register(server, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            with suppress(OSError):
                _answer(key.fileobj)  # type: ignore[arg-type]  # only sockets were registered


def _answer(server: socket.socket) -> None:
    if server.type == socket.SOCK_STREAM:
        made, _ = server.accept()
        with made:
            made.recv(4096)
            made.sendall(b"HTTP/1.0 200 OK\r\n\r\nfound")
        return
    asked, whom = server.recvfrom(4096)
    end = asked.find(b"\0", 12) + 5
    address = struct.pack("!HHHIH4s", 0xC00C, 1, 1, 60, 4, socket.inet_aton("127.0.0.9"))
    server.sendto(asked[:2] + struct.pack("!5H", 0x8180, 1, 1, 0, 0) + asked[12:end] + address, whom)


PROBES = (
    *map(Probe, (a49_socket, a49_programs, a49_dev_tcp, a50_udp, a53_every_address, a53_version_6)),
    *map(Probe, (a41_docker, a41_dbus, a41_ssh_agent, a41_gpg_agent, a41_x11, a42_abstract)),
    *(Probe(act, Control.RIGHTS) for act in (a50_port_53, a50_getent, a51_icmp, a51_icmp_of_version_6)),
    *(Probe(act, Control.RIGHTS) for act in (a51_link_local, a52_metadata)),
)
