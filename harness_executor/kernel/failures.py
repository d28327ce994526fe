"""Failure classes: what went wrong decides what may happen next."""

from enum import StrEnum


class FailureClass(StrEnum):
    """The five classes; each allows something else."""

    STATIC = "A"
    """Build, lint or types: mend the cause, within scope."""
    TESTS = "B"
    """Tests: mend what the change broke."""
    BEHAVIOUR = "C"
    """The running program does not do what was asked."""
    ENVIRONMENT = "D"
    """Something outside the code is missing: name it, do not guess."""
    PAUSE = "E"
    """A domain where a person decides."""
    AGENT = "agent"
    """A subagent or its model failed; the work itself was not judged."""


def may_retry(failure: FailureClass) -> bool:
    """Could another attempt end differently, with nothing changed outside?"""
    return failure not in (FailureClass.ENVIRONMENT, FailureClass.PAUSE)
