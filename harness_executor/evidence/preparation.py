"""What is done before a start, once per side: packages, services, steps; then every server gets a copy."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness_executor.clock import Clock
from harness_executor.errors import ServerError, ServerExited, ServiceFailed
from harness_executor.evidence.copying import copy_tree, look
from harness_executor.evidence.ingredients import keys_for
from harness_executor.evidence.installing import SECONDS, Installed, install
from harness_executor.evidence.keeping import Keys, Store
from harness_executor.evidence.lingering import Wait, run_until_idle
from harness_executor.evidence.ports import choose_ports, filled, placeholders, server_environment
from harness_executor.evidence.services.running import (
    Serving,
    Site,
    Wanted,
    host_names,
    lay_to_rest,
    serving,
)
from harness_executor.evidence.services.templates import Templates
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Side
from harness_executor.sandbox.base import Box, Command, Finished, Room, Sandbox
from harness_executor.workspace.chores import Chore
from harness_executor.workspace.export import Desk, remove
from harness_executor.workspace.project import Start
from harness_executor.workspace.trees import list_tree

STEP = "the setup step"
"""How it begins what is said of one that failed."""
SQL = "the file of SQL"
"""How it begins what is said of one that cannot be run."""
_LONGEST = 16_000_000
"""Bytes of a file with SQL."""
_TOO_LITTLE = (
    "it ran out of memory: let it take less, such as by NODE_OPTIONS under startup.env "
    "in harness/environment.json"
)
_ABORTED, _HEAP = 134, "heap"
"""How Node ends that has no memory left."""
_BY_HAND = "try it by hand; hosts that it needs go into `[network] allow` of your own config"
_TO_CORRECT = "correct it, or setup.sql in harness/environment.json"
_NOT_THERE = "a package is not installed where the project finds it; `harness doctor` names the command"


@frozen
class Crew:
    """Who gets a tree ready, and for what."""

    sandbox: Sandbox
    clock: Clock
    start: Start
    scratch: Path
    """A folder that goes with this program."""
    wanted: tuple[Wanted, ...] = ()
    port: int = 0

    @property
    def has_steps(self) -> bool:
        """Is there anything to do in a fresh copy?"""
        return bool(self.wanted or self.chores)

    @property
    def chores(self) -> tuple[Chore, ...]:
        """What is done in a fresh copy; data that is not thrown away is not cleared."""
        is_private = self.sandbox.assurance is Assurance.SANDBOXED
        is_ours = is_private and not any(one.outside for one in self.wanted)
        found = (chore for chore in self.start.chores if chore.is_step)
        return tuple(chore for chore in found if is_ours or not chore.clears)


@frozen
class Workshop:
    """Where sides are prepared, and by whom."""

    desk: Desk
    crew: Crew
    notify: Callable[[str], None]
    runs: int = 2

    @property
    def place(self) -> Path:
        """The folder of everything."""
        return self.crew.scratch


@frozen
class Prepared:
    """One side, ready to be started as often as wanted."""

    rooms: tuple[Room, ...]
    problem: ServerError | None = None
    """Why it cannot be started."""
    note: str = ""
    """What a reader should know who sees that it did not start."""
    is_cut_off: bool = False
    """Could packages not be fetched because no host may be reached?"""


@frozen
class Job:
    """One side that is to be prepared."""

    side: Side
    tree: str
    base_tree: str
    change_tree: str
    first: int = 1
    """The number of its first run."""

    def folder(self, workshop: Workshop, run: int) -> Path:
        """Where the copy of a run lies."""
        return workshop.place / f"{self.side.value}-{run}"

    def others(self, workshop: Workshop) -> range:
        """The runs after the first."""
        return range(self.first + 1, self.first + workshop.runs)


def prepare(job: Job, workshop: Workshop) -> Prepared:
    """Export a side, do what has to be done first, and copy the outcome for every run."""
    room, crew = _exported(job, workshop), workshop.crew
    installed = install(crew.start.chores, job.side, room, crew.start.env, crew.sandbox)
    if installed.note:
        workshop.notify(f"{job.side.value}: {installed.note.splitlines()[0]}")
    told = (installed.note, installed.is_cut_off)
    if not crew.has_steps:
        return Prepared(_rooms(job, workshop, installed.room), None, *told)
    try:
        room = _kept_or_made(job, workshop, installed)
    except (ServerError, ServiceFailed) as error:
        problem = error if isinstance(error, ServerError) else ServerExited(error.message, hint=error.hint)
        return Prepared((installed.room,) * workshop.runs, problem, *told)
    return Prepared(_copies(job, workshop, room), None, *told)


def _kept_or_made(job: Job, workshop: Workshop, installed: Installed) -> Room:
    """The outcome of the steps: one that was kept, or a new one that is kept now."""
    crew, room = workshop.crew, installed.room
    keys = _keys(job, workshop, installed)
    if not keys.exact:
        return made_ready(room, crew)
    store = Store(workshop.desk.path.parent / "prepared", crew.clock)
    data = data_of(room.tree) if any(one.found for one in crew.wanted) else None
    try:
        if store.bring(keys, room, data):
            workshop.notify(f"{job.side.value}: what the steps made earlier is used again")
            return replace(room, data=data)
    except OSError:  # it went while it was copied
        workshop.desk.export(job.tree, room.tree)
    before = look(room.tree, frozenset(room.beside))
    ready = made_ready(room, crew)
    with suppress(OSError):  # a full disk, or somebody else was quicker
        store.keep(keys, ready, before)
    return ready


def _keys(job: Job, workshop: Workshop, installed: Installed) -> Keys:
    """Nothing is kept of packages that were just installed, nor where commands reach what is kept."""
    crew = workshop.crew
    if installed.packages or installed.note or crew.sandbox.assurance is not Assurance.SANDBOXED:
        return Keys()
    listed = list_tree(workshop.desk.git, job.tree)
    with suppress(OSError):
        keys = keys_for(
            job.tree, listed, installed.room, replace(crew.start, chores=crew.chores), crew.wanted
        )
        return replace(keys.among(crew.sandbox.hosts), is_trusted=job.side is Side.BASE)
    return Keys()


def made_ready(room: Room, crew: Crew) -> Room:
    """A tree in which everything was done that comes before the start, beside data of its own."""
    if not crew.has_steps:
        return room
    ready = with_data(room, crew)
    _work(ready, crew)
    return ready


def _exported(job: Job, workshop: Workshop) -> Room:
    """The room of the first run; without steps to wait for, the trees of the others are made with it."""
    runs = () if workshop.crew.has_steps else job.others(workshop)
    others = (job.folder(workshop, run) for run in runs)
    first = workshop.desk.export(job.tree, job.folder(workshop, job.first), *others)
    room = workshop.desk.room(first, old=job.base_tree, new=job.change_tree)
    return replace(room, names=host_names(workshop.crew.wanted))


def _rooms(job: Job, workshop: Workshop, first: Room) -> tuple[Room, ...]:
    others = (job.folder(workshop, run) for run in job.others(workshop))
    return (first, *(replace(first, tree=tree) for tree in others))


def with_data(room: Room, crew: Crew) -> Room:
    """A room whose services begin with nothing."""
    own = tuple(one for one in crew.wanted if one.found)
    if not own:
        return room
    data = data_of(room.tree)
    remove(data)
    data.mkdir(parents=True)
    templates = Templates(crew.sandbox, crew.scratch)
    for one in own:
        if one.found:
            templates.lay_out(one.found, data / one.service.name)
    return replace(room, data=data)


def _copies(job: Job, workshop: Workshop, room: Room) -> tuple[Room, ...]:
    return (room, *(copy_room(room, job.folder(workshop, run)) for run in job.others(workshop)))


def copy_room(room: Room, tree: Path) -> Room:
    """The same as a room, elsewhere: what steps made in it, and what services keep."""
    copy_tree(room.tree, tree)
    if room.data:
        copy_tree(room.data, data_of(tree))
    return replace(room, tree=tree, data=data_of(tree) if room.data else None)


def data_of(tree: Path) -> Path:
    """Where services keep what they have beside a tree."""
    return tree.with_name(f"{tree.name}-data")


def _work(room: Room, crew: Crew) -> None:
    """Run the steps of a side beside its services, and lay these to rest."""
    log = room.tree.with_name(f"{room.tree.name}-steps.log")
    box = crew.sandbox.open(room)
    try:
        ports = choose_ports(crew.start, box, crew.port)
        site = Site(box, log, crew.clock, frozenset(ports.all()))
        with ExitStack() as stack:
            services = stack.enter_context(serving(crew.wanted, site))
            _fill(services, room.tree)
            values = placeholders(ports, services)
            env = server_environment(crew.start, values, services)
            beside = [one.running for one in services.values() if one.running]
            until_idle = partial(run_until_idle, box, crew.clock, beside, Wait(SECONDS))
            for chore in crew.chores:
                _run(replace(chore, command=filled(chore.command, values)), box, env, log, until_idle)
            lay_to_rest(services)
    finally:
        box.close()


def _fill(services: Mapping[str, Serving], tree: Path) -> None:
    for service in services.values():
        for name in service.service.sql:
            try:
                service.query(_read(tree, name))
            except ServiceFailed as error:
                said = f"{SQL} {name} cannot be run: {error.message}"
                raise ServiceFailed(said, hint=_TO_CORRECT) from error


def _read(tree: Path, name: str) -> str:
    """A file of the tree, and nothing that a link in it leads to."""
    path = (tree / name).resolve()
    if not path.is_relative_to(tree.resolve()) or not path.is_file() or path.stat().st_size > _LONGEST:
        raise ServiceFailed(f"it is not in the project, or has more than {_LONGEST} bytes")
    return path.read_text(encoding="utf-8", errors="replace")


def _run(
    chore: Chore, box: Box, env: Mapping[str, str], log: Path, until_idle: Callable[[Command], Finished]
) -> None:
    """Do one thing; only here may hosts be reached that the user listed."""
    with box.leaving() as leading:
        given = {**env, **chore.env, **(leading if chore.network else {})}
        command = Command(("sh", "-c", chore.command), box.root, box.environment(given), log)
        done = until_idle(command) if chore.lingers else box.run(command, SECONDS)
    if not done.ok:
        why = done.cause or f"exit code {done.code}"
        raise ServerExited(
            f"{STEP} `{chore.command}` failed ({why})\n{done.output[-2000:].strip()}",
            hint=_hint(done.code, done.output),
        )


def _hint(code: int | None, said: str) -> str:
    if "No module named" in said:
        return _NOT_THERE
    return _TOO_LITTLE if code == _ABORTED and _HEAP in said else _BY_HAND
