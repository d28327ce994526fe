"""Verify: start base and change, send the frozen scenarios to both, write down what was seen."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness_executor import faults
from harness_executor.evidence.account import account_of, keep
from harness_executor.evidence.examination import (
    Examination,
    Examiner,
    Question,
    complaints,
    examine,
    server_log,
    shortfalls,
)
from harness_executor.evidence.reporting import build_report, unrun_report
from harness_executor.evidence.suite import load_suite, retired
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.belief import claim_of
from harness_executor.kernel.checked import silent
from harness_executor.kernel.events import Fact, SideRecorded, Verified
from harness_executor.kernel.gate import Claim, Verdict, judge, judge_unrun
from harness_executor.kernel.invisible import escaped
from harness_executor.kernel.survey import ChangeSurveyed, Survey, found, objections
from harness_executor.kernel.task import Task
from harness_executor.redaction import Redactor
from harness_executor.store.cleaning import clean_value
from harness_executor.store.files import write_atomically
from harness_executor.store.layout import Layout
from harness_executor.store.seal import Seal
from harness_executor.workspace.surveying import survey

if TYPE_CHECKING:
    from harness_executor.steps.means import Means


def run(task: Task, means: "Means") -> Iterator[Fact]:
    """Run the change, unless there is nothing to run."""
    if not task.must_run:
        seen = survey(means.desk, task.base_tree, task.tree, means.project(task))
        if task.frozen is None or not objections(seen):
            yield _unrun(task, means, seen)
            return
    yield from _examined(task, means)


def _unrun(task: Task, means: "Means", seen: Survey) -> ChangeSurveyed:
    """What is written down of a change that is not run."""
    checks = silent(task.validated.results if task.validated else ())
    sides = (task.id, task.base_commit, task.base_tree, task.tree, task.tree)
    fact = ChangeSurveyed(found(seen), *sides, seen, checks)
    return settled(fact, claim_of(task), means.seal, means.layout, means.redactor)[0]


def _examined(task: Task, means: "Means") -> Iterator[Fact]:
    """Examine the change; what has to be mended goes back to the executor."""
    question = Question(
        task_id=task.id,
        base_commit=task.base_commit,
        base_tree=task.base_tree,
        tree=task.tree,
        scenarios=task.scenarios,
        start=means.start(task),
        suite=load_suite(means.base(task), task.scenarios),
        retired=_retired(task, means),
        late=tuple(scenario.name for scenario in task.added.scenarios) if task.added else (),
        otherwise=lambda: means.own_start(task),
    )
    folder = means.layout.task(task.id).evidence
    examiner = Examiner(
        means.desk,
        means.sandbox,
        means.clock,
        folder,
        means.notify,
        tree_now=lambda: task.tree,
        redactor=means.redactor,
        addresses=means.settings.addresses,
    )
    seen = examine(question, examiner)
    results = task.validated.results if task.validated else ()
    checks = clean_value(silent(results), means.redactor.clean)
    about = replace(seen.about, request=task.opened.request if task.opened else "", checks=results)
    seen = replace(seen, evidence=replace(seen.evidence, checks=checks), about=about)
    if task.assurance is Assurance.UNSANDBOXED:
        seen = replace(seen, evidence=replace(seen.evidence, assurance=task.assurance))
    yield from examined(seen, claim_of(task), means.seal, means.layout, means.redactor)


def _retired(task: Task, means: "Means") -> dict[str, str]:
    """Kept scenarios that the change keeps no more, in files that a person approved."""
    files = {file.path for file in task.control if task.approved_tree == task.tree}
    if not files:
        return {}
    change = means.desk.export(task.tree, means.desk.path / "keeping")
    return retired(
        means.base(task), change, task.scenarios, lambda file: "harness approve" if file in files else ""
    )


def examined(
    examination: Examination, claim: Claim, seal: Seal, layout: Layout, redactor: Redactor
) -> Iterator[Fact]:
    """Seal what was seen, write the report, and tell."""
    verdict = judge(claim, examination.evidence, seal_is_valid=True)
    told = account_of(examination, claim, verdict, redactor)
    folder = examination.about.folder
    evidence = keep(told, folder, seal) if folder else seal.put(examination.evidence)
    for side in examination.sides:
        yield SideRecorded(
            evidence.run_id,
            side.side,
            side.run,
            side.exchanges,
            side.digest,
            side.ready_in_seconds,
            side.redacted,
        )
    report = {**build_report(evidence, examination.observations, verdict), "redacted": told.redacted}
    report["amended_scenarios"] = list(claim.amended)
    report["added_scenarios"] = list(claim.added)
    _report(layout, redactor.clean_data(report))
    said = complaints(examination)
    log = server_log(examination)
    feedback = (*said, f"the server's log ends with:\n{log}") if said and log else said
    yield Verified(evidence, feedback, shortfalls(examination))


def settled(
    seen: ChangeSurveyed, claim: Claim, seal: Seal, layout: Layout, redactor: Redactor
) -> tuple[ChangeSurveyed, Verdict]:
    """Seal what was found of a change that is not run, and write the report."""
    clean = clean_value(seen, redactor.clean)
    verdict = judge_unrun(claim, clean, seal_is_valid=True)
    _report(layout, unrun_report(clean, verdict))
    return seal.put(clean), verdict


def _report(layout: Layout, report: dict[str, Any]) -> None:
    words = json.dumps(report, indent=2, ensure_ascii=False)
    write_atomically(layout.report, escaped(words) + "\n")
    faults.point("report.written")
