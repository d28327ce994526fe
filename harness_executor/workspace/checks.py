"""Build, lint and tests, run on base and change and compared."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field, replace
from pathlib import Path

from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.testing import Ran, Runs, compare_runs, is_doubtful, settled, settled_pristine
from harness_executor.sandbox.base import Box, Cause, Command, Finished, Room, Sandbox
from harness_executor.workspace.patience import Pace, Patience
from harness_executor.workspace.testing.absence import absent_tool
from harness_executor.workspace.testing.bodies import find_renamed
from harness_executor.workspace.testing.gathering import gathered
from harness_executor.workspace.testing.instruments import OF_PYTEST, Instruments, new_instruments
from harness_executor.workspace.testing.problems import find_problems
from harness_executor.workspace.testing.reading import Shelf, read_text
from harness_executor.workspace.testing.strays import names_a_report, see, written_since

SECONDS = 900.0
BUILD, TEST = "build", "test"
_KEPT = 4_000
"""Letters of an output that are kept."""

MakeRoom = Callable[[str], Room]
"""A fresh copy of one side, under a name of its own."""
Beside = Callable[[Room, Box], AbstractContextManager[Mapping[str, str]]]
"""What runs beside the checks of one copy; gives their variables."""


def _nothing(_room: Room, _box: Box) -> AbstractContextManager[Mapping[str, str]]:
    return nullcontext({})


@frozen
class Sides:
    """Where fresh copies come from, as many as are needed."""

    base: MakeRoom
    change: MakeRoom
    pristine: MakeRoom | None = None
    """The change with the tests of base; none if the change left them alone."""
    ruled: MakeRoom | None = None
    """The change with the rules of base for code; none if the change left them alone."""


@frozen
class Checking:
    """What is to be run, in order, and how."""

    checks: Mapping[str, str]
    sandbox: Sandbox
    beside: Beside = _nothing
    test_report: str = ""
    """Where the project says that its tests write reports."""
    notify: Callable[[str], None] = lambda _words: None
    one_by_one: bool = False
    """Do both sides meet in something that is not thrown away?"""
    pace: Pace = field(default_factory=Pace)
    """What base takes; the change is not waited for much longer."""
    seconds: float = SECONDS
    """What each of them may take in any case."""

    def until(self, names: set[str]) -> "Checking":
        """Only what has to be run so that these can be."""
        last = max(number for number, name in enumerate(self.checks) if name in names)
        needed = names | {BUILD}
        kept = {name: text for name, text in list(self.checks.items())[: last + 1] if name in needed}
        return replace(self, checks=kept)


def compare_checks(checking: Checking, sides: Sides) -> tuple[CheckResult, ...]:
    """Every check on both sides, again where something seems to have turned red.

    What was already red does not block, and what differs between two runs decides nothing.
    """
    if not checking.checks:
        return ()
    first = _both(checking, sides, 0)
    runs = {name: Runs((old,), (new,)) for name, (old, new) in first.items()}
    _repeat(checking, sides, runs)
    _by_base_rules(checking, sides, runs)
    if TEST in runs:
        runs[TEST] = _with_base_again(checking, sides, _with_base_tests(checking, sides, runs[TEST]))
    return tuple(_compared(name, checking.checks[name], one) for name, one in runs.items())


def _compared(name: str, command: str, runs: Runs) -> CheckResult:
    """What a check shows; and which tool is missing, where it could be run on neither side."""
    result = compare_runs(name, command, runs)
    missing = {absent_tool(ran.output) for ran in (*runs.base, *runs.change) if not ran.passed}
    if result.base_passed or result.change_passed or len(missing) != 1 or "" in missing:
        return result
    why = "it is not installed for this project, so the check says nothing"
    said = CheckFinding(FindingKind.UNPREPARED, missing.pop(), why)
    return replace(result, findings=(*result.findings, said))


def _repeat(checking: Checking, sides: Sides, runs: dict[str, Runs]) -> None:
    count = 0
    while doubtful := {name for name, one in runs.items() if not settled(one)}:
        count += 1
        checking.notify(f"running {', '.join(sorted(doubtful))} again: is it the change, or chance?")
        for name, (old, new) in _both(checking.until(doubtful), sides, count).items():
            if name in doubtful:
                one = runs[name]
                runs[name] = replace(one, base=(*one.base, old), change=(*one.change, new))


def _with_base_tests(checking: Checking, sides: Sides, runs: Runs) -> Runs:
    """The runs, and those of base's own tests on the change where the change touched tests."""
    gone = [name for name in runs.base[0].outcomes if name not in runs.change[0].outcomes]
    new = [name for name in runs.change[0].outcomes if name not in runs.base[0].outcomes]
    if gone and new:
        base, change = sides.base("base-names"), sides.change("change-names")
        runs = replace(runs, renamed=find_renamed(gone, new, base.tree, change.tree))
    if sides.pristine is None or not runs.base[0].outcomes:
        return runs
    checking.notify("running the tests of base on the change")
    tests_only = checking.until({TEST})
    while True:
        made = sides.pristine(f"pristine-{len(runs.pristine)}")
        with _opened(checking, made) as site:
            runs = replace(runs, pristine=(*runs.pristine, _run_all(tests_only, site)[TEST]))
        if settled_pristine(runs):
            return runs


def _by_base_rules(checking: Checking, sides: Sides, runs: dict[str, Runs]) -> None:
    """Checks of code, run on the change by the rules of base where the change touched rules."""
    left = {name for name in runs if name != TEST}
    if sides.ruled is None or not left:
        return
    checking.notify(f"running {', '.join(sorted(left))} on the change by the rules of base")
    count = 0
    while left:
        with _opened(checking, sides.ruled(f"ruled-{count}")) as site:
            found = _run_all(checking.until(left), site)
        for name in left:
            runs[name] = replace(runs[name], pristine=(*runs[name].pristine, found[name]))
        left = {name for name in left if not settled_pristine(runs[name])}
        count += 1


def _with_base_again(checking: Checking, sides: Sides, runs: Runs) -> Runs:
    """The runs, and one more of base where that may show that its tests have no lasting names."""
    if not is_doubtful(runs):
        return runs
    checking.notify("running the tests of base again: are tests gone, or called otherwise in every run?")
    with _opened(checking, sides.base("base-again"), is_base=True) as site:
        return replace(runs, base=(*runs.base, _run_all(checking.until({TEST}), site)[TEST]))


@frozen
class _Site:
    """Where the checks of one copy run."""

    room: Room
    box: Box
    env: Mapping[str, str]
    is_base: bool = False


def _both(checking: Checking, sides: Sides, count: int) -> dict[str, tuple[Ran, Ran]]:
    """All checks on both sides, at the same time where each has a network and processes of its own."""
    old, new = sides.base(f"base-{count}"), sides.change(f"change-{count}")
    if checking.one_by_one:
        with _opened(checking, old, is_base=True) as site:
            before = _run_all(checking, site)
        with _opened(checking, new) as site:
            after = _run_all(checking, site)
        return {name: (ran, after[name]) for name, ran in before.items()}
    with _opened(checking, old, is_base=True) as one, _opened(checking, new) as other:
        with ThreadPoolExecutor(2 if one.box.is_private and other.box.is_private else 1) as pool:
            first, second = (pool.submit(_run_all, checking, site) for site in (one, other))
        return {name: (ran, second.result()[name]) for name, ran in first.result().items()}


def _run_all(checking: Checking, site: _Site) -> dict[str, Ran]:
    return {name: _run(checking, site, name) for name in checking.checks}


def _run(checking: Checking, site: _Site, name: str) -> Ran:
    tree, root = site.room.tree, site.box.root
    instruments = new_instruments(tree) if name == TEST else None
    shelf = Shelf(tree, root, instruments.name if instruments else "", checking.test_report)
    log = tree.with_name(f"{tree.name}-{name}.log")
    if instruments:
        shelf.clear()
        instruments.lay_out(tree)
    before = see(tree) if instruments else {}
    patience = checking.pace.patience(name, log)
    command = _command(checking.checks[name], site, log, instruments)
    command = command if site.is_base else replace(command, is_overdue=patience.is_over)
    with gathered(tree / instruments.name, OF_PYTEST) if instruments else nullcontext():
        done = site.box.run(command, checking.seconds)
    strays, mixed = written_since(tree, before), names_a_report(checking.checks[name])
    tests = shelf.collect(_whole(log, done), strays, mixed=mixed) if instruments else None
    if site.is_base and (done.ok or (tests and not done.cause)):
        checking.pace.took[name] = patience.seconds()
    problems = () if instruments or done.ok else find_problems(done.output, str(root))
    hangs = done.cause is Cause.HANGS
    cause = _late(checking.pace, name, patience) if hangs else done.cause.value
    return Ran(done.ok, tests, problems, cause, done.output[-_KEPT:], hangs)


def _late(pace: Pace, name: str, patience: Patience) -> str:
    return f"it was ended after {patience.seconds():.0f} s, and base took {pace.took[name]:.0f} s"


def _command(text: str, site: _Site, log: Path, instruments: Instruments | None) -> Command:
    root, env = site.box.root, site.box.environment(site.env)
    if instruments:
        text = instruments.command(text, root)
        env |= instruments.variables(env, root)
    return Command(("sh", "-c", text), root, env, log)


def _whole(log: Path, done: Finished) -> str:
    try:
        return read_text(log)
    except (OSError, ValueError):
        return done.output


@contextmanager
def _opened(checking: Checking, room: Room, *, is_base: bool = False) -> Iterator[_Site]:
    box = checking.sandbox.open(room)
    try:
        with checking.beside(room, box) as env:
            yield _Site(room, box, env, is_base)
    finally:
        box.close()
