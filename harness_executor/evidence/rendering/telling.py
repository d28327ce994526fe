"""What every form says alike: verdict, outcomes, requests and answers in words."""

import unicodedata
from collections.abc import Iterator
from itertools import zip_longest

from harness_executor.evidence.account import Account
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Execution, Finding, Meaning, Observation, ScenarioRun, StepRun
from harness_executor.kernel.scenario import Scenario

BEFORE_AFTER = {
    Meaning.PROVES: ("fail", "pass"),
    Meaning.HOLDS: ("pass", "pass"),
    Meaning.REGRESSES: ("pass", "fail"),
    Meaning.MISSING: ("fail", "fail"),
    Meaning.NOISY: ("?", "?"),
}

_OF_SCENARIOS = ("passed on base and fails now: ", "fails on the change too: ", "fails, in a new operation: ")
"""How the gate goes on that refuses because of a scenario."""

MEANS = {
    Meaning.PROVES: "failed before, passes now: the proof",
    Meaning.HOLDS: "passed before and passes now",
    Meaning.REGRESSES: "passed before and fails now",
    Meaning.MISSING: "fails on the change too",
    Meaning.NOISY: "differs from run to run, so it decides nothing",
}


@frozen
class Pair:
    """One step of a scenario on both sides; a side that did not get there has none."""

    number: int
    title: str
    before: StepRun | None
    after: StepRun | None


def headline(account: Account) -> str:
    """The verdict in one sentence."""
    if not account.verdict.accepted:
        count = len(account.verdict.reasons)
        return f"Refused, for {count} reason{'s' if count != 1 else ''}"
    return (
        "Accepted: nothing changed for a client"
        if account.refactor
        else "Accepted: the change does what the scenarios say"
    )


def untold(account: Account) -> list[str]:
    """The reasons of the gate but for those about a scenario that failed, which is shown by itself."""
    told = [f"{finding.name} {words}" for finding in account.evidence.findings for words in _OF_SCENARIOS]
    return [reason for reason in account.verdict.reasons if not reason.startswith(tuple(told))]


def outcome(runs: tuple[ScenarioRun, ...]) -> str:
    """How a scenario came out on one side, over all its runs."""
    passed = {run.passed for run in runs}
    return "differs" if len(passed) > 1 else "pass" if passed == {True} else "fail"


def noticed(finding: Finding) -> str:
    """How many broken answers the scenario noticed."""
    return f"{finding.killed} of {finding.mutants}" if finding.mutants else "-"


def pairs(view: Observation) -> Iterator[Pair]:
    """The steps of the first run on each side, next to each other."""
    before = view.base[0].steps if view.base else ()
    after = view.change[0].steps if view.change else ()
    for number, (old, new) in enumerate(zip_longest(before, after), 1):
        yield Pair(number, step_title(view.scenario, number, new or old), old, new)
    for number in range(max(len(before), len(after)) + 1, len(view.scenario.steps) + 1):
        yield Pair(number, step_title(view.scenario, number, None), None, None)


def step_title(scenario: Scenario, number: int, step: StepRun | None) -> str:
    """What to call a step."""
    said = scenario.steps[number - 1].description if number <= len(scenario.steps) else ""
    return said or (step.exchange.asked if step else f"step {number}")


def answered(step: StepRun | None) -> str:
    """The answer of a step in a few words."""
    if step is None:
        return "not reached"
    answer = step.exchange.answer
    if answer is None:
        return step.exchange.error or "no answer"
    is_program = isinstance(step.exchange, Execution)
    return f"{'exit code ' if is_program else ''}{answer.status}"


def failing_run(view: Observation) -> ScenarioRun | None:
    """The run of the change that shows what is wrong."""
    return next((run for run in view.change if not run.passed), None)


def visible(text: str) -> str:
    """The text with an escape in the place of everything that is obeyed or not seen, but line breaks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_shown(char) else _escape(char) for char in text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The same on one line."""
    return visible(text).replace("\n", "\\n")


def size(count: int) -> str:
    """A number of bytes for people."""
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1000:,.0f} kB"


def clipped(text: str, limit: int) -> str:
    """At most so many characters, saying what was left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit:,} more characters"


def _is_shown(char: str) -> bool:
    return char == "\n" or (char.isprintable() and not unicodedata.name(char, "").startswith("VARIATION SEL"))


def _escape(char: str) -> str:
    return "    " if char == "\t" else char.encode("unicode_escape", "backslashreplace").decode()
