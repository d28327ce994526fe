"""What a caller chose of how a change is judged, and a person has to allow before it is complete."""

from collections.abc import Iterator

from harness_executor.kernel.events import Driver
from harness_executor.kernel.report import Evidence, Origin, Side
from harness_executor.kernel.task import Task


def choices(evidence: Evidence) -> tuple[str, ...]:
    """Each in a sentence; of evidence that does not say how it was started, nothing is asked."""
    return tuple(_choices(evidence)) if evidence.launches else ()


def is_agents(task: Task) -> bool:
    """Does a coding agent take its steps, and so choose how it is judged?"""
    return task.opened is not None and task.opened.driver is Driver.SKILL


def unallowed(task: Task) -> tuple[str, ...]:
    """What a coding agent chose in the last verification of its task, and nobody allowed for that tree."""
    if not is_agents(task) or task.verified is None:
        return ()
    evidence = task.verified.evidence
    allowed = task.approved_tests if task.approved_tree == evidence.tree else ()
    return tuple(choice for choice in choices(evidence) if choice not in allowed)


def tree_to_allow(task: Task) -> str:
    """The tree that a person is asked about: an agent's was verified, and has no commit."""
    return task.verified.evidence.tree if is_agents(task) and task.verified else task.tree


def _choices(evidence: Evidence) -> Iterator[str]:
    commands = {launch.side: launch.command for launch in evidence.launches}
    for launch in evidence.launches:
        is_own = launch.origin is Origin.PROJECT or launch.command == commands.get(Side.CHANGE)
        if launch.side is Side.BASE and not is_own:
            yield f"{launch}, and not as the change is"
    for name in evidence.unchecked:
        yield f"the check {name} of base was not run"
    for one in evidence.findings:
        if one.allowed:
            yield f"the kept scenario {one.name} is given up (allowed by {one.allowed!r})"
    for result in evidence.checks:
        for finding in result.findings:
            if finding.allowed:
                yield f"{result.name}: {finding} (allowed by {finding.allowed!r})"
