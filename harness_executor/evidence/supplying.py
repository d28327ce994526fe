"""What checks of a project find in a fresh copy: what comes before a start, and services of their own."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path

from harness_executor.errors import ServiceError
from harness_executor.evidence.ports import choose_ports, filled, placeholders
from harness_executor.evidence.preparation import Job, Workshop, copy_room, prepare, with_data
from harness_executor.evidence.services.running import Serving, Site, Wanted, serving, wanted
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Side
from harness_executor.sandbox.base import Box, Room
from harness_executor.workspace.needs import Service

SETUP = "setup"
_WORDS = {Side.BASE: "base", Side.CHANGE: "the change"}
_KEPT = 4_000
"""Letters of a problem that are kept."""


@frozen
class Supply:
    """One tree, ready to be copied for checks."""

    side: Side
    tree: str
    room: Room
    problem: str = ""
    """Why not everything was done that comes first."""
    note: str = ""
    """What went wrong with packages."""
    is_worked_on: bool = False
    """Was anything done in the room that a fresh export would not have?"""


@frozen
class Supplies:
    """Gets copies of both sides ready for checks."""

    workshop: Workshop
    trees: Mapping[Side, str]
    shared_env: Mapping[str, str] = field(default_factory=dict)
    """Variables of server and checks; where services are wins over them."""
    own_env: Mapping[str, str] = field(default_factory=dict)
    """Variables of the checks alone, which win over everything."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Services that cannot be had here, by name, and why."""
    made: dict[str, Supply] = field(default_factory=dict)
    """What was got ready so far, by its tree."""
    failed: dict[str, str] = field(default_factory=dict)
    """Services that did not start beside checks, by what they are called in a finding."""

    @property
    def is_shared(self) -> bool:
        """Do both sides meet in a service that is not thrown away?"""
        return any(one.outside for one in self.workshop.crew.wanted)

    def get_ready(self) -> None:
        """Do what comes first on both sides, at once where they cannot meet."""
        at_once = self.workshop.crew.sandbox.assurance is Assurance.SANDBOXED and not self.is_shared
        with ThreadPoolExecutor(2 if at_once else 1) as pool:
            made = pool.map(lambda pair: self._made(*pair), self.trees.items())
            self.made.update({supply.tree: supply for supply in made})

    def copy(self, side: Side, tree: str, target: Path) -> Room:
        """A fresh copy of a tree, as far as it could be got ready."""
        if tree not in self.made:
            self.made[tree] = self._made(side, tree)
        supply = self.made[tree]
        if supply.is_worked_on:
            return copy_room(supply.room, target)
        return replace(supply.room, tree=self.workshop.desk.export(tree, target))

    @contextmanager
    def beside(self, room: Room, box: Box) -> Iterator[dict[str, str]]:
        """Services of one copy while its checks run; gives the variables of the checks."""
        crew = self.workshop.crew
        ports = choose_ports(crew.start, box, crew.port)
        site = Site(box, room.tree.with_suffix(".log"), crew.clock, frozenset(ports.all()))
        with ExitStack() as stack:
            services = self._answering(room, site, stack)
            values = placeholders(ports, services)
            told = {name: value for one in services.values() for name, value in one.variables().items()}
            shared, own = (
                {name: filled(value, values) for name, value in env.items()}
                for env in (self.shared_env, self.own_env)
            )
            yield {**shared, **told, **own}

    def results(self) -> tuple[CheckResult, ...]:
        """How getting ready went on both sides; nothing where there was nothing to do."""
        base, change = (self.made[tree] for tree in (self.trees[Side.BASE], self.trees[Side.CHANGE]))
        findings = tuple(self._findings(base, change))
        if not findings and not self.workshop.crew.has_steps:
            return ()
        return (
            CheckResult(
                SETUP,
                self._said(),
                base_passed=not (base.problem or self.lacking),
                change_passed=not (change.problem or self.lacking),
                output=change.problem[-_KEPT:],
                findings=findings,
            ),
        )

    def _findings(self, *supplies: Supply) -> Iterator[CheckFinding]:
        for name, why in self.lacking.items():
            yield CheckFinding(FindingKind.UNPREPARED, f"the service {name}", why)
        for supply in supplies:
            for what, why in (("setup", supply.problem), ("install", supply.note)):
                if why:
                    subject = f"{what} on {_WORDS[supply.side]}"
                    yield CheckFinding(FindingKind.UNPREPARED, subject, _brief(why))
        for subject, why in self.failed.items():
            yield CheckFinding(FindingKind.UNPREPARED, subject, _brief(why))

    def _said(self) -> str:
        crew = self.workshop.crew
        services = [f"start {one.service.name}" for one in crew.wanted]
        return "; ".join([*services, *(chore.command for chore in crew.chores)])

    def _made(self, side: Side, tree: str) -> Supply:
        place = self.workshop.place / f"ready-{tree[:12]}"
        workshop = replace(self.workshop, crew=replace(self.workshop.crew, scratch=place), runs=1)
        place.mkdir(parents=True, exist_ok=True)
        done = prepare(Job(side, tree, self.trees[Side.BASE], self.trees[Side.CHANGE]), workshop)
        if done.problem is None:
            return Supply(side, tree, done.rooms[0], "", done.note, workshop.crew.has_steps)
        room = done.rooms[0]
        with suppress(ServiceError):  # then its services are named when they do not start
            room = with_data(room, workshop.crew)
        return Supply(side, tree, room, done.problem.message, done.note, is_worked_on=True)

    def _answering(self, room: Room, site: Site, stack: ExitStack) -> dict[str, Serving]:
        """Every service that starts; one that does not is named, and checks that do without it go on."""
        found: dict[str, Serving] = {}
        for one in self.workshop.crew.wanted:
            subject = f"the service {one.service.name} on {_WORDS[_side_of(room)]}"
            if one.found and room.data is None:
                self.failed[subject] = "its data could not be laid out"
                continue
            taken = {*site.taken, *(service.seat.address.port for service in found.values())}
            try:
                begun = stack.enter_context(serving((one,), replace(site, taken=frozenset(taken))))
            except ServiceError as error:
                self.failed[subject] = error.message
            else:
                found |= begun
        return found


def obtainable(
    services: tuple[Service, ...], project: Path, given: Mapping[str, str]
) -> tuple[tuple[Wanted, ...], dict[str, str]]:
    """The services that can be had on this machine, and why others cannot."""
    found: list[Wanted] = []
    lacking: dict[str, str] = {}
    for service in services:
        try:
            found += wanted((service,), project, given)
        except ServiceError as error:
            lacking[service.name] = f"{error.message}; {error.hint}"
    return tuple(found), lacking


def _side_of(room: Room) -> Side:
    """Copies are called after the side they are of, or are of the change."""
    return Side.BASE if room.tree.name.startswith(Side.BASE.value) else Side.CHANGE


def _brief(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " … ".join(dict.fromkeys((lines[0][:300], lines[-1][:300]))) if lines else ""
