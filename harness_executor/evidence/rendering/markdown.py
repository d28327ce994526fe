"""The account as Markdown for a comment: the verdict first, what failed next, the rest folded."""

import re
from collections.abc import Iterator

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering.telling import (
    BEFORE_AFTER,
    MEANS,
    Pair,
    answered,
    clipped,
    headline,
    noticed,
    one_line,
    pairs,
    visible,
)
from harness_executor.kernel.caution import cautions
from harness_executor.kernel.report import Exchange, Execution, Finding, Meaning, Observation, StepRun

LIMIT = 60_000
"""What fits into a comment, with room for more."""
_BODY = 2_000
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_SIGNS = {"pass": "✅", "fail": "❌", "?": "❔"}


def render(account: Account) -> str:
    """The whole comment."""
    return told(account, LIMIT)


def told(account: Account, limit: int) -> str:
    """The account in at most so many bytes; details are left out from the end."""
    parts = [_verdict(account), _table(account.evidence.findings)]
    failing = [view for view in account.observations if view.finding.is_against]
    others = [view for view in account.observations if not view.finding.is_against]
    details = [_scenario(view, folded=False) for view in failing]
    details += [_checks(account), _control(account), _cautions(account), _launches(account)]
    details += [_scenario(view, folded=True) for view in others]
    end = _binding(account)
    room = limit - sum(len(part.encode()) + 2 for part in (*parts, end)) - 100
    left_out = 0
    for part in filter(None, details):
        room -= len(part.encode()) + 2
        if room < 0:
            left_out += 1
        else:
            parts.append(part)
    if left_out:
        parts.append(f"_{left_out} more parts do not fit here; `harness report` shows them._")
    return "\n\n".join([*parts, end])


def text(value: str) -> str:
    """A text that is only a text: no markup, no mention, no link."""
    escaped = _SPECIAL.sub(r"\\\1", one_line(value)).replace("&", "&amp;").replace("\\<", "&lt;")
    return re.sub(r"@(?=\w)|://|(?<=\b[wW]{3})\.", lambda found: f"{found[0]}<!-- -->", escaped)


def code(value: str) -> str:
    """A text as code on one line; it may hold backticks."""
    shown = one_line(value).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    gap = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{gap}{shown}{gap}{fence}"


def block(value: str, language: str = "") -> str:
    """A text as a block of code, behind a fence that is longer than any in it."""
    shown = visible(clipped(value, _BODY))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"


def _verdict(account: Account) -> str:
    sign = "✅" if account.verdict.accepted else "❌"
    said = [f"### {sign} {headline(account)}"]
    if account.request:
        said.append(f"> {text(account.request)}")
    said.append("\n".join(f"- {text(reason)}" for reason in account.verdict.reasons))
    return "\n\n".join(filter(None, said))


def _table(findings: tuple[Finding, ...]) -> str:
    lines = ["| scenario | before | after | meaning | broken answers noticed |", "|---|:-:|:-:|---|--:|"]
    for finding in findings:
        old, new = (_SIGNS[side] for side in BEFORE_AFTER[finding.meaning])
        lines.append(
            f"| {text(finding.name)} | {old} | {new} | **{finding.meaning.value}** | {noticed(finding)} |"
        )
    return "\n".join(lines)


def _scenario(view: Observation, *, folded: bool) -> str:
    finding = view.finding
    name = f"{finding.meaning.value}: {text(finding.name)}"
    why = f"{MEANS[finding.meaning]}. Asked for by: _{text(view.scenario.why)}_"
    parts = [why, *(_step(pair, finding.meaning) for pair in pairs(view))]
    if finding.survived and finding.meaning is Meaning.PROVES:
        parts.append(f"Would also pass with {text(', '.join(finding.survived))}.")
    inside = "\n\n".join(filter(None, parts))
    if folded:
        return f"<details><summary>{_summary(finding)}</summary>\n\n{inside}\n\n</details>"
    return f"#### ❌ {name}\n\n{inside}"


def _summary(finding: Finding) -> str:
    name = one_line(finding.name).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@<!-- -->")
    return f"<b>{finding.meaning.value}</b>: {name}"


def _step(pair: Pair, meaning: Meaning) -> str:
    """What was sent, what was expected and what came; all of it only where something is wrong."""
    step = pair.after or pair.before
    if step is None:
        return f"{pair.number}. {text(pair.title)}: not reached"
    title = "" if pair.title == step.exchange.asked else f" {text(pair.title)}"
    lines = [f"**{pair.number}.{title}** {_sent(step)}"]
    lines.append(f"before: {code(answered(pair.before))} · after: {code(answered(pair.after))}")
    failed = [check for check in (pair.after.assertions if pair.after else ()) if not check.passed]
    lines += [
        f"- ❌ {code(check.type)}: expected {code(_value(check.expected))}, got {code(_value(check.actual))}"
        for check in failed
    ]
    if failed or (meaning is Meaning.PROVES and not _is_same(pair)):
        lines += list(_bodies(pair))
    return "\n\n".join(filter(None, lines))


def _is_same(pair: Pair) -> bool:
    answers = [side.exchange.answer if side else None for side in (pair.before, pair.after)]
    bodies = {(answer.status, answer.body) if answer else None for answer in answers}
    return len(bodies) == 1


def _sent(step: StepRun) -> str:
    deed = step.exchange
    sent = code(deed.asked if isinstance(deed, Exchange) else " ".join(deed.argv))
    given = deed.body if isinstance(deed, Exchange) else deed.stdin
    return f"{sent}\n\n{block(given)}" if given else sent


def _bodies(pair: Pair) -> Iterator[str]:
    for name, step in (("before", pair.before), ("after", pair.after)):
        answer = step.exchange.answer if step else None
        if answer is not None and answer.body:
            kind = "" if isinstance(step and step.exchange, Execution) else _language(answer.body)
            yield f"{name}:\n\n{block(answer.body, kind)}"


def _language(body: str) -> str:
    return "json" if body.lstrip()[:1] in ("{", "[") else ""


def _checks(account: Account) -> str:
    words = {True: "✅", False: "❌"}
    rows = [
        f"| {text(result.name)} | {words[result.base_passed]} | {words[result.change_passed]} "
        f"| {code(result.command)} |"
        for result in account.checks
    ]
    rows += [f"\n- {text(f'{one.name}: {found}')}" for one in account.checks for found in one.findings]
    head = "#### Checks\n\n| check | before | after | command |\n|---|:-:|:-:|---|\n"
    return head + "\n".join(rows) if rows else ""


def _control(account: Account) -> str:
    files = [f"- {code(file.path)}: {text(file.runs)}" for file in account.evidence.control]
    return "#### Control files, for you to look at\n\n" + "\n".join(files) if files else ""


def _cautions(account: Account) -> str:
    return "\n".join(f"- ⚠️ {text(said)}" for said in cautions(account.evidence))


def _launches(account: Account) -> str:
    return "\n".join(f"- {text(str(launch))}" for launch in account.evidence.started)


def _binding(account: Account) -> str:
    evidence = account.evidence
    return (
        f"<sub>base {code(evidence.base_commit[:12])} · tree {code(evidence.tree[:12])} · "
        f"{evidence.assurance.value} · run {code(evidence.run_id)} · "
        f"harness-executor {text(account.program)}</sub>"
    )


def _value(value: object) -> str:
    return clipped(value if isinstance(value, str) else repr(value), 300)
