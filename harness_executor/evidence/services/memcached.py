"""Memcached as a service that is thrown away."""

from harness_executor.evidence.services.base import Address, Rows, Seat, Unanswered
from harness_executor.evidence.services.reading import Line
from harness_executor.kernel.frozen import frozen


@frozen
class Memcached:
    """Memcached, which keeps nothing when it ends."""

    usual = Address("memcached", "", "", "", 11211)
    programs = ("memcached",)
    places = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
    package = "memcached"

    def making(self, _: Seat) -> tuple[str, ...]:
        """It begins with nothing."""
        return ()

    def serving(self, seat: Seat) -> tuple[str, ...]:
        """On its loopback, and not by datagrams."""
        return (
            seat.programs["memcached"],
            "-l",
            "127.0.0.1",
            "-p",
            str(seat.address.port),
            "-U",
            "0",
            "-m",
            "64",
        )

    def ping(self, seat: Seat) -> None:
        """It says its version."""
        with Line(seat.dial(seat.address.port)) as line:
            line.send(b"version\r\n")
            if not line.line().startswith(b"VERSION "):
                raise Unanswered("it does not say its version")

    def settle(self, seat: Seat) -> None:
        """There is nothing to make."""

    def query(self, seat: Seat, text: str) -> Rows:
        """`get KEY`, `set KEY VALUE`, `delete KEY` or `flush_all`, one a line; the answers under `value`."""
        with Line(seat.dial(seat.address.port)) as line:
            return [{"value": _said(line, one.split(None, 2))} for one in text.splitlines() if one.strip()]

    def rest(self, seat: Seat) -> None:
        """It has nowhere to write."""


def _said(line: Line, words: list[str]) -> str | None:
    match words:
        case ["get", key]:
            line.send(f"get {key}\r\n".encode())
            return _found(line)
        case ["set", key, value]:
            line.send(f"set {key} 0 0 {len(value.encode())}\r\n{value}\r\n".encode())
        case ["delete", key]:
            line.send(f"delete {key}\r\n".encode())
        case ["flush_all"]:
            line.send(b"flush_all\r\n")
        case _:
            raise Unanswered(f"{' '.join(words)!r} is not asked of memcached here")
    said = line.line().decode(errors="replace")
    if said.startswith(("ERROR", "CLIENT_ERROR", "SERVER_ERROR")):
        raise Unanswered(said)
    return said


def _found(line: Line) -> str | None:
    head = line.line().split()
    if head[:1] == [b"END"]:
        return None
    if head[:1] != [b"VALUE"] or len(head) < 4:
        raise Unanswered(b" ".join(head).decode(errors="replace"))
    value = line.exactly(int(head[3]) + 2)[:-2]
    line.line()
    return value.decode(errors="replace")
