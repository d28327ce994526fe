"""What a project's own settings ask for beyond what the user gave, and what becomes of that."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from harness_executor.kernel.budget import Budget, Caps
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.frozen import frozen

USERS_OWN = ("keys", "prices", "providers", "secrets", "services")
"""Tables that no project can have."""

GRANTABLE = {"network": "allow", "sandbox": "read"}
"""Tables of which a project may ask for one key."""


@frozen
class Wish:
    """What a user can grant a project."""

    network: tuple[str, ...] = ()
    """Hosts that may be reached."""
    readable: tuple[str, ...] = ()
    """Folders and files outside the project that may be read."""

    @property
    def digest(self) -> str:
        """What a grant is bound to: exactly this and nothing else."""
        return digest({"network": list(self.network), "readable": list(self.readable)})

    def __bool__(self) -> bool:
        return bool(self.network or self.readable)

    def __str__(self) -> str:
        hosts = (f"network.allow: {host}" for host in self.network)
        return "\n".join([*hosts, *(f"sandbox.read: {path}" for path in self.readable)])


def unheard(project: Mapping[str, Any]) -> Iterator[str]:
    """What stands in a project's settings and is the user's alone, in one sentence each."""
    for table in USERS_OWN:
        if table in project:
            yield f"{table} in the project's config.toml is ignored: only your own file can have it"
    for table, key in GRANTABLE.items():
        for name in sorted(set(project.get(table, {})) - {key}):
            yield f"{table}.{name} in the project's config.toml is ignored: only your own file can have it"


def too_high(mine: Mapping[str, Any], wanted: Mapping[str, Any], where: str) -> Iterator[str]:
    """Which caps of a project are above the user's, in one sentence each."""
    for name, value in wanted.items():
        if value is not None and mine.get(name) is not None and value > mine[name]:
            said = f"{where}{name} = {value:g}"
            yield f"{said} in the project's config.toml is ignored: yours is {mine[name]:g}"


def too_dear(mine: Budget, wanted: Budget) -> Iterator[str]:
    """Which budgets of a project are above the user's, in one sentence each."""
    for span in (member.name for member in fields(Budget)):
        yield from too_high(_written(getattr(mine, span)), _written(getattr(wanted, span)), f"budget.{span}.")


def unanswered(wish: Wish) -> Iterator[str]:
    """That a wish waits for the user, in one sentence."""
    if wish:
        asked = ", ".join(str(wish).splitlines())
        yield f"the project's config.toml asks for more than you gave ({asked}); `harness trust` grants it"


def _written(caps: Caps) -> dict[str, float | None]:
    """Caps as people write them."""
    usd = None if caps.micros is None else caps.micros / 1_000_000
    minutes = None if caps.seconds is None else caps.seconds / 60
    return {"usd": usd, "tokens": caps.tokens, "turns": caps.turns, "minutes": minutes}
