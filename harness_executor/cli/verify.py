"""`harness verify`: prove or refuse a change that anybody made, with no model."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_executor.cli import interrupts
from harness_executor.cli.parsing import (
    Parser,
    boxed_as_asked,
    print_json,
    print_text,
    with_json,
    with_project,
    with_sandbox,
)
from harness_executor.config import read_settings
from harness_executor.errors import UsageError
from harness_executor.evidence.examination import Examiner, Question, examine
from harness_executor.evidence.scenario_file import load_scenarios
from harness_executor.home import Home, open_home
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.control import listed
from harness_executor.kernel.events import Driver, Fact, TaskOpened
from harness_executor.kernel.gate import Claim, Verdict, judge
from harness_executor.kernel.report import Evidence
from harness_executor.kernel.scenario import Scenario
from harness_executor.sandbox.choice import choose
from harness_executor.sandbox.process import watched_over
from harness_executor.steps.present import scenario_table, server_line
from harness_executor.steps.verify import examined
from harness_executor.ui.choice import progress
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import read_project


@dataclass(frozen=True)
class Subject:
    """What is to be called complete, and how to see whether it moved meanwhile."""

    claim: Claim
    tree_now: Callable[[], str]


def main(words: list[str]) -> int:
    """Verify a change."""
    options = _options(words[1:])
    scenarios = load_scenarios(options.scenarios)
    home = open_home(options.repo)
    home.layout.prepare()
    desk = home.desk("verify")
    interrupts.on_stop("run the command again", folder=desk.path)
    with watched_over(desk.path):
        try:
            return _verify(home, desk, scenarios, options)
        finally:
            desk.clear()


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(
        "harness verify", description="Start base and change, send the scenarios to both, and judge."
    )
    parser.add_argument(
        "--base", default="", metavar="REF", help="the code before (default: where the current task began)"
    )
    parser.add_argument(
        "--head", default="", metavar="REF", help="the code after (default: the working tree)"
    )
    parser.add_argument(
        "--scenarios", required=True, type=Path, metavar="FILE", help="what a client must see, JSON or YAML"
    )
    parser.add_argument(
        "--start", default="", metavar="CMD", help="how the server is started; {port} is filled in"
    )
    parser.add_argument(
        "--task-id", default="", help="the task this is evidence for (default: the current one)"
    )
    parser.add_argument(
        "--refactor", action="store_true", help="nothing changes for a client: all scenarios must hold"
    )
    with_sandbox(parser)
    with_project(parser)
    with_json(parser)
    return parser.parse_args(arguments)


def _verify(home: Home, desk: Desk, scenarios: tuple[Scenario, ...], options: argparse.Namespace) -> int:
    settings = boxed_as_asked(read_settings(home.layout.harness, granted=home.trust.granted()), options)
    sandbox = choose(settings, home.repository.root).sandbox()
    subject = _subject(home, desk, options)
    claim = subject.claim
    base = desk.export(claim.base_tree, desk.path / "base")
    start = read_project(base, start=options.start).needed_start()
    sides = (claim.task_id, claim.base_commit, claim.base_tree, claim.tree)
    question = Question(*sides, scenarios, start, source="scenario_file")
    folder = home.layout.task(claim.task_id).evidence if claim.task_id else home.layout.runs
    with progress() as audience:
        sight = (audience.note, subject.tree_now, home.redactor)
        examiner = Examiner(desk, sandbox, home.clock, folder, *sight)
        examination = examine(question, examiner)
    with _recorder(home, claim.task_id) as record:
        for fact in examined(examination, claim, home.seal, home.layout, home.redactor):
            record(fact)
    evidence = home.seal.put(examination.evidence)
    verdict = judge(claim, evidence, seal_is_valid=True)
    if options.json:
        print_json(parse(home.layout.report.read_text(encoding="utf-8")))
    else:
        _show(home, evidence, verdict, refactor=claim.refactor)
    return 0 if verdict.accepted else 4


def _subject(home: Home, desk: Desk, options: argparse.Namespace) -> Subject:
    opened = _task(home, options.task_id)
    base = options.base or (opened.base_commit if opened else "")
    if not base:
        raise UsageError("nothing says what the code was before", hint="--base REF, such as --base main")
    commit = home.repository.resolve(base)
    base_tree = home.repository.tree_of(commit)

    def tree_now() -> str:
        if options.head:
            return home.repository.tree_of(home.repository.resolve(options.head))
        return desk.snapshot(home.repository.root, base_tree)

    refactor = options.refactor or bool(opened and opened.refactor)
    task_id = opened.task_id if opened else ""
    return Subject(Claim(task_id, commit, base_tree, tree_now(), refactor=refactor), tree_now)


def _task(home: Home, named: str) -> TaskOpened | None:
    task_id = named or home.layout.current_id() or ""
    if not task_id:
        return None
    opened = next(
        fact for fact in (record.fact for record in home.records(task_id)) if isinstance(fact, TaskOpened)
    )
    return opened if named or opened.driver is Driver.SKILL else None


@contextmanager
def _recorder(home: Home, task_id: str) -> Iterator[Callable[[Fact], None]]:
    if not task_id:
        yield lambda _fact: None
        return
    with home.hold(task_id) as log:
        yield lambda fact: (log.append(fact), None)[1]
        home.publish(log)


def _show(home: Home, evidence: Evidence, verdict: Verdict, *, refactor: bool) -> None:
    print_text(scenario_table(evidence))
    for server in evidence.servers:
        print_text(server_line(server))
    if evidence.control:
        print_text(f"control files, for you to look at:\n{listed(evidence.control)}")
    print_text(f"assurance: {evidence.assurance.value}\nreport:    {home.layout.report}\n")
    if verdict.accepted:
        print_text(
            "held: nothing changed for a client"
            if refactor
            else "proved: the change does what the scenarios say"
        )
    else:
        print_text("refused:\n" + "\n".join(f"  - {reason}" for reason in verdict.reasons))
