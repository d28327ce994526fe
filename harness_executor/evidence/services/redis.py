"""Redis as a service that is thrown away."""

import shlex
from typing import Any

from harness_executor.evidence.services.base import Address, Rows, Seat, Unanswered
from harness_executor.evidence.services.reading import Line
from harness_executor.kernel.frozen import frozen


@frozen
class Redis:
    """Redis, or Valkey where that is installed instead."""

    usual = Address("redis", "", "", "0", 6379)
    programs = ("redis-server",)
    places = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
    package = "redis-server"

    def making(self, _: Seat) -> tuple[str, ...]:
        """It begins with nothing."""
        return ()

    def serving(self, seat: Seat) -> tuple[str, ...]:
        """It writes its memory down only when it is asked to."""
        words = ("--bind", "127.0.0.1", "--port", str(seat.address.port), "--dir", str(seat.data))
        secret = ("--requirepass", seat.address.password) if seat.address.password else ()
        return (seat.programs["redis-server"], *words, "--save", "", "--appendonly", "no", *secret)

    def ping(self, seat: Seat) -> None:
        """It says PONG, which it does not while it reads what it wrote."""
        with _line(seat) as line:
            if _said(line, "PING") != "PONG":
                raise Unanswered("it does not answer PING with PONG")

    def settle(self, seat: Seat) -> None:
        """There is nothing to make."""

    def query(self, seat: Seat, text: str) -> Rows:
        """One command a line, and the answer to each under `value`."""
        with _line(seat) as line:
            if seat.address.database.isdigit():
                _said(line, "SELECT", seat.address.database)
            commands = [shlex.split(one) for one in text.splitlines() if one.strip()]
            return [{"value": _said(line, *words)} for words in commands]

    def rest(self, seat: Seat) -> None:
        """Write its memory down."""
        with _line(seat) as line:
            _said(line, "SAVE")


def _line(seat: Seat) -> Line:
    line = Line(seat.dial(seat.address.port))
    if seat.address.password:
        user = (seat.address.user,) if seat.address.user else ()
        _said(line, "AUTH", *user, seat.address.password)
    return line


def _said(line: Line, *words: str) -> Any:
    parts = [f"*{len(words)}\r\n".encode()]
    parts += [b"$%d\r\n%b\r\n" % (len(word.encode()), word.encode()) for word in words]
    line.send(b"".join(parts))
    return _reply(line, 0)


def _reply(line: Line, depth: int) -> Any:
    head = line.line()
    kind, rest = head[:1], head[1:].decode(errors="replace")
    match kind:
        case b"+":
            return rest
        case b"-":
            raise Unanswered(rest)
        case b":":
            return int(rest)
        case b"$":
            return None if rest == "-1" else line.exactly(int(rest) + 2)[:-2].decode(errors="replace")
        case b"*" if depth < 8:
            return None if rest == "-1" else [_reply(line, depth + 1) for _ in range(int(rest))]
    raise Unanswered("it does not speak the protocol of Redis")
