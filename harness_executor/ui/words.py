"""Facts in one sentence each."""

from harness_executor.kernel import events as e
from harness_executor.kernel.budget import dollars
from harness_executor.kernel.revisions import (
    ScenariosAdded,
    ScenariosAmended,
    ScenariosDisputed,
    ScenariosRequested,
)
from harness_executor.kernel.survey import ChangeSurveyed
from harness_executor.kernel.task import Task
from harness_executor.ui.plain import plain


def sentence(fact: e.Fact) -> str:
    """What a person wants to hear of a fact, or nothing."""
    match fact:
        case e.TaskOpened():
            return f"task {plain(fact.task_id)} on {plain(fact.base_commit[:12])}"
        case e.StepStarted():
            again = f" (attempt {fact.attempt})" if fact.attempt > 1 else ""
            phase = f" phase {fact.phase}" if fact.phase else ""
            return f"▸ {fact.step.value}{phase}{again}"
        case e.StepFailed():
            return _under("  failed: ", fact.reason)
        case e.ProjectRead():
            return "\n".join(_under("  ", note) for note in fact.notes)
        case e.TaskPaused():
            cause = "" if fact.cause is e.Cause.HUMAN else f" ({fact.cause.value})"
            return _under(f"  paused{cause}: ", fact.reason)
        case e.CallStumbled():
            return _under("  ", f"attempt {fact.attempt} failed: {fact.why}")
        case e.TaskClosed():
            return f"■ {fact.status.value}"
    return _work(fact)


def _checked(fact: e.Validated) -> str:
    blocked = [plain(result.name) for result in fact.results if result.blocks]
    asked = [_under("  to be allowed: ", question) for one in fact.results for question in one.questions]
    counted = f"  {len(fact.results)} checks, none newly red"
    return "\n".join([f"  newly red: {', '.join(blocked)}" if blocked else counted, *asked])


def _work(fact: e.Fact) -> str:
    match fact:
        case e.ChangeMade():
            changed = plain(", ".join((*fact.files_changed, *fact.files_created)))
            ignored = [f"  ignored: {plain(path)}, written by the executor" for path in fact.own_reports]
            return "\n".join([f"  changed: {changed or 'nothing'}", *ignored])
        case e.ChangeApproved():
            return f"  approved by {plain(fact.by)}: tree {plain(fact.tree[:12])}"
        case e.PhaseExecuted():
            return f"  commit {plain(fact.commit[:12])}"
        case e.Validated():
            return _checked(fact)
        case e.Verified():
            return "\n".join(
                f"  {finding.meaning.value:<9} {plain(finding.name)}" for finding in fact.evidence.findings
            )
        case ChangeSurveyed():
            return _under("  not run: ", fact.reason)
        case e.GateJudged():
            passed = "accepted" if fact.accepted else "not refused, and not proved: nothing was run"
            refused = "\n".join(_under("  refused: ", reason) for reason in fact.reasons)
            return refused or f"  {passed}"
    return _agreed(fact)


def _agreed(fact: e.Fact) -> str:
    match fact:
        case e.PlanProposed():
            return _under("  plan: ", fact.summary)
        case e.ScenariosFrozen():
            return f"  {len(fact.scenarios)} scenarios frozen as {plain(fact.digest[:12])}"
        case ScenariosRequested():
            return _under("  no scenario touches: ", ", ".join(map(str, fact.untouched)))
        case ScenariosAdded():
            said = f"  {len(fact.scenarios)} scenarios added as {plain(fact.digest[:12])}"
            return "\n".join([said, *([_under("  ", fact.remark)] if fact.remark else [])])
        case ScenariosDisputed():
            return _under("  looked at again: ", ", ".join(short.scenario for short in fact.missed))
        case ScenariosAmended():
            words = [("amended" if one.amended else "upheld", one) for one in fact.rulings]
            return "\n".join(_under(f"  {what}: ", f"{one.scenario}: {one.reason}") for what, one in words)
    return ""


def spending(task: Task) -> str:
    """What the model calls of a task used, in one line."""
    used = task.calls.used
    cost = dollars(used.micros)
    if used.unpriced:
        cost = (
            "price unknown" if used.unpriced == used.turns else f"{cost} and {used.unpriced} of unknown price"
        )
    return f"{cost} ({used.turns} calls, {used.tokens:,} tokens)"


def _under(label: str, text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{label}{plain(first)}", *(f"{' ' * len(label)}{plain(line)}" for line in rest)])
