"""A claim somebody makes about a change, and what must become of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """What the harness answered."""

    accepted: bool
    said: str
    code: int = -1
    """The exit code, where a command gave one."""


Act = Callable[[Path], Outcome]
"""Makes the claim for real, in an empty folder."""


@dataclass(frozen=True)
class Case:
    """One claim: honest work that must be accepted, or a forgery that must be refused."""

    name: str
    row: str
    """The threat it stands for, or `honest`."""
    act: Act
    words: tuple[str, ...] = ()
    """What the refusal must say."""

    @property
    def forged(self) -> bool:
        """Must this claim be refused?"""
        return self.row != HONEST

    def problem(self, outcome: Outcome) -> str:
        """What is wrong with an outcome, or nothing."""
        if outcome.accepted == self.forged:
            return "false accept" if self.forged else "false reject"
        return "" if all(word in outcome.said for word in self.words) else "wrong reason"


HONEST = "honest"


class Corpus:
    """Cases of one family, each written beside the function that carries it out."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def forged(self, row: str, name: str, *words: str) -> Callable[[Act], Act]:
        """A claim that must be refused, with these words."""
        return self._keep(row, name, words)

    def honest(self, name: str) -> Callable[[Act], Act]:
        """A claim that must be accepted."""
        return self._keep(HONEST, name, ())

    def _keep(self, row: str, name: str, words: tuple[str, ...]) -> Callable[[Act], Act]:
        def keep(act: Act) -> Act:
            self.cases.append(Case(name, row, act, words))
            return act

        return keep
