"""Present: the result in words, kept beside the log."""

from collections.abc import Iterator

from harness_executor.kernel import events as e
from harness_executor.kernel.control import listed
from harness_executor.kernel.invisible import escaped
from harness_executor.kernel.report import Evidence, Finding, Meaning, ServerRecord
from harness_executor.kernel.task import Task
from harness_executor.steps.means import Means
from harness_executor.store.files import write_atomically

_BEFORE_AFTER = {
    Meaning.PROVES: ("fail", "pass"),
    Meaning.HOLDS: ("pass", "pass"),
    Meaning.REGRESSES: ("pass", "fail"),
    Meaning.MISSING: ("fail", "fail"),
    Meaning.NOISY: ("?", "?"),
}


def run(task: Task, means: Means) -> Iterator[e.Fact]:
    """Write summary.md of the task."""
    path = means.layout.task(task.id).path / "summary.md"
    diff = means.desk.diff(task.base_tree, task.tree) if task.tree != task.base_tree else ""
    write_atomically(path, escaped(means.redactor.clean(summary(task, diff))) + "\n")
    yield e.Presented(path.name)


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
    if task.judged:
        parts += ["## Gate", _gate(task.judged)]
    if task.commits:
        parts += [
            "## Commits",
            "\n".join(f"- `{done.commit[:12]}` phase {done.phase}" for done in task.commits),
        ]
    return "\n\n".join(parts)


def scenario_table(evidence: Evidence) -> str:
    """Every scenario with before and after."""
    rows = [_row(finding) for finding in evidence.findings]
    width = max((len(row[0]) for row in rows), default=8)
    head = f"| {'scenario':<{width}} | before | after | meaning   | broken answers noticed |"
    line = f"|{'-' * (width + 2)}|--------|-------|-----------|------------------------|"
    body = [
        f"| {name:<{width}} | {old:<6} | {new:<5} | {what:<9} | {kill:<22} |"
        for name, old, new, what, kill in rows
    ]
    return "\n".join([head, line, *body])


def _row(finding: Finding) -> tuple[str, str, str, str, str]:
    old, new = _BEFORE_AFTER[finding.meaning]
    noticed = f"{finding.killed} of {finding.mutants}" if finding.mutants else "-"
    return finding.name, old, new, finding.meaning.value, noticed


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


def _checks(results: tuple[e.CheckResult, ...]) -> str:
    words = {True: "pass", False: "fail"}
    return "\n".join(
        f"- {result.name}: {words[result.base_passed]} → {words[result.change_passed]} (`{result.command}`)"
        for result in results
    )


def _verification(evidence: Evidence) -> str:
    servers = "\n".join(f"- {server_line(server)}" for server in evidence.servers)
    return f"{servers}\n\n{scenario_table(evidence)}\n\nAssurance: {evidence.assurance.value}"


def server_line(server: ServerRecord) -> str:
    """What is known of one server, and nothing more."""
    name = f"{server.side.value} server {server.run}"
    if not server.started:
        return f"{name}: did not start"
    known = [f"started, ready in {server.ready_in_seconds:.2f} s"]
    known.append("ours" if server.owns_port else "not proved to be ours")
    known.append("gone" if server.stopped and server.port_free else "not proved gone")
    return f"{name}: {', '.join(known)}"


def _gate(judged: e.GateJudged) -> str:
    if judged.accepted:
        return "Accepted."
    return "Refused:\n" + "\n".join(f"- {reason}" for reason in judged.reasons)
