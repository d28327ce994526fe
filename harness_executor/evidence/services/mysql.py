"""MySQL and MariaDB as services that are thrown away."""

from dataclasses import replace

from harness_executor.evidence.services.base import Address, Rows, Seat, Unanswered
from harness_executor.evidence.services.mysql_wire import Conversation
from harness_executor.kernel.frozen import frozen

_OWNER = "root"
_LONGEST = 104
"""Bytes of the path of a socket, on the systems that take the fewest."""
_LOG = "--innodb-log-file-size=8M"


class _Server:
    """What both have in common: the protocol, and an owner without a password."""

    usual = Address("mysql", "app", "app", "app", 3306)
    places: tuple[str, ...] = ("/usr/sbin", "/usr/libexec", "/usr/local/mysql/bin", "/opt/homebrew/bin")
    programs: tuple[str, ...] = ()

    def serving(self, seat: Seat) -> tuple[str, ...]:
        """What it writes may be lost: nobody needs it after a crash."""
        return (
            *(seat.programs[self.programs[0]], "--no-defaults", f"--datadir={seat.data}"),
            *("--bind-address=127.0.0.1", f"--port={seat.address.port}", f"--socket={_socket(seat)}"),
            *(f"--pid-file={seat.data}/pid", "--skip-log-bin", "--skip-name-resolve", _LOG),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"),
        )

    def ping(self, seat: Seat) -> None:
        """It answers a question of its owner."""
        self._ask(seat, "SELECT 1")

    def settle(self, seat: Seat) -> None:
        """A user who may do everything, and a database of theirs."""
        user, secret = _text(seat.address.user), _text(seat.address.password)
        database = seat.address.database.replace("`", "``")
        self._ask(seat, f"CREATE DATABASE IF NOT EXISTS `{database}` CHARACTER SET utf8mb4")
        if seat.address.user == _OWNER:
            for host in ("127.0.0.1", "localhost") if seat.address.password else ():
                self._ask(seat, f"ALTER USER 'root'@'{host}' IDENTIFIED BY {secret}")
            return
        for host in ("127.0.0.1", "localhost", "%"):
            self._ask(
                seat,
                f"CREATE USER IF NOT EXISTS {user}@'{host}' IDENTIFIED BY {secret}",
            )
            self._ask(seat, f"GRANT ALL PRIVILEGES ON *.* TO {user}@'{host}' WITH GRANT OPTION")

    def query(self, seat: Seat, text: str) -> Rows:
        """Rows of the last statement that gave any, as the user of the address."""
        with Conversation(seat.dial, seat.address) as conversation:
            return conversation.ask(text)

    def rest(self, seat: Seat) -> None:
        """It writes everything when it is asked to end."""

    def _ask(self, seat: Seat, sql: str) -> Rows:
        try:
            return self._as_owner(seat, sql, "")
        except Unanswered:
            if seat.address.user != _OWNER or not seat.address.password:
                raise
            return self._as_owner(seat, sql, seat.address.password)

    def _as_owner(self, seat: Seat, sql: str, password: str) -> Rows:
        owner = replace(seat.address, user=_OWNER, password=password, database="")
        with Conversation(seat.dial, owner) as conversation:
            return conversation.ask(sql)


@frozen
class MariaDB(_Server):
    """MariaDB, which also serves projects that ask for MySQL."""

    programs = ("mariadbd", "mariadb-install-db")
    package = "mariadb-server"

    def making(self, seat: Seat) -> tuple[str, ...]:
        """Tables of its own, and an owner without a password."""
        words = ("--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", _LOG)
        return (seat.programs["mariadb-install-db"], "--no-defaults", f"--datadir={seat.data}", *words)


@frozen
class MySQL(_Server):
    """MySQL itself."""

    programs = ("mysqld",)
    package = "mysql-server"

    def making(self, seat: Seat) -> tuple[str, ...]:
        """Tables of its own, and an owner without a password."""
        return (
            seat.programs["mysqld"],
            "--no-defaults",
            "--initialize-insecure",
            f"--datadir={seat.data}",
            _LOG,
        )


def _socket(seat: Seat) -> str:
    """A path that the kernel takes; relative to the data where the whole one is too long."""
    whole = f"{seat.data}/s"
    return whole if len(whole.encode()) < _LONGEST else "s"


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
