"""What runs of a check on base and change say together: which tests broke, went missing, or only waver."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.moves import find_again

REPEATS = 3
"""How often both sides are run again before something new and red counts."""
MOST = 500
"""Findings that are kept of one check."""


class Outcome(StrEnum):
    """How one test ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Left out, or expected to fail: it says nothing."""


@frozen
class Ran:
    """One run of a check on one side."""

    passed: bool
    tests: Mapping[str, Outcome] | None = None
    """Each test the runner reported; none if it reported that, and nothing if it did not report."""
    problems: tuple[str, ...] = ()
    """What a linter or compiler said, `file: message`, without line numbers."""
    cause: str = ""
    """What ended it, if it did not end by itself."""
    output: str = ""
    hangs: bool = False
    """Was it ended because base had come to an end long before?"""

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The tests it reported."""
        return self.tests or {}


@frozen
class Runs:
    """Every run of one check: on base, on the change, and there with the tests or the rules of base."""

    base: tuple[Ran, ...]
    change: tuple[Ran, ...]
    pristine: tuple[Ran, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Tests of base that the change has under another name, with the same body."""


@frozen
class _Seen:
    """How one test ended in every run; nothing where it was not reported."""

    base: tuple[Outcome | None, ...]
    change: tuple[Outcome | None, ...]
    pristine: tuple[Outcome | None, ...]


def settled(runs: Runs, *, again: int = REPEATS) -> bool:
    """Would another run of both sides change nothing that counts?"""
    tried = min(len(runs.base), len(runs.change)) - 1
    if any(run.hangs for run in runs.change):
        return tried >= 1
    if tried >= again or any(run.cause for run in (*runs.base, *runs.change)):
        return True
    if any(run.problems for run in runs.change):
        return True
    turned = all(run.passed for run in runs.base) and not any(run.passed for run in runs.change)
    return not turned and not any(_is_broken(seen) for seen in _all(runs).values())


def settled_pristine(runs: Runs, *, again: int = REPEATS) -> bool:
    """Would another run of base's tests on the change, or by base's rules, change nothing that counts?"""
    if len(runs.pristine) - 1 >= again or any(run.cause for run in runs.pristine):
        return True
    if not runs.base[0].outcomes:
        return any(run.passed or run.problems for run in runs.pristine)
    return not any(_is_weakened(seen) for seen in _all(runs).values())


def is_doubtful(runs: Runs) -> bool:
    """Could it be that tests are missed only because their names are others in every run, even of base?"""
    if len(runs.base) > 1 or not _newcomers(runs, runs.change[0]):
        return False
    return any(finding.kind is FindingKind.REMOVED for finding in _about_tests(runs))


def compare_runs(name: str, command: str, runs: Runs) -> CheckResult:
    """What all runs of one check mean together."""
    found = tuple(_findings(name, runs))
    first = runs.change[0]
    return CheckResult(
        name,
        command,
        all(run.passed for run in runs.base),
        any(run.passed for run in runs.change),
        f"{first.output}\n[{first.cause}]" if first.cause else first.output,
        (*found[:MOST], *_rest(found[MOST:])),
        len(runs.base[0].outcomes),
        len(first.outcomes),
        min(len(runs.base), len(runs.change)),
    )


def _rest(found: tuple[CheckFinding, ...]) -> Iterator[CheckFinding]:
    """The worst of what is not kept, so that nothing is lost that counts."""
    by_kind = Counter(finding.kind for finding in found)
    for kind, count in by_kind.items():
        yield CheckFinding(kind, f"{count} more")


def _findings(name: str, runs: Runs) -> Iterator[CheckFinding]:
    for side, ran in (("base", runs.base[0]), ("the change", runs.change[0])):
        if ran.cause and not ran.hangs:
            yield CheckFinding(FindingKind.STOPPED, f"{name} on {side}", ran.cause)
    yield from _hanging(name, runs)
    yield from _worse(runs)
    if not runs.base[0].outcomes:
        yield from _unread(name, runs)
        yield from () if name == "test" else _lax(name, runs)
    elif not any(run.outcomes for run in runs.change) and any(run.tests is None for run in runs.change):
        yield CheckFinding(FindingKind.UNREPORTED, "", f"base reports {len(runs.base[0].outcomes)}")
    else:
        yield from _about_tests(runs)


def _unread(name: str, runs: Runs) -> Iterator[CheckFinding]:
    """Is there nothing to compare but how the command ended?"""
    both = (*runs.base, *runs.change)
    if name == "test":
        yield CheckFinding(FindingKind.UNKNOWN, "which tests ran")
    elif not any(run.passed or run.problems or run.cause for run in both):
        yield CheckFinding(FindingKind.UNKNOWN, f"what {name} complains of on either side")


def _hanging(name: str, runs: Runs) -> Iterator[CheckFinding]:
    """A hang counts if it came every time; the tests of base on the change never decide alone."""
    if hung := [run.cause for run in runs.change if run.hangs]:
        kind = FindingKind.HANGS if len(hung) == len(runs.change) else FindingKind.FLAKY
        often = f", {len(hung)} of {len(runs.change)} times" if kind is FindingKind.FLAKY else ""
        yield CheckFinding(kind, name, f"{hung[0]}{often}")
    for run in runs.pristine:
        if run.cause:
            yield CheckFinding(FindingKind.STOPPED, f"{name} of base on the change", run.cause)


def _worse(runs: Runs) -> Iterator[CheckFinding]:
    """Problems that base has not, where the change is red."""
    if not runs.change[0].passed:
        for problem in _new_problems(runs.base[0], runs.change[0]):
            yield CheckFinding(FindingKind.WORSE, problem)


def _lax(name: str, runs: Runs) -> Iterator[CheckFinding]:
    """Is the change no worse by its own rules only?"""
    if not runs.pristine or any(run.passed or run.cause for run in runs.pristine):
        return
    known = _new_problems(runs.base[0], runs.change[0])
    found = [problem for problem in _new_problems(runs.base[0], runs.pristine[0]) if problem not in known]
    turned = all(run.passed for run in runs.base) and any(run.passed for run in runs.change)
    if found or turned:
        said = "; ".join(("by the rules of base it fails on the change", *found[:3]))
        yield CheckFinding(FindingKind.WEAKENED, name, said)


def _new_problems(old: Ran, new: Ran) -> list[str]:
    """Problems that another run has not, neither there nor in a file that was moved."""
    before, after = Counter(old.problems), Counter(new.problems)
    said_before, said_after = (_messages(problems) for problems in (before, after))

    def is_new(problem: str) -> bool:
        message = problem.partition(": ")[2]
        return after[problem] > before[problem] and said_after[message] > said_before[message]

    return list(filter(is_new, after))


def _messages(problems: Counter[str]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for problem, count in problems.items():
        counted[problem.partition(": ")[2]] += count
    return counted


def _about_tests(runs: Runs) -> Iterator[CheckFinding]:
    if runs.pristine and not any(run.outcomes for run in runs.pristine):
        yield CheckFinding(FindingKind.UNREPORTED, "", "the tests of base report nothing on the change")
        runs = replace(runs, pristine=())
    seen = _all(runs)
    broken = tuple(_broken(seen))
    yield from broken
    wavering = tuple(_wavering(seen))
    yield from wavering
    drifting = _drifting(runs)
    for test in (name for name in sorted(drifting) if name in runs.base[0].outcomes):
        yield CheckFinding(FindingKind.FLAKY, test, "its name is another in every run of base")
    settled_already = drifting.union(finding.subject for finding in (*broken, *wavering))
    found_again = _found_again(seen, runs)
    cut_short = bool(broken)  # a runner may stop at the first failure, and the rest was not removed
    for test, one in seen.items():
        if test in settled_already or not _ran_on_base(one):
            continue
        if all(outcome is None for outcome in one.change):
            if not cut_short and test not in found_again:
                yield CheckFinding(FindingKind.REMOVED, test, _against(one))
        elif all(outcome is not Outcome.PASSED for outcome in one.change):
            yield from _quiet(test, one)
        elif _is_weakened(one):
            yield CheckFinding(FindingKind.WEAKENED, test, _against(one))


def _broken(seen: Mapping[str, _Seen]) -> Iterator[CheckFinding]:
    for test, one in seen.items():
        if _is_broken(one):
            is_new = all(outcome is None for outcome in one.base)
            yield CheckFinding(FindingKind.BROKEN, test, "it is new" if is_new else "it did not on base")


def _wavering(seen: Mapping[str, _Seen]) -> Iterator[CheckFinding]:
    for test, one in seen.items():
        if _wavers(one.base):
            yield CheckFinding(FindingKind.FLAKY, test, _times(one.base, "base"))
        elif _wavers(one.change) and not _is_weakened(one):
            detail = f"{_times(one.change, 'the change')}, and never on base"
            yield CheckFinding(FindingKind.FLAKY, test, detail)


def _drifting(runs: Runs) -> set[str]:
    """Tests for which every run of base has others, if those on the change are no fewer and pass."""
    steady = set.intersection(*(set(run.outcomes) for run in runs.base))
    lost = [[name for name in run.outcomes if name not in steady] for run in runs.base]
    fewest = min(_newcomers(runs, run) for run in (runs.change[0], *runs.pristine))
    is_kept = len(set(map(len, lost))) == 1 and fewest >= len(lost[0])
    return {name for names in lost for name in names} if is_kept else set()


def _newcomers(runs: Runs, run: Ran) -> int:
    """How many tests a run reports that no run of base does, if all of them pass."""
    known = {name for one in runs.base for name in one.outcomes}
    new = [outcome for name, outcome in run.outcomes.items() if name not in known]
    return len(new) if all(outcome is Outcome.PASSED for outcome in new) else 0


def _quiet(test: str, one: _Seen) -> Iterator[CheckFinding]:
    if Outcome.SKIPPED in one.change and Outcome.FAILED not in one.change:
        yield CheckFinding(FindingKind.SKIPPED, test, _against(one))


def _found_again(seen: Mapping[str, _Seen], runs: Runs) -> set[str]:
    """Tests that are elsewhere now and pass there, as they do on the change as base has them."""
    gone = [test for test, one in seen.items() if _is_away(one.change) and _ran_on_base(one) and _holds(one)]
    came = [test for test, one in seen.items() if _is_away(one.base) and Outcome.PASSED in one.change]
    return find_again(gone, came, runs.renamed)


def _holds(one: _Seen) -> bool:
    return not one.pristine or Outcome.PASSED in one.pristine


def _is_away(outcomes: Sequence[Outcome | None]) -> bool:
    return all(outcome is None for outcome in outcomes)


def _against(one: _Seen) -> str:
    """What the version of base says on the change, where that was tried."""
    if not one.pristine:
        return ""
    if Outcome.PASSED in one.pristine:
        return "as base has it, it passes on the change"
    if Outcome.FAILED in one.pristine:
        return "as base has it, it fails on the change"
    return "as base has it, it does not run on the change"


def _is_broken(one: _Seen) -> bool:
    """Does it fail on the change, never pass there, and never fail on base?"""
    fails = Outcome.FAILED in one.change and Outcome.PASSED not in one.change
    return fails and Outcome.FAILED not in one.base


def _is_weakened(one: _Seen) -> bool:
    """Does a test of base pass on the change only as the change has it?"""
    hidden = bool(one.pristine) and Outcome.PASSED not in one.pristine
    return hidden and _ran_on_base(one) and Outcome.PASSED in one.change


def _ran_on_base(one: _Seen) -> bool:
    return Outcome.PASSED in one.base or Outcome.FAILED in one.base


def _wavers(outcomes: Sequence[Outcome | None]) -> bool:
    return Outcome.PASSED in outcomes and Outcome.FAILED in outcomes


def _times(outcomes: Sequence[Outcome | None], side: str) -> str:
    return f"it failed {outcomes.count(Outcome.FAILED)} of {len(outcomes)} times on {side}"


def _all(runs: Runs) -> dict[str, _Seen]:
    names = [name for run in (*runs.base, *runs.change) for name in run.outcomes]
    return {
        name: _Seen(
            tuple(run.outcomes.get(name) for run in runs.base),
            tuple(run.outcomes.get(name) for run in runs.change),
            tuple(run.outcomes.get(name) for run in runs.pristine),
        )
        for name in dict.fromkeys(names)
    }
