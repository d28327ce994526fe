"""A real repository with two versions of a small app, and what an examination says of them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness_executor.clock import SystemClock
from harness_executor.evidence.examination import Examination, Examiner, Question, examine
from harness_executor.kernel.report import Finding, Meaning
from harness_executor.kernel.scenario import Kind, Scenario
from harness_executor.redaction import Redactor
from harness_executor.sandbox.base import Sandbox
from harness_executor.workspace.export import Desk, open_desk
from harness_executor.workspace.project import Start
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git
from tests.evidence.apps import equals, get, json_app, scenario, start

BASE = json_app({"/items": (200, [1, 2]), "/old": (200, {"kept": True})})
CHANGE = json_app({"/items": (200, [1, 2]), "/old": (200, {"kept": True}), "/stats": (200, {"total": 2})})

STATS = scenario("stats", get("/stats", 200, equals("$.total", 2)))
ITEMS = scenario("items", get("/items", 200, equals("$[1]", 2)), kind=Kind.UNCHANGED)


@dataclass
class Bench:
    """Where examinations of one test happen."""

    folder: Path
    sandbox: Sandbox
    notes: list[str] = field(default_factory=list)
    how: Start = field(default_factory=start)
    fuzz: bool = False
    tree_now: Callable[[], str] | None = None
    redactor: Redactor = field(default_factory=Redactor)
    otherwise: Callable[[], Start | None] = lambda: None
    late: tuple[str, ...] = ()

    @property
    def records(self) -> Path:
        """Where exchanges and logs are kept."""
        return self.folder / "evidence"

    def examine(self, base: str, change: str, *scenarios: Scenario) -> Examination:
        """Both versions committed, exported, started and asked."""
        desk, question = self._question(base, change, scenarios)
        tree_now = self.tree_now or (lambda: question.tree)
        sight = (self.notes.append, tree_now, self.redactor)
        examiner = Examiner(desk, self.sandbox, SystemClock(), self.records, *sight)
        return examine(question, examiner)

    def meanings(self, base: str, change: str, *scenarios: Scenario) -> dict[str, Meaning]:
        """What each scenario means."""
        found = self.examine(base, change, *scenarios).evidence.findings
        return {finding.name: finding.meaning for finding in found}

    def _question(self, base: str, change: str, scenarios: tuple[Scenario, ...]) -> tuple[Desk, Question]:
        repo = self.folder / "repo"
        repo.mkdir(exist_ok=True)
        git(repo, "init", "--quiet", "--initial-branch=main")
        (repo / "app.py").write_text(base)
        commit = commit_all(repo, "base")
        (repo / "app.py").write_text(change)
        (repo / "note.txt").write_text("changed\n")
        commit_all(repo, "change")
        repository = open_repository(repo)
        desk = open_desk(repository, self.folder / "desk")
        trees = repository.tree_of(commit), repository.tree_of("HEAD")
        question = Question("task", commit, *trees, scenarios, self.how, fuzz=self.fuzz, late=self.late)
        return desk, replace(question, otherwise=self.otherwise)


def named(findings: tuple[Finding, ...], name: str) -> Finding:
    """The finding of one scenario."""
    return next(finding for finding in findings if finding.name == name)
