"""PostgreSQL as a service that is thrown away."""

from dataclasses import replace

from harness_executor.evidence.services.base import Address, Rows, Seat
from harness_executor.evidence.services.postgresql_wire import Conversation
from harness_executor.kernel.frozen import frozen

_OWNER = "postgres"


@frozen
class PostgreSQL:
    """A cluster of one, in which everybody on its loopback is let in."""

    usual = Address("postgresql", "app", "app", "app", 5432)
    programs = ("postgres", "initdb")
    places = (
        "/usr/lib/postgresql/*/bin",
        "/usr/pgsql-*/bin",
        "/usr/local/pgsql/bin",
        "/opt/homebrew/opt/postgresql*/bin",
    )
    package = "postgresql"

    def making(self, seat: Seat) -> tuple[str, ...]:
        """A cluster whose first user is the same on every machine."""
        words = ("--username", _OWNER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8")
        return (seat.programs["initdb"], "--pgdata", str(seat.data), *words, "--no-sync", "--no-instructions")

    def serving(self, seat: Seat) -> tuple[str, ...]:
        """What it writes may be lost: nobody needs it after a crash."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(seat.address.port),
            "unix_socket_directories": "",
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "max_wal_size": "256MB",
            "shared_buffers": "32MB",
            "jit": "off",
            "logging_collector": "off",
        }
        words = (word for name, value in settings.items() for word in ("-c", f"{name}={value}"))
        return (seat.programs["postgres"], "-D", str(seat.data), *words)

    def ping(self, seat: Seat) -> None:
        """It answers a question of its owner."""
        self._ask(seat, "SELECT 1", "postgres")

    def settle(self, seat: Seat) -> None:
        """A user who may do everything, and a database of theirs."""
        user, database = seat.address.user, seat.address.database
        if {"name": user} not in self._ask(seat, "SELECT rolname AS name FROM pg_roles", "postgres"):
            secret = _text(seat.address.password)
            self._ask(seat, f"CREATE ROLE {_name(user)} LOGIN SUPERUSER PASSWORD {secret}", "postgres")
        if {"name": database} not in self._ask(seat, "SELECT datname AS name FROM pg_database", "postgres"):
            self._ask(seat, f"CREATE DATABASE {_name(database)} OWNER {_name(user)}", "postgres")

    def query(self, seat: Seat, text: str) -> Rows:
        """Rows of the last statement that gave any, as the user of the address."""
        with Conversation(seat.dial, seat.address) as conversation:
            return conversation.ask(text)

    def rest(self, seat: Seat) -> None:
        """It writes everything when it is asked to end."""

    def _ask(self, seat: Seat, sql: str, database: str) -> Rows:
        with Conversation(seat.dial, replace(seat.address, user=_OWNER, database=database)) as conversation:
            return conversation.ask(sql)


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
