"""Ways to start a server, tried in the box: one counts only after the server answered."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from enum import IntEnum
from typing import Any

from harness_executor.clock import new_id
from harness_executor.errors import BoxBroke, HarnessError, ServerError, ServerNotReady, ServiceError
from harness_executor.evidence.affording import Absent, Company, companies, corrected
from harness_executor.evidence.exchange import Client
from harness_executor.evidence.knocking import Asker
from harness_executor.evidence.preparation import SQL, STEP, Crew, made_ready
from harness_executor.evidence.server import DEBUGGERS, Server, Stand, running_server
from harness_executor.evidence.services.running import host_names, wanted
from harness_executor.evidence.telling import telling_line
from harness_executor.evidence.workbench import Bench
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.detection import Detection
from harness_executor.workspace.detect.dotfiles import insisted_on
from harness_executor.workspace.detect.environment import Choice, environment
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.remedies import PRISMA
from harness_executor.workspace.detect.routes import is_about_health, ready_paths
from harness_executor.workspace.detect.values import Candidate, Kind, Place, Port, Route, Step
from harness_executor.workspace.project import Start, as_project

MOST = 8
"""How many ways are tried."""
SECONDS = 240.0
"""After this time no further way is begun."""
WAIT = 40.0
"""How long a server may take to listen."""
PATIENCE = 10.0
"""How long one may listen elsewhere only."""
ASKING = 30.0
"""How long a server that listens is asked."""
MORE = 2
"""How many ways are tried after one that answers, but with nothing good."""
CORRECTIONS = 2
"""How often a way is tried again with the user, database or file of variables that it asked for."""
MOST_SAID = 3000
"""How much is kept of what a server said."""
_MISUSED = re.compile(r"no such (?:option|command)|unrecognized arguments|invalid choice", re.I)
_LISTENS = re.compile(r"it listens on ([^\n]*)")
_DRAWN = 32768
"""From here on the system draws ports for those who name none, others for each start."""
_MISSING = re.compile(
    r"No module named '?([\w.]+)'?|Cannot find (?:module|package) '([^'./][^']*)'"
    r"|sh: \d+: ([\w-]+): not found|npm error request to \S+/(\S+) failed: cache mode"
)
_UNGENERATED = re.compile(r"@prisma/client did not initialize yet|binaries\.prisma\.sh|module '\.prisma/")


class Answered(IntEnum):
    """How well a server answered."""

    NOT = 0
    BADLY = 1
    """Every answer says that the server itself failed."""
    SOMEHOW = 2
    """It answers, and no route says plainly that all is well."""
    PARTLY = 3
    """One says so, and another of its own fails, as where a database is missing."""
    WELL = 4


@frozen
class Attempt:
    """One way, and what came of it."""

    candidate: Candidate
    steps: tuple[Step, ...] = ()
    answered: Answered = Answered.NOT
    endpoint: str = ""
    status: int = 0
    said: str = ""
    hint: str = ""
    missing: str = ""
    """A package or program that was not there."""
    company: Company = field(default_factory=Company)
    fills: bool = True
    """Are the project's files of SQL run first, where no step makes the tables?"""

    @property
    def is_misused(self) -> bool:
        """Did a program say that it is no server to be started like this: it does not know the option?"""
        return self.answered is Answered.NOT and bool(_MISUSED.search(self.said))

    @property
    def absent(self) -> tuple[Absent, ...]:
        """Services that it had to do without."""
        return self.company.absent

    def choice(self) -> Choice:
        """The way, as it is written down."""
        readiness: dict[str, Any] = {"type": "tcp", "config": {"timeout_seconds": 60}}
        if self.endpoint:
            config = {"endpoint": self.endpoint, "expected_status": self.status, "timeout_seconds": 60}
            config |= {} if is_about_health(self.endpoint) else {"lenient": True}
            readiness = {"type": "http", "config": config}
        confirmed = self.answered >= Answered.SOMEHOW
        made = Choice(self.candidate, self.steps, readiness, confirmed, self.said)
        return replace(made, services=self.company.services, fills=self.fills)


def try_all(found: Detection, bench: Bench) -> tuple[Attempt, ...]:
    """Try the ways to start in their order, until one answers well; the best one comes first."""
    end = bench.clock.monotonic() + SECONDS
    attempts: list[Attempt] = []
    since = 0
    for candidate in found.candidates[:MOST]:
        if bench.clock.monotonic() > end or since > MORE:
            break
        attempts += _try(found, candidate, bench, tuple(attempts))
        best = max(attempt.answered for attempt in attempts)
        if best is Answered.WELL:
            break
        since += best >= Answered.SOMEHOW
    return _told(sorted(attempts, key=lambda attempt: -_worth(attempt)))


def _told(attempts: list[Attempt]) -> tuple[Attempt, ...]:
    """The attempts, the best of them with the steps that it had to do without."""
    best, *others = with_the_lost(attempts)
    folder = best.candidate.folder
    tried = [one.said for one in others if one.candidate.folder == folder]
    lost = next((said for said in tried if said.startswith((STEP, SQL))), "")
    if best.steps or best.answered < Answered.SOMEHOW or not lost:
        return (best, *others)
    said = f"{best.said}, without what should come first: {lost.partition(chr(10))[0]}: {telling_line(lost)}"
    return (replace(best, said=said), *others)


def with_the_lost(attempts: list[Attempt]) -> list[Attempt]:
    """The attempts; a page for browsers that answers says which server beside it does not start."""
    best, *others = attempts
    folder = best.candidate.folder
    servers = (one for one in others if one.candidate.kind is Kind.SERVER and one.candidate.folder != folder)
    lost = next(servers, None)
    if best.candidate.kind is not Kind.FRONTEND or best.answered < Answered.SOMEHOW or lost is None:
        return attempts
    way = f"`{lost.candidate.command}` in {lost.candidate.folder}"
    said = f"{best.said}; it is only a page for browsers, as {way} does not start: {telling_line(lost.said)}"
    return [replace(best, said=said), *others]


def _worth(attempt: Attempt) -> Answered:
    """How well it answered; a page for browsers that only fails says nothing of the server that is meant."""
    is_page = attempt.candidate.kind is Kind.FRONTEND and attempt.answered is Answered.BADLY
    return Answered.NOT if is_page else attempt.answered


def _try(
    found: Detection, candidate: Candidate, bench: Bench, before: tuple[Attempt, ...]
) -> Iterator[Attempt]:
    """One candidate with what it may need first and beside it, and without, and on the port it insists on."""
    least = -1
    for way in _ways(found, candidate, bench):
        if len(way.company.services) <= least or _is_lost(way, before):
            continue
        attempt = _attempt(found, way, bench)
        yield attempt
        for _ in range(CORRECTIONS):
            met = _met(found, way, attempt) if attempt.answered < Answered.SOMEHOW else None
            if met:
                way = met  # noqa: PLW2901 - what it asked for is there from now on
                attempt = _attempt(found, way, bench)
                yield attempt
        port = elsewhere(attempt.said) if not attempt.answered else None
        if port:
            moved = replace(way, candidate=insisting(way.candidate, port))
            attempt = _attempt(found, moved, bench)
            yield attempt
        if attempt.answered is Answered.PARTLY:
            least = len(way.company.services)
        elif attempt.answered >= Answered.SOMEHOW or attempt.missing or attempt.is_misused:
            return


def _is_lost(way: Attempt, before: tuple[Attempt, ...]) -> bool:
    """Did what comes first fail already, whenever it came before another command of the same folder?"""
    place = (way.candidate.folder, way.candidate.build)
    same = [
        one
        for one in before
        if (one.candidate.folder, one.candidate.build) == place
        and all(step in one.steps for step in way.steps)
    ]
    never_done = all(one.said.startswith(STEP) for one in same)
    return bool(way.steps) and never_done and any(one.company == way.company for one in same)


def _met(found: Detection, way: Attempt, attempt: Attempt) -> Attempt | None:
    """The same way with what the server was heard to ask for in vain, where that can be had."""
    company = corrected(way.company, attempt.said)
    if company:
        return replace(way, company=company)
    if attempt.said.startswith(SQL):
        return replace(way, fills=False) if way.fills else None
    build = "" if way.candidate.build else found.build(found.stack_of(way.candidate), attempt.said)
    if build:
        return replace(way, candidate=built(way.candidate, build))
    file = insisted_on(found.files or Files(found.root), way.candidate.folder, attempt.said)
    return replace(way, steps=(file, *way.steps)) if file and file not in way.steps else None


def _ways(found: Detection, candidate: Candidate, bench: Bench) -> Iterator[Attempt]:
    stack = found.stack_of(candidate)
    steps = found.steps(stack, candidate)
    for company in companies(found.services(stack), found.root, bench.addresses):
        for some in dict.fromkeys((steps, ())):
            yield Attempt(candidate, some, company=company)


def elsewhere(said: str) -> int | None:
    """The port at which a server was seen to listen instead."""
    listed = _LISTENS.search(said)
    ports = [int(port) for port in re.findall(r"port (\d{1,5})", listed[1])] if listed else []
    meant = (port for port in ports if port not in DEBUGGERS)
    return min(meant, key=lambda port: port >= _DRAWN, default=None)


def insisting(candidate: Candidate, port: int) -> Candidate:
    """A candidate that was seen to take no port but its own."""
    env = {name: value for name, value in candidate.env.items() if "{port}" not in value}
    command = re.sub(r"(?: --?[\w-]+[ =]?)? ?\{port\}$", "", candidate.command)
    said = f"it was seen to listen on port {port} whatever it is told"
    fixed = Port(Place.FIXED, port)
    return replace(candidate, command=command, env=env, port=fixed, reasons=(*candidate.reasons, said))


def built(candidate: Candidate, build: str) -> Candidate:
    """A candidate that was seen to need a build."""
    said = f"it ended for want of what `{build}` makes"
    return replace(candidate, build=build, reasons=(*candidate.reasons, said))


@contextmanager
def started(start: Start, bench: Bench) -> Iterator[Server]:
    """A server in a fresh copy, after everything that comes before its start."""
    room = bench.room()
    chosen = wanted(start.services, room.at, bench.addresses)
    named = replace(room, names=host_names(chosen))
    ready = made_ready(named, Crew(bench.sandbox, bench.clock, start, bench.folder, chosen))
    stand = Stand(ready, bench.folder / f"trial-{new_id()[:8]}.log", wanted=chosen, patience=PATIENCE)
    with running_server(start, stand, bench.sandbox, bench.clock) as server:
        yield server


def _attempt(found: Detection, way: Attempt, bench: Bench) -> Attempt:
    candidate = way.candidate
    bench.notify(f"trying `{candidate.command}` in {candidate.folder}")
    readiness = {"type": "tcp", "config": {"timeout_seconds": WAIT}}
    data = environment(found, replace(way.choice(), readiness=readiness, installs=False))
    routes = found.stack_of(candidate).routes
    try:
        start = as_project(data, found.root).needed_start()
        with started(start, bench) as server:
            attempt = _look(way, server, routes, bench)
            return replace(attempt, said=attempt.said + _without(way))
    except (ServerError, ServiceError, BoxBroke) as error:
        return _failed(way, error)


def missing_in(text: str) -> str:
    """The package or program that an output says was not there."""
    if _UNGENERATED.search(text):
        return PRISMA
    lost = _MISSING.search(text)
    return next((name for name in lost.groups() if name), "") if lost else ""


def _without(way: Attempt) -> str:
    names = ", ".join(one.name for one in way.absent)
    return f" (without {names}, which cannot be had here)" if names else ""


def _failed(attempt: Attempt, error: HarnessError) -> Attempt:
    missing = missing_in(error.message)
    is_silent = isinstance(error, ServerNotReady) and "listens nowhere" in error.message
    said = f"it ran and listened nowhere\n{error.message}" if is_silent else error.message
    absent = next((one for one in attempt.absent if one.is_meant(said)), None)
    if absent:
        return replace(attempt, said=f"{absent.said}\n{said[-2500:]}", hint=absent.fix, missing=missing)
    return replace(attempt, said=_shortened(said), hint=error.hint, missing=missing)


def _shortened(text: str) -> str:
    """The first line, which says what happened, and as much of the end as has room."""
    head, _, rest = text.partition("\n")
    return text if len(text) <= MOST_SAID else f"{head[:400]}\n{rest[400 - MOST_SAID :]}"


def _look(attempt: Attempt, server: Server, routes: Iterable[Route], bench: Bench) -> Attempt:
    """Ask a running server until a route says that all is well; one that says so to anything says nothing."""
    own = {route.path for route in routes if route.is_plain}
    seen: dict[str, int] = {}
    end = bench.clock.monotonic() + ASKING
    with Client(server.url, bench.clock, server.box.dial, seconds=5.0) as client:
        strange = [_asked(client, f"/{new_id()}"), _asked(client, f"/{new_id()[:8]}/{new_id()[:8]}")]
        for path in ready_paths(routes, has_data=bool(attempt.company.services)):
            answer = _asked(client, path) if bench.clock.monotonic() < end else None
            if answer is None:
                continue
            seen[path] = answer.status
            broken = [one for one, status in seen.items() if status >= 500]
            hollow = any(one in own and is_about_health(one) for one in broken)
            hollow = hollow or any(path not in own and one not in own for one in broken)
            if not hollow and _says_well(answer, strange) and _again(client, path, answer.status):
                well = Answered.PARTLY if broken else Answered.WELL
                but = f"; GET {broken[0]} is answered with {seen[broken[0]]}" if broken else ""
                said = f"it answered GET {path} with {answer.status}{but}"
                return replace(attempt, answered=well, endpoint=path, status=answer.status, said=said)
    return _doubtful(attempt, server, seen, [answer.status for answer in strange if answer])


def _doubtful(attempt: Attempt, server: Server, seen: dict[str, int], strange: list[int]) -> Attempt:
    """What is said of a server where no route says that all is well."""
    if not seen and not strange:
        server.prove_ours()
        if Asker(server.box.dial, server.port, server.clock).speaks_tls():
            said = f"port {server.port} speaks TLS: start it without, as scenarios are sent as plain http"
            return replace(attempt, said=said)
        said = f"port {server.port} is open, and nobody speaks HTTP there\n{server.tail()}"
        return replace(attempt, said=said, missing=missing_in(said))
    statuses = sorted({*seen.values(), *strange})
    said = f"it answers, with {', '.join(map(str, statuses))}"
    broken = [f"GET {path} {status}" for path, status in seen.items() if status >= 500]
    if broken:
        return replace(
            attempt,
            answered=Answered.BADLY,
            said=_shortened(f"{said}: {', '.join(broken[:3])}\n{server.tail()}"),
        )
    return replace(
        attempt, answered=Answered.SOMEHOW, said=f"{said}; no route was found that says all is well"
    )


def _asked(client: Client, path: str) -> Answer | None:
    return client.send(Call(path)).answer


def _says_well(answer: Answer, strange: list[Answer | None]) -> bool:
    if not 200 <= answer.status < 300:
        return False
    return not any(one and one.status == answer.status and one.body == answer.body for one in strange)


def _again(client: Client, path: str, status: int) -> bool:
    answer = _asked(client, path)
    return answer is not None and answer.status == status
