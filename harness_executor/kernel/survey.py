"""Is there anything to run? What the harness saw of a change before running it."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import ControlFile, control_files
from harness_executor.kernel.events import Fact
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.inert import why_not

PLAIN = "100644"
"""The mode of a file that is neither a program nor a link."""
_FEW = 20


@frozen
class Touched:
    """One file that differs between base and change, as git tells it."""

    path: str
    before: str = ""
    """Its mode on base; empty when it was not there."""
    after: str = ""
    """Its mode on the change; empty when it is gone."""
    comments: bool = False
    """Is it a program that differs in nothing but comments?"""


@frozen
class Survey:
    """The files of a change, and what could be run of the project."""

    touched: tuple[Touched, ...]
    programs: tuple[str, ...]
    """What could be run on either side, the first few."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Why a program might read a changed document, by its path."""

    @property
    def control(self) -> tuple[ControlFile, ...]:
        """The control files among what changed, which a person should look at."""
        changed = (file.path for file in self.touched if file.before)
        return control_files(changed, (file.path for file in self.touched if not file.before))


@frozen
class ChangeSurveyed(Fact):
    """The harness looked whether a change leaves anything to run, and ran the checks there are."""

    reason: str
    """What was found, in one sentence."""
    task_id: str
    base_commit: str
    base_tree: str
    tree: str
    tree_after: str
    """The tree when the checks had ended."""
    survey: Survey
    checks: tuple[CheckResult, ...] = ()
    """Build, lint and tests on base and change, without what they printed."""
    unchecked: tuple[str, ...] = ()
    """Checks of the project that were not run."""
    seal: str = ""
    """Keyed digest of everything above, made where no agent can write."""


def objections(survey: Survey) -> tuple[str, ...]:
    """Why the change has to be run, file by file; nothing if there is nothing to run."""
    if not survey.touched:
        return ("nothing changed: the tree equals the base",)
    return tuple(why for file in survey.touched for why in _against(survey, file))


def found(survey: Survey) -> str:
    """What a survey showed, in one sentence."""
    against = objections(survey)
    if against:
        return f"the change has to be run: {'; '.join(against[:_FEW])}"
    if not survey.programs:
        return "the repository has no server, no program, no library and no test"
    names = [file.path for file in survey.touched]
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"no program reads what changed: {', '.join(names[:_FEW])}{more}"


def _against(survey: Survey, file: Touched) -> Iterator[str]:
    modes = [mode for mode in (file.before, file.after) if mode]
    if file.comments and file.before == file.after and file.before.startswith("100"):
        return
    if set(modes) != {PLAIN}:
        yield f"{file.path} is, or was, more than a plain file (mode {' → '.join(modes)})"
    elif survey.programs and (why := why_not(file.path) or survey.doubts.get(file.path, "")):
        yield f"{file.path}: {why}"
