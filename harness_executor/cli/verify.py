"""`harness verify`: prove or refuse a change that anybody made, with no model."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_executor.cli import interrupts
from harness_executor.cli.parsing import Parser, print_json, print_text, with_json, with_project
from harness_executor.clock import new_id
from harness_executor.errors import UsageError
from harness_executor.evidence.examination import Examiner, Question, examine
from harness_executor.evidence.scenario_file import load_scenarios
from harness_executor.home import Home, open_home
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.events import Fact, Verified
from harness_executor.kernel.gate import Claim, Verdict, judge
from harness_executor.kernel.scenario import Scenario
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.steps.present import scenario_table
from harness_executor.steps.verify import examined
from harness_executor.ui.choice import progress
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Start, read_project


@dataclass(frozen=True)
class Subject:
    """What is verified, and for whom."""

    task_id: str
    base_commit: str
    base_tree: str
    tree: str
    tree_now: Callable[[], str]
    refactor: bool


def main(words: list[str]) -> int:
    """Verify a change."""
    options = _options(words[1:])
    scenarios = load_scenarios(options.scenarios)
    home = open_home(options.repo)
    home.layout.prepare()
    desk = home.desk(f"verify-{new_id()[:12]}")
    interrupts.on_stop("run the command again", folder=desk.path)
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
    with_project(parser)
    with_json(parser)
    return parser.parse_args(arguments)


def _verify(home: Home, desk: Desk, scenarios: tuple[Scenario, ...], options: argparse.Namespace) -> int:
    subject = _subject(home, desk, options)
    start = _start(desk, subject, options.start)
    question = Question(
        subject.task_id,
        subject.base_commit,
        subject.base_tree,
        subject.tree,
        scenarios,
        start,
        source="scenario_file",
    )
    claim = Claim(
        subject.task_id, subject.base_commit, subject.base_tree, subject.tree, refactor=options.refactor
    )
    evidence_folder = (
        home.layout.task(subject.task_id).evidence if subject.task_id else home.layout.report.parent / "runs"
    )
    with progress() as audience:
        examiner = Examiner(
            desk, PlainSandbox(), home.clock, evidence_folder, audience.note, subject.tree_now
        )
        examination = examine(question, examiner)
    verified: Verified | None = None
    with _recorder(home, subject.task_id) as record:
        for fact in examined(examination, claim, home.seal, home.layout):
            record(fact)
            verified = fact if isinstance(fact, Verified) else verified
    if verified is None:
        raise UsageError("nothing was verified")
    verdict = judge(claim, verified.evidence, seal_is_valid=home.seal.fits(verified.evidence))
    _show(home, verified, verdict, as_json=options.json)
    return 0 if verdict.accepted else 4


def _subject(home: Home, desk: Desk, options: argparse.Namespace) -> Subject:
    task_id = options.task_id or home.layout.current_id() or ""
    base = options.base
    if task_id and not options.base:
        opened = next((r.fact for r in home.records(task_id) if hasattr(r.fact, "base_commit")), None)
        base = getattr(opened, "base_commit", "")
    if not base:
        raise UsageError("nothing says what the code was before", hint="--base REF, such as --base main")
    commit = home.repository.resolve(base)
    base_tree = home.repository.tree_of(commit)
    if options.head:
        tree = home.repository.tree_of(home.repository.resolve(options.head))
        return Subject(task_id, commit, base_tree, tree, lambda: tree, options.refactor)

    def working_tree() -> str:
        return desk.snapshot(home.repository.root, base_tree)

    return Subject(task_id, commit, base_tree, working_tree(), working_tree, options.refactor)


def _start(desk: Desk, subject: Subject, start: str) -> Start:
    found = read_project(desk.export(subject.base_tree, desk.path / "base"), start=start).start
    if found is None:
        raise UsageError(
            "nothing says how the server is started",
            hint="give --start 'COMMAND --port {port}', or startup.command in harness/environment.json",
        )
    return found


@contextmanager
def _recorder(home: Home, task_id: str) -> Iterator[Callable[[Fact], None]]:
    if not task_id:
        yield lambda _fact: None
        return
    with home.hold(task_id) as log:
        yield lambda fact: (log.append(fact), None)[1]
        home.publish(log)


def _show(home: Home, verified: Verified, verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        print_json(parse(home.layout.report.read_text(encoding="utf-8")))
        return
    evidence = verified.evidence
    print_text(scenario_table(evidence))
    for server in evidence.servers:
        print_text(
            f"{server.side.value} server {server.run}: ready in {server.ready_in_seconds:.2f} s"
            if server.started
            else f"{server.side.value} server {server.run}: did not start"
        )
    print_text(f"assurance: {evidence.assurance.value}\nreport:    {home.layout.report}\n")
    print_text("proved: the change does what the scenarios say" if verdict.accepted else "refused:")
    for reason in verdict.reasons:
        print_text(f"  - {reason}")
