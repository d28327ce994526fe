"""What a check of the project showed about a change, as it is kept."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from fnmatch import fnmatchcase

from harness_executor.kernel.frozen import frozen


class FindingKind(StrEnum):
    """What a change did to a test, or to what a linter or compiler says."""

    BROKEN = "broken"
    """Did not fail on base, fails on the change, every time."""
    WORSE = "worse"
    """A problem that was not reported on base."""
    REMOVED = "removed"
    """Ran on base, is not there on the change."""
    SKIPPED = "skipped"
    """Ran on base, is skipped or expected to fail on the change."""
    WEAKENED = "weakened"
    """Passes only as the change has it: the test or the rules of base do not let it pass."""
    UNREPORTED = "unreported"
    """Base said which tests there are, and the change does not."""
    FLAKY = "flaky"
    """Differs between two runs of the same code; decides nothing."""
    UNKNOWN = "unknown"
    """Not even base says which tests there are, or what is wrong; only the exit code was compared."""
    HANGS = "hangs"
    """Came to an end on base, and does not on the change."""
    STOPPED = "stopped"
    """Did not end by itself."""
    UNPREPARED = "unprepared"
    """Something that checks may need could not be made ready."""


_BLOCKS = (FindingKind.BROKEN, FindingKind.WORSE, FindingKind.HANGS)
_ASKS = (FindingKind.REMOVED, FindingKind.SKIPPED, FindingKind.WEAKENED, FindingKind.UNREPORTED)

_WORDS = {
    FindingKind.BROKEN: "fails on the change",
    FindingKind.WORSE: "is new",
    FindingKind.REMOVED: "was removed",
    FindingKind.SKIPPED: "ran on base and is skipped now",
    FindingKind.WEAKENED: "passes only because the change altered it or how it is run",
    FindingKind.UNREPORTED: "the change does not say which tests ran",
    FindingKind.FLAKY: "is flaky and decided nothing",
    FindingKind.UNKNOWN: "is not known; only the exit code was compared",
    FindingKind.HANGS: "hangs on the change",
    FindingKind.STOPPED: "did not end by itself",
    FindingKind.UNPREPARED: "could not be made ready",
}


@frozen
class CheckFinding:
    """One thing that a check shows about the change."""

    kind: FindingKind
    subject: str
    """The test, or the problem."""
    detail: str = ""
    allowed: str = ""
    """The words with which a person allowed it, when the change was verified."""

    @property
    def blocks(self) -> bool:
        """Does it count against the change, whoever looks at it?"""
        return self.kind in _BLOCKS

    @property
    def asks(self) -> bool:
        """Must a person allow it, and did nobody?"""
        return self.kind in _ASKS and not self.allowed

    def __str__(self) -> str:
        said = f"{self.subject} {_WORDS[self.kind]}" if self.subject else _WORDS[self.kind]
        return f"{said}: {self.detail}" if self.detail else said


@frozen
class CheckResult:
    """One project check on base and change."""

    name: str
    command: str
    base_passed: bool
    change_passed: bool
    output: str = ""
    findings: tuple[CheckFinding, ...] = ()
    base_tests: int = 0
    """How many tests base reported."""
    change_tests: int = 0
    """How many tests the change reported."""
    runs: int = 1
    """How often it was run on each side."""

    @property
    def blocks(self) -> bool:
        """Newly red; what was already red does not block."""
        return self.turned_red or any(finding.blocks for finding in self.findings)

    @property
    def turned_red(self) -> bool:
        """Does the command pass on base and fail on the change, and not only for want of any test?"""
        return self.base_passed and not self.change_passed and not self._is_emptied

    @property
    def _is_emptied(self) -> bool:
        """Is nothing seen but that tests were removed, down to the last? Each of them asks by itself."""
        kinds = {finding.kind for finding in self.findings}
        return self.change_tests == 0 and kinds == {FindingKind.REMOVED}

    @property
    def questions(self) -> tuple[str, ...]:
        """What a person has to allow, each in a sentence."""
        return tuple(f"{self.name}: {finding}" for finding in self.findings if finding.asks)


def silent(results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """The results without what was printed, small enough for evidence."""
    return tuple(replace(result, output="") for result in results)


def allow(results: Iterable[CheckResult], patterns: Sequence[str]) -> tuple[CheckResult, ...]:
    """The results with everything marked that a person allowed by a pattern or a part of the name."""
    return tuple(
        replace(result, findings=tuple(_allowed(finding, patterns) for finding in result.findings))
        for result in results
    )


def _allowed(finding: CheckFinding, patterns: Sequence[str]) -> CheckFinding:
    if not finding.asks:
        return finding
    fits = (word for word in patterns if word == finding.subject or fnmatchcase(finding.subject, word))
    return replace(finding, allowed=next(fits, ""))
