"""Present: the result in words, kept beside the log."""

import json
from collections.abc import Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING

from harness_executor.errors import HarnessError
from harness_executor.evidence.rendering.table import scenario_table
from harness_executor.kernel import events as e
from harness_executor.kernel.amending import Ruling
from harness_executor.kernel.caution import cautions
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import listed
from harness_executor.kernel.invisible import escaped
from harness_executor.kernel.lean import lean
from harness_executor.kernel.report import Evidence, ServerRecord
from harness_executor.kernel.scenario import Scenario
from harness_executor.kernel.survey import ChangeSurveyed, Touched
from harness_executor.kernel.task import Task
from harness_executor.store.files import write_atomically

if TYPE_CHECKING:
    from harness_executor.steps.means import Means


def run(task: Task, means: "Means") -> Iterator[e.Fact]:
    """Write summary.md of the task."""
    path = means.layout.task(task.id).path / "summary.md"
    diff = means.desk.diff(task.base_tree, task.tree) if task.tree != task.base_tree else ""
    write_atomically(path, escaped(means.redactor.clean(summary(task, diff))) + "\n")
    if task.judged and task.judged.accepted and task.verified and task.commits:
        _attest(task, means, task.verified.evidence.run_id)
    yield e.Presented(path.name)


def _attest(task: Task, means: "Means", run_id: str) -> None:
    """Sign what was accepted; a task is complete without it, and says so."""
    from harness_executor.evidence.notary import notary_for  # noqa: PLC0415 - start-up is a feature

    notary = notary_for(means.desk.repository, means.layout, means.seal)
    try:
        notary.attest(means.layout.task(task.id).evidence / run_id, task.head)
    except HarnessError as error:
        means.notify(f"not attested: {error.message}")


def summary(task: Task, diff: str = "") -> str:
    """The whole result as Markdown that is also good to read in a terminal."""
    parts = [f"# {task.opened.request if task.opened else task.id}", *_plan(task), *_review(task)]
    if diff:
        parts += ["## Changes", f"```diff\n{diff.rstrip()}\n```"]
    if task.control:
        parts += ["## Control files", listed(task.control)]
    if task.validated and task.validated.results:
        parts += ["## Checks", _checks(task.validated.results)]
    if task.verified:
        parts += ["## Verification", _verification(task.verified.evidence)]
    if task.surveyed:
        parts += ["## Verification", "\n".join(unrun_lines(task.surveyed))]
    if task.requested:
        parts += ["## Scenarios added when the change was there", _added(task)]
    if task.amended:
        parts += ["## Scenarios looked at again", *map(_ruling, _ruled(task))]
    if task.judged:
        parts += ["## Gate", _gate(task.judged)]
    if task.commits:
        parts += [
            "## Commits",
            "\n".join(f"- `{done.commit[:12]}` phase {done.phase}" for done in task.commits),
        ]
    return "\n\n".join(parts)


def _plan(task: Task) -> list[str]:
    if task.plan is None:
        return []
    phases = "\n".join(
        f"{number}. {phase.name}: {phase.objective}" for number, phase in enumerate(task.plan.phases, 1)
    )
    return ["## Plan", task.plan.summary, f"Interface: {task.plan.contract}", phases]


def _review(task: Task) -> list[str]:
    if task.review is None:
        return []
    found = [
        f"- **{item['severity']}** `{item['where']}` {item['issue']} → {item['fix']}"
        for item in task.review.findings
    ]
    return ["## Findings", task.review.summary, "\n".join(found) or "none"]


def _checks(results: tuple[CheckResult, ...]) -> str:
    words = {True: "pass", False: "fail"}
    lines: list[str] = []
    for one in results:
        lines += [f"- {one.name}: {words[one.base_passed]} → {words[one.change_passed]} (`{one.command}`)"]
        lines += [f"  - {finding}" for finding in one.findings]
    return "\n".join(lines)


def _added(task: Task) -> str:
    offers = task.requested.untouched if task.requested else ()
    found = [
        f"- {scenario.name}: “{scenario.why}”" for scenario in (task.added.scenarios if task.added else ())
    ]
    remark = [f"- none: {task.added.remark}"] if task.added and task.added.remark else []
    words = f"No frozen scenario touches {', '.join(map(str, offers))}."
    return "\n".join([words, "", *(remark or found or ["- none: nobody asked for more"])])


def _ruled(task: Task) -> list[tuple[Ruling, Scenario | None]]:
    frozen = {scenario.name: scenario for scenario in task.agreed}
    rulings = task.amended.rulings if task.amended else ()
    return [(ruling, frozen.get(ruling.scenario)) for ruling in rulings]


def _ruling(ruled: tuple[Ruling, Scenario | None]) -> str:
    ruling, old = ruled
    if ruling.amended is None:
        return f"- upheld: {ruling.scenario}: {ruling.reason} (“{ruling.quote}”)"
    before, after = (json.dumps(lean(one), indent=1, ensure_ascii=False) for one in (old, ruling.amended))
    lines = unified_diff(before.splitlines(), after.splitlines(), "frozen", "amended", lineterm="")
    words = f"- amended, once: {ruling.scenario}: {ruling.reason} (“{ruling.quote}”)"
    return f"{words}\n\n```diff\n" + "\n".join(lines) + "\n```"


def _verification(evidence: Evidence) -> str:
    known = (*map(server_line, evidence.servers), *evidence.started)
    servers = "\n".join(f"- {line}" for line in known)
    said = "".join(f"\n- warning: {line}" for line in cautions(evidence))
    return (
        f"{servers}\n\n{scenario_table(evidence.findings)}\n{said}\n\nAssurance: {evidence.assurance.value}"
    )


def server_line(server: ServerRecord) -> str:
    """What is known of one server, and nothing more."""
    name = f"{server.side.value} server {server.run}"
    if not server.started:
        return f"{name}: did not start"
    known = [f"started, ready in {server.ready_in_seconds:.2f} s"]
    known.append("ours" if server.owns_port else "not proved to be ours")
    known.append("gone" if server.stopped and server.port_free else "not proved gone")
    said = server.detail.splitlines()[:1] if server.detail else []
    return "; ".join([f"{name}: {', '.join(known)}", *said])


def unrun_lines(seen: ChangeSurveyed) -> Iterator[str]:
    """What was found of a change that was not run, and its files."""
    yield f"Nothing was run: {seen.reason}"
    yield ""
    yield from (f"- {file.path} ({_how(file)})" for file in seen.survey.touched)
    if seen.survey.control:
        yield f"\ncontrol files, for you to look at:\n{listed(seen.survey.control)}"


def _how(file: Touched) -> str:
    if file.comments:
        return "changed in comments only"
    return "changed" if file.before and file.after else "added" if file.after else "removed"


def _gate(judged: e.GateJudged) -> str:
    if judged.accepted:
        return "Accepted."
    if judged.unverified:
        return "Completed, unverified: nothing speaks against the change, and nothing was run."
    return "Refused:\n" + "\n".join(f"- {reason}" for reason in judged.reasons)
