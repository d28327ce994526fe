"""The part of `harness verify` that is about a change with nothing to run."""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial

from harness_executor.cli.checking import check_lines, chosen_checks, left_out
from harness_executor.cli.parsing import print_json, print_text
from harness_executor.cli.recording import recorder
from harness_executor.config import step_summary
from harness_executor.errors import UsageError
from harness_executor.evidence.knowing import Knower, Words, glance
from harness_executor.evidence.workbench import bench_over
from harness_executor.home import Home
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.checked import allow, silent
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.gate import Claim, Verdict
from harness_executor.kernel.survey import ChangeSurveyed, Survey, found, objections
from harness_executor.sandbox.base import Sandbox
from harness_executor.steps.present import unrun_lines
from harness_executor.steps.validate import Inspection, inspect
from harness_executor.steps.verify import settled
from harness_executor.ui.choice import progress
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Project
from harness_executor.workspace.surveying import survey

_UNVERIFIED, _REFUSED = 5, 4


@frozen
class Look:
    """A change that nobody wrote scenarios for, and where it is looked at."""

    home: Home
    desk: Desk
    sandbox: Sandbox
    claim: Claim
    tree_now: Callable[[], str]
    addresses: Mapping[str, str]
    """Services that the user runs, by name, with where they are."""

    def project(self, options: argparse.Namespace) -> Project:
        """How the base is checked, from files alone."""
        folder = self.desk.path / "base"
        base = folder if folder.is_dir() else self.desk.export(self.claim.base_tree, folder)
        bench = partial(
            bench_over, self.desk, self.claim.base_tree, self.sandbox, self.home.clock, print_text
        )
        knower = Knower(self.home.repository.root, self.home.written, bench, options.environment)
        return glance(base, knower, Words(options.start, options.start_base))


def settle(look: Look, options: argparse.Namespace) -> int:
    """Call the change unverified if the harness finds nothing to run; refuse to guess otherwise."""
    project = look.project(options)
    seen = survey(look.desk, look.claim.base_tree, look.claim.tree, project)
    if objections(seen):
        raise UsageError(
            "there are no scenarios: no --scenarios, and the base keeps none in harness/scenarios; "
            f"{found(seen)}",
            hint="--scenarios FILE",
        )
    fact, verdict = _settled(look, seen, project, options)
    with recorder(look.home, look.claim.task_id) as record:
        record(fact)
    _tell(look.home, fact, verdict, options)
    return _UNVERIFIED if verdict.unverified else _REFUSED


def _settled(
    look: Look, seen: Survey, project: Project, options: argparse.Namespace
) -> tuple[ChangeSurveyed, Verdict]:
    claim, names = look.claim, chosen_checks(options, project)
    with progress() as audience:
        where = (look.desk, look.sandbox, look.home.clock)
        trees = (claim.base_tree, claim.tree)
        inspection = Inspection(*where, *trees, audience.note, look.addresses)
        results = allow(inspect(inspection, project, names), options.allow_tests)
    left = left_out(project, results)
    sides = (claim.task_id, claim.base_commit, claim.base_tree, claim.tree, look.tree_now())
    fact = ChangeSurveyed(found(seen), *sides, seen, silent(results), left)
    return settled(fact, claim, look.home.seal, look.home.layout, look.home.redactor)


def _tell(home: Home, fact: ChangeSurveyed, verdict: Verdict, options: argparse.Namespace) -> None:
    ending = "completed, unverified" if verdict.unverified else "refused:"
    lines = [*unrun_lines(fact), *check_lines(fact), f"report: {home.layout.report}", "", ending]
    text = "\n".join([*lines, *(f"  - {reason}" for reason in verdict.reasons)])
    if place := step_summary():
        with place.open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(f"{text}\n")
    if options.report or options.attest:
        sys.stderr.write("nothing was run, so no report is written and nothing is signed\n")
    if options.json:
        print_json(parse(home.layout.report.read_text(encoding="utf-8")))
    else:
        print_text(text)
