"""What steps have made is used again, and never for anything else than it was made of."""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.evidence.copying import look
from harness_executor.evidence.keeping import Keys, Store
from harness_executor.evidence.preparation import Crew, Job, Workshop, prepare
from harness_executor.evidence.services.running import wanted
from harness_executor.kernel.report import Side
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.workspace.chores import Chore
from harness_executor.workspace.export import open_desk
from harness_executor.workspace.needs import Service
from harness_executor.workspace.project import Start
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git
from tests.rooms import BOX, NO_BOX, sandbox_named

STAMP = "mkdir -p out/empty; ln -sf stamp out/link; mkfifo out/pipe; date +%s%N > out/stamp; rm -f gone.txt"
ADDS = "mkdir -p out; date +%s%N > out/stamp"


@dataclass
class Yard:
    """A project whose sides are prepared again and again, each time by a desk of its own."""

    folder: Path
    box: str = BOX
    notes: list[str] = field(default_factory=list)
    hosts: tuple[str, ...] = ()

    @property
    def repo(self) -> Path:
        """The project."""
        return self.folder / "repo"

    def write(self, name: str, text: str) -> None:
        """A file of the project."""
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def prepare(self, *chores: Chore, side: Side = Side.BASE, services: tuple[Service, ...] = ()) -> Room:
        """The project as it is now, prepared; gives the room of its second run."""
        if not (self.repo / ".git").exists():
            git(self.repo, "init", "--quiet", "--initial-branch=main")
        if git(self.repo, "status", "--porcelain"):
            commit_all(self.repo, "more")
        repository = open_repository(self.repo)
        tree = repository.tree_of("HEAD")
        desk = open_desk(repository, self.folder / "work" / f"desk.{len(self.notes)}")
        self.notes.append("")
        start = Start("true", chores=chores, services=services)
        chosen = wanted(services, self.repo, {})
        crew = Crew(self.sandbox(), SystemClock(), start, desk.path / "verify", chosen)
        prepared = prepare(Job(side, tree, tree, tree), Workshop(desk, crew, self.notes.append))
        assert prepared.problem is None
        return prepared.rooms[1]

    def sandbox(self) -> Sandbox:
        """What the steps run in."""
        found = sandbox_named(self.box)
        return replace(found, hosts=self.hosts) if isinstance(found, Bubblewrap) else found

    def stamp(self, *chores: Chore, side: Side = Side.BASE) -> str:
        """What the steps wrote."""
        return (self.prepare(*chores, side=side).tree / "out" / "stamp").read_text()


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """A project with a few files."""
    made = Yard(tmp_path)
    for name in ("gone.txt", "src/a.txt", "doc/b.txt"):
        made.write(name, name)
    return made


def test_a_step_is_not_run_again_for_the_same_tree(yard: Yard) -> None:
    """Links, empty folders and what was removed are as the step left them, and pipes are left out."""
    first, second = yard.prepare(Chore(STAMP)).tree, yard.prepare(Chore(STAMP)).tree
    assert (first / "out" / "stamp").read_text() == (second / "out" / "stamp").read_text()
    assert (second / "out" / "link").readlink() == Path("stamp")
    assert (second / "out" / "empty").is_dir()
    assert not (second / "gone.txt").exists()
    assert (second / "src" / "a.txt").is_file()
    assert any("used again" in note for note in yard.notes)


def test_a_step_is_run_again_when_anything_it_reads_was_changed(yard: Yard) -> None:
    """Another file, command, variable or host that may be reached makes another outcome."""
    step = Chore(ADDS)
    first = yard.stamp(step)
    assert yard.stamp(Chore(f"{ADDS}; true")) != first
    assert yard.stamp(replace(step, env={"A": "1"})) != first
    yard.hosts = ("pypi.org",)
    assert yard.stamp(step) != first
    yard.hosts = ()
    assert yard.stamp(step) == first
    yard.write("src/a.txt", "changed")
    assert yard.stamp(step) != first


def test_only_the_inputs_count_where_every_step_names_them(yard: Yard) -> None:
    """A file that no step reads changes nothing; one that is read does, and so does one in the root."""
    step = Chore(ADDS, inputs=("src/**",))
    first = yard.stamp(step)
    yard.write("doc/b.txt", "changed")
    assert yard.stamp(step, side=Side.CHANGE) == first
    yard.write("src/a.txt", "changed")
    second = yard.stamp(step)
    assert second != first
    yard.write("Makefile", "all:")
    assert yard.stamp(step) != second


def test_what_a_change_made_serves_no_other_tree(yard: Yard) -> None:
    """A change cannot make what base finds, though both have the same inputs."""
    step = Chore(ADDS, inputs=("src/**",))
    yard.write("doc/b.txt", "a change")
    made = yard.stamp(step, side=Side.CHANGE)
    assert yard.stamp(step, side=Side.CHANGE) == made
    yard.write("doc/b.txt", "base")
    assert yard.stamp(step) != made


def test_files_of_the_project_that_a_step_wrote_to_stay_with_their_tree(yard: Yard) -> None:
    """An outcome that is not only new files is not laid over another tree."""
    step = Chore(f"{ADDS}; cp out/stamp doc/b.txt", inputs=("src/**",))
    first = yard.stamp(step)
    yard.write("doc/b.txt", "changed")
    assert yard.stamp(step) != first


def test_nothing_is_kept_where_commands_could_reach_it(yard: Yard) -> None:
    """Without a box every verification runs its steps."""
    yard.box = NO_BOX
    assert yard.stamp(Chore(ADDS)) != yard.stamp(Chore(ADDS))


def test_data_of_services_is_kept_with_the_files(yard: Yard) -> None:
    """What a step put into a service is there although the step was not run again."""
    db = Service("db", "redis", variables={"port": "REDIS_PORT"})
    step = Chore('mkdir out; date +%s%N > out/stamp; redis-cli -p "$REDIS_PORT" set stamp "$(cat out/stamp)"')
    first, second = (yard.prepare(step, services=(db,)) for _ in range(2))
    stamps = [(room.tree / "out" / "stamp").read_text().strip() for room in (first, second)]
    assert stamps[0] == stamps[1]
    assert second.data is not None
    kept = [path for path in second.data.rglob("*") if path.is_file()]
    assert any(stamps[0].encode() in path.read_bytes() for path in kept)


def _store(place: Path) -> Store:
    return Store(place / "prepared", SystemClock())


def _fresh(place: Path, name: str) -> Room:
    tree = place / name
    tree.mkdir(parents=True)
    (tree / "old").write_text("old")
    return Room(tree, tree)


def _keep(place: Path, name: str, size: int) -> None:
    room = _fresh(place, f"{name}-{os.getpid()}")
    before = look(room.tree)
    for number in range(40):
        (room.tree / f"made-{number}").write_bytes(bytes(size))
    try:
        _store(place).keep(Keys(name), room, before)
    except OSError:
        sys.exit(0)


def _begun(work: Callable[..., None], *words: object) -> list[int]:
    context = get_context("fork")
    made = [context.Process(target=work, args=words) for _ in range(2)]
    for process in made:
        process.start()
    for process in made:
        process.join(60)
    return [process.exitcode or 0 for process in made]


def test_two_programs_keep_the_same_outcome(tmp_path: Path) -> None:
    """One of them wins, and what is kept is whole."""
    assert _begun(_keep, tmp_path, "same", 100_000) == [0, 0]
    room = _fresh(tmp_path, "later")
    assert _store(tmp_path).bring(Keys("same"), room, None)
    assert all((room.tree / f"made-{number}").stat().st_size == 100_000 for number in range(40))


def _killed(place: Path, name: str) -> None:
    room = _fresh(place, f"{name}-{os.getpid()}")
    before = look(room.tree)
    for number in range(3):
        (room.tree / f"made-{number}").write_text("x")
    os.mkfifo(room.tree / "pipe")
    store = _store(place)
    original = os.utime

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    os.utime = die  # copying a file sets its time at last
    try:
        store.keep(Keys(name), room, before)
    finally:
        os.utime = original


def test_a_program_that_is_killed_midway_leaves_nothing_to_be_used(tmp_path: Path) -> None:
    """Half an outcome has no name, and the next one is kept whole."""
    assert _begun(_killed, tmp_path, "half") == [-signal.SIGKILL] * 2
    assert not _store(tmp_path).bring(Keys("half"), _fresh(tmp_path, "first"), None)
    _keep(tmp_path, "half", 10)
    assert _store(tmp_path).bring(Keys("half"), _fresh(tmp_path, "second"), None)


def test_an_outcome_that_lost_something_is_not_used(tmp_path: Path) -> None:
    """A file that is shorter than it was is told before a server starts with it."""
    _keep(tmp_path, "cut", 10)
    (tmp_path / "prepared" / "cut" / "tree" / "made-3").write_bytes(b"")
    with pytest.raises(OSError, match="lost something"):
        _store(tmp_path).bring(Keys("cut"), _fresh(tmp_path, "later"), None)


def test_an_old_outcome_is_not_used(tmp_path: Path) -> None:
    """What was made for yesterday is made again today."""
    _keep(tmp_path, "old", 10)
    os.utime(tmp_path / "prepared" / "old" / "kept.json", (0, 0))
    assert not _store(tmp_path).bring(Keys("old"), _fresh(tmp_path, "later"), None)


def test_few_outcomes_are_kept(tmp_path: Path) -> None:
    """The newest stay, and what killed programs left goes."""
    for number in range(12):
        _keep_at(tmp_path, f"k{number}")
    left = tmp_path / "prepared" / ".left"
    left.mkdir()
    os.utime(left, (0, 0))
    _keep_at(tmp_path, "last")
    names = {path.name for path in (tmp_path / "prepared").iterdir()}
    assert len(names) == 8
    assert {"last", "k11"} <= names


def _keep_at(place: Path, name: str) -> None:
    room = _fresh(place, f"room-{name}")
    _store(place).keep(Keys(name), room, {})
