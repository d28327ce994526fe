"""Verify: start base and change, send the frozen scenarios to both, write down what was seen."""

import json
from collections.abc import Iterator
from dataclasses import replace

from harness_executor import faults
from harness_executor.evidence.examination import (
    Examination,
    Examiner,
    Question,
    complaints,
    examine,
    server_log,
)
from harness_executor.evidence.reporting import build_report
from harness_executor.kernel.belief import claim_of
from harness_executor.kernel.events import Fact, SideRecorded, Verified
from harness_executor.kernel.gate import Claim, judge
from harness_executor.kernel.invisible import escaped
from harness_executor.kernel.report import Assurance
from harness_executor.kernel.task import Task
from harness_executor.redaction import Redactor
from harness_executor.steps.means import Means
from harness_executor.store.files import write_atomically
from harness_executor.store.layout import Layout
from harness_executor.store.seal import Seal


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Examine the change; what has to be mended goes back to the executor."""
    question = Question(
        task_id=task.id,
        base_commit=task.base_commit,
        base_tree=task.base_tree,
        tree=task.tree,
        scenarios=task.frozen.scenarios if task.frozen else (),
        start=means.start(task),
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
    )
    seen = examine(question, examiner)
    if task.assurance is Assurance.UNSANDBOXED:
        seen = replace(seen, evidence=replace(seen.evidence, assurance=task.assurance))
    yield from examined(seen, claim_of(task), means.seal, means.layout, means.redactor)


def examined(
    examination: Examination, claim: Claim, seal: Seal, layout: Layout, redactor: Redactor
) -> Iterator[Fact]:
    """Seal what was seen, write the report, and tell."""
    evidence = seal.put(examination.evidence)
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
    verdict = judge(claim, evidence, seal_is_valid=True)
    taken = sum(side.redacted for side in examination.sides)
    report = {**build_report(evidence, examination.observations, verdict), "redacted": taken}
    words = json.dumps(redactor.clean_data(report), indent=2, ensure_ascii=False)
    write_atomically(layout.report, escaped(words) + "\n")
    faults.point("report.written")
    said = complaints(examination)
    log = server_log(examination)
    yield Verified(evidence, (*said, f"the server's log ends with:\n{log}") if said and log else said)
