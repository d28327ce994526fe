"""Programs of AdonisJS, which its own command compiles, serves and migrates."""

from collections.abc import Iterator

from harness_executor.workspace.detect import nodebuilds, nodepackages
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Candidate, Place, Port, Step

_SCORE = 86
"""More than the script start, which is meant for the folder that the build makes."""
_SETTINGS = ("adonisrc.ts", ".adonisrc.json")
_SERVERS = ("bin/server.ts", "server.ts")


def served(unit: Unit) -> Iterator[Candidate]:
    """The server as `ace` starts it from TypeScript, without a watch."""
    if not _is_adonis(unit) or not any(map(unit.has, _SERVERS)):
        return
    yield Candidate(
        "node ace serve",
        _SCORE,
        ("AdonisJS serves TypeScript by its command ace",),
        unit.folder,
        "adonis",
        {"PORT": "{port}", "HOST": "127.0.0.1"},
        Port(Place.ENVIRONMENT, 3333, "PORT"),
        nodebuilds.members(unit),
        unit.path("package.json"),
    )


def steps(unit: Unit) -> Iterator[Step]:
    """The migrations of Lucid, if there are any."""
    is_kept = any("database/migrations/" in name for name in unit.names)
    if _is_adonis(unit) and is_kept and "@adonisjs/lucid" in nodepackages.packages(unit):
        reason = "Lucid keeps the tables"
        yield Step("migrate", "node ace migration:run --force", ("**/database/migrations/**",), reason)


def _is_adonis(unit: Unit) -> bool:
    return any(map(unit.has, _SETTINGS)) and (unit.has("ace") or unit.has("ace.js"))
