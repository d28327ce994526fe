"""What `harness verify` does once its words are read, while the box is tried."""

import argparse
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from harness_executor.cli import interrupts
from harness_executor.cli.beginning import Beginning
from harness_executor.cli.checking import check_lines, chosen_checks, with_results
from harness_executor.cli.parsing import keep_secret, print_json, print_text
from harness_executor.cli.publishing import attest, tell_github, write_reports
from harness_executor.cli.recording import recorder
from harness_executor.cli.unrun import Look, settle
from harness_executor.config import Settings, known_passwords, known_secrets, passwords_in
from harness_executor.errors import UsageError
from harness_executor.evidence.account import read_account
from harness_executor.evidence.examination import Examiner, Question, examine
from harness_executor.evidence.knowing import Knower, Words, know, own_start
from harness_executor.evidence.logins import logins_of
from harness_executor.evidence.rendering.table import scenario_table
from harness_executor.evidence.scenario_file import ScenarioFile, read_scenarios
from harness_executor.evidence.suite import load_suite, retired
from harness_executor.evidence.workbench import bench_over
from harness_executor.home import Home, home_of
from harness_executor.kernel.canonical import parse_own
from harness_executor.kernel.caution import cautions
from harness_executor.kernel.checked import allow
from harness_executor.kernel.choices import choices
from harness_executor.kernel.control import listed
from harness_executor.kernel.effects import ends_in_a_write
from harness_executor.kernel.events import Driver, TaskOpened
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.gate import Claim, Verdict
from harness_executor.kernel.report import PREDEFINED, Evidence
from harness_executor.kernel.scenario import Scenario
from harness_executor.redaction import Redactor
from harness_executor.sandbox.base import Sandbox
from harness_executor.sandbox.process import watched_over
from harness_executor.steps.present import server_line
from harness_executor.steps.validate import Inspection, inspect
from harness_executor.steps.verify import examined
from harness_executor.ui.choice import progress
from harness_executor.workspace.export import Desk
from harness_executor.workspace.installed import remarks
from harness_executor.workspace.project import Project, Start

_ALLOW = "hint: where that is meant, --allow-tests PATTERN allows it, such as 'tests/test_old.py*'"

_RETIRE = (
    "hint: where a kept scenario is to change, let the change alter or remove its file in harness/scenarios; "
    "--allow-scenarios PATTERN allows it, such as 'harness/scenarios/old.yaml'"
)


@frozen
class Subject:
    """What is to be called complete, and how to see whether it moved meanwhile."""

    claim: Claim
    tree_now: Callable[[], str]


def verify(options: argparse.Namespace, beginning: Beginning) -> int:
    """Verify a change, in a box that is being tried meanwhile."""
    home = _discreet(home_of(beginning.repository), options)
    home.layout.prepare()
    desk = home.desk("verify")
    interrupts.on_stop("run the command again", folder=desk.path)
    with watched_over(desk.path):
        try:
            return _verify(home, desk, options, beginning)
        finally:
            desk.clear()


def _verify(home: Home, desk: Desk, options: argparse.Namespace, beginning: Beginning) -> int:
    with ThreadPoolExecutor(1) as beside:
        coming = beside.submit(_subject, home, desk, options)
        file = read_scenarios(options.scenarios) if options.scenarios else ScenarioFile("", (), ())
        subject = coming.result()
    sandbox, claim = beginning.trial.result().sandbox(), subject.claim
    addresses = _addresses(beginning.settings, options)
    suite = _suite(desk, claim, file.scenarios)
    _refuse_reports(home, claim, options)
    if not file.scenarios and not suite:
        return _unrun(Look(home, desk, sandbox, claim, subject.tree_now, addresses), options)
    asked = options.fuzz or any(one.needs_server for one in (*file.scenarios, *suite))
    around = Around(desk, sandbox, addresses, asked or bool(file.logins or file.before))
    project = _known(home, around, claim, options)
    names = chosen_checks(options, project)
    scenarios = file.prepared(logins_of(project.auth)) if file.scenarios else ()
    start = project.start_for(server=asked or any(one.needs_server for one in scenarios))
    sides = (claim.task_id, claim.base_commit, claim.base_tree, claim.tree)
    question = Question(*sides, scenarios, start, source="scenario_file", suite=suite, fuzz=options.fuzz)
    if options.allow_scenarios:
        question = replace(question, retired=_retired(desk, claim, scenarios, options.allow_scenarios))
    if options.start:
        question = replace(question, otherwise=partial(_own_start, home, around, claim, options))
    folder = home.layout.task(claim.task_id).evidence if claim.task_id else home.layout.runs
    with progress() as audience:
        sight = (audience.note, subject.tree_now, home.redactor)
        for scenario in scenarios:
            if unread := ends_in_a_write(scenario):
                audience.note(f"{scenario.name}: {unread}")
        where = (desk, sandbox, home.clock)
        examination = examine(question, Examiner(*where, folder, *sight, addresses))
        inspection = Inspection(*where, claim.base_tree, claim.tree, audience.note, addresses)
        results = allow(inspect(inspection, project, names), options.allow_tests)
        examination = with_results(examination, results, project, home.redactor)
    with recorder(home, claim.task_id) as record:
        for fact in examined(examination, claim, home.seal, home.layout, home.redactor):
            record(fact)
    return _told(home, folder / examination.evidence.run_id, claim, options)


def _unrun(look: Look, options: argparse.Namespace) -> int:
    """A change without scenarios; drawn requests alone are none."""
    if options.fuzz:
        raise UsageError(
            "drawn requests can refuse a change and never prove one, and there are no scenarios beside them",
            hint="--scenarios FILE, or keep some in harness/scenarios of the base",
        )
    return settle(look, options)


def _refuse_reports(home: Home, claim: Claim, options: argparse.Namespace) -> None:
    """A report within the working tree of a task would be a change that nobody verified."""
    root = home.repository.root
    places = [place.resolve() for _, place in options.report] if claim.task_id and not options.head else []
    for place in (place for place in places if place.is_relative_to(root)):
        if not home.repository.ignores(place):
            raise UsageError(
                f"{place.relative_to(root)} would become part of the change of task {claim.task_id}",
                hint="write the report outside of the project, or into a folder that git ignores",
            )


def _told(home: Home, folder: Path, claim: Claim, options: argparse.Namespace) -> int:
    """Say what came out, in every form that was asked for."""
    account = read_account(folder, home.seal)
    write_reports(account, options.report)
    tell_github(account)
    if options.attest and account.verdict.accepted:
        commit = home.repository.resolve(options.head) if options.head else ""
        attest(home, folder, commit)
    if options.json:
        print_json(parse_own(home.layout.report.read_text(encoding="utf-8")))
    else:
        _show(home, account.evidence, account.verdict, refactor=claim.refactor)
        if claim.task_id and account.verdict.accepted:
            _show_choices(account.evidence)
    return 0 if account.verdict.accepted else 4


def _discreet(home: Home, options: argparse.Namespace) -> Home:
    """The project, where passwords of the command line are kept and said nowhere."""
    passwords = passwords_in([text.partition("=")[2] for text in options.service])
    keep_secret(passwords)
    known = (*known_passwords(), *passwords)
    return replace(home, redactor=Redactor(known_secrets(), known)) if passwords else home


def _addresses(settings: Settings, options: argparse.Namespace) -> dict[str, str]:
    pairs = [text.partition("=") for text in options.service]
    if wrong := [name for name, _, url in pairs if not name or "://" not in url]:
        raise UsageError(
            f"--service {wrong[0]} names no address", hint="--service db=postgresql://USER@HOST:PORT/DATABASE"
        )
    return {**settings.addresses, **{name: url for name, _, url in pairs}}


@frozen
class Around:
    """What a server of the project stands in."""

    desk: Desk
    sandbox: Sandbox
    addresses: Mapping[str, str]
    """Services that the user runs, by name, with where they are."""
    serves: bool
    """Does anything that is run need a server?"""


def _known(home: Home, around: Around, claim: Claim, options: argparse.Namespace) -> Project:
    """How both sides are started, as the base or the user says it; never the change."""
    base = _base(around.desk, claim)
    with progress() as audience:
        knower = _knower(home, around, claim, options, audience.note)
        project = know(base, knower, Words(options.start, options.start_base, around.serves))
        for note in (*project.notes, *remarks(around.desk.room(base), around.sandbox.assurance)):
            audience.note(note)
    return project


def _own_start(home: Home, around: Around, claim: Claim, options: argparse.Namespace) -> Start | None:
    """How the base is started by itself, whatever command was given."""
    return own_start(around.desk.path / "base", _knower(home, around, claim, options, lambda _: None))


def _knower(
    home: Home,
    around: Around,
    claim: Claim,
    options: argparse.Namespace,
    notify: Callable[[str], None],
) -> Knower:
    bench = partial(bench_over, around.desk, claim.base_tree, around.sandbox, home.clock, notify)
    return Knower(home.repository.root, home.written, bench, options.environment, around.addresses)


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

    refactor = options.refactor or options.scenarios is None or bool(opened and opened.refactor)
    task_id = opened.task_id if opened else ""
    return Subject(Claim(task_id, commit, base_tree, tree_now(), refactor=refactor), tree_now)


def _suite(desk: Desk, claim: Claim, scenarios: tuple[Scenario, ...]) -> tuple[Scenario, ...]:
    """What the base keeps."""
    return load_suite(_base(desk, claim), scenarios)


def _retired(
    desk: Desk, claim: Claim, scenarios: tuple[Scenario, ...], patterns: list[str]
) -> dict[str, str]:
    """What of that the user lets the change keep no more."""
    change = desk.export(claim.tree, desk.path / "keeping")

    def allowed(file: str) -> str:
        return next((word for word in patterns if fnmatchcase(file, word)), "")

    return retired(_base(desk, claim), change, scenarios, allowed)


def _base(desk: Desk, claim: Claim) -> Path:
    folder = desk.path / "base"
    return folder if folder.is_dir() else desk.export(claim.base_tree, folder)


def _task(home: Home, named: str) -> TaskOpened | None:
    task_id = named or home.layout.current_id() or ""
    if not task_id:
        return None
    opened = next(
        fact for fact in (record.fact for record in home.records(task_id)) if isinstance(fact, TaskOpened)
    )
    return opened if named or opened.driver is Driver.SKILL else None


def _show(home: Home, evidence: Evidence, verdict: Verdict, *, refactor: bool) -> None:
    print_text(scenario_table(evidence.findings))
    for server in evidence.servers:
        print_text(server_line(server))
    for launch in evidence.started:
        print_text(str(launch))
    for caution in cautions(evidence):
        print_text(f"warning: {caution}")
    if evidence.control:
        print_text(f"control files, for you to look at:\n{listed(evidence.control)}")
    for line in check_lines(evidence):
        print_text(line)
    print_text(f"assurance: {evidence.assurance.value}\nreport:    {home.layout.report}\n")
    if verdict.accepted:
        print_text(
            "held: nothing changed for a client"
            if refactor
            else "proved: the change does what the scenarios say"
        )
    else:
        print_text("refused:\n" + "\n".join(f"  - {reason}" for reason in verdict.reasons))
        if any(result.questions for result in evidence.checks):
            print_text(_ALLOW)
        if any(finding.is_against and finding.source == PREDEFINED for finding in evidence.findings):
            print_text(_RETIRE)


def _show_choices(evidence: Evidence) -> None:
    if found := choices(evidence):
        print_text("before the task is complete, a person has to allow:")
        print_text("\n".join(f"  - {choice}" for choice in found))
