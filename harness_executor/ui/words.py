"""Facts in one sentence each."""

from harness_executor.kernel import events as e
from harness_executor.kernel.budget import dollars
from harness_executor.kernel.task import Task


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


def _work(fact: e.Fact) -> str:
    match fact:
        case e.PlanProposed():
            return _under("  plan: ", fact.summary)
        case e.ScenariosFrozen():
            return f"  {len(fact.scenarios)} scenarios frozen as {plain(fact.digest[:12])}"
        case e.ChangeMade():
            changed = plain(", ".join((*fact.files_changed, *fact.files_created)))
            ignored = [f"  ignored: {plain(path)}, written by the executor" for path in fact.own_reports]
            return "\n".join([f"  changed: {changed or 'nothing'}", *ignored])
        case e.ChangeApproved():
            return f"  approved by {plain(fact.by)}: tree {plain(fact.tree[:12])}"
        case e.PhaseExecuted():
            return f"  commit {plain(fact.commit[:12])}"
        case e.Validated():
            blocked = [result.name for result in fact.results if result.blocks]
            return (
                f"  newly red: {', '.join(blocked)}"
                if blocked
                else f"  {len(fact.results)} checks, none newly red"
            )
        case e.Verified():
            return "\n".join(
                f"  {finding.meaning.value:<9} {plain(finding.name)}" for finding in fact.evidence.findings
            )
        case e.GateJudged():
            return (
                "  accepted"
                if fact.accepted
                else "\n".join(_under("  refused: ", reason) for reason in fact.reasons)
            )
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


def plain(text: str) -> str:
    """A text on one line that shows control characters instead of obeying them."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def plain_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(plain(line.expandtabs(4)) for line in text.split("\n"))


def _under(label: str, text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{label}{plain(first)}", *(f"{' ' * len(label)}{plain(line)}" for line in rest)])
