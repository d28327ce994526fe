"""The account as JUnit XML: a test case for each scenario, each check, and the gate."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering.telling import answered, outcome, pairs, visible
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import OWN, Meaning, Observation

_ASIDE = {
    Meaning.NOISY: "noisy",
    Meaning.MISSING: "it fails on base too, so it says nothing of the change",
    Meaning.REGRESSES: "a person allowed that it is kept no more",
}
"""Why a scenario decides nothing."""


@frozen
class Case:
    """One test case."""

    name: str
    group: str
    seconds: float = 0.0
    failure: str = ""
    skipped: str = ""
    said: str = ""
    properties: tuple[tuple[str, str], ...] = ()


def render(account: Account) -> str:
    """Scenarios of the task, those of the harness, checks and gate, each in a suite."""
    own = [view for view in account.observations if view.finding.source in OWN]
    theirs = [view for view in account.observations if view.finding.source not in OWN]
    suites = {
        "scenarios": [_scenario(view) for view in theirs],
        "scenarios of the harness": [_scenario(view) for view in own],
        "checks": [_check(result) for result in account.checks],
        "gate": [_gate(account)],
    }
    root = Element("testsuites", name="harness verify")
    for name, cases in suites.items():
        if cases:
            _suite(root, name, cases, account)
    _count(root, [case for cases in suites.values() for case in cases])
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def _suite(root: Element, name: str, cases: list[Case], account: Account) -> None:
    suite = SubElement(root, "testsuite", name=name)
    if account.began:
        suite.set("timestamp", account.began[:19])
    _count(suite, cases)
    evidence = account.evidence
    bound = (
        ("base_commit", evidence.base_commit),
        ("tree", evidence.tree),
        ("run_id", evidence.run_id),
        ("assurance", evidence.assurance.value),
    )
    _properties(suite, bound)
    for case in cases:
        _case(suite, case)


def _count(element: Element, cases: list[Case]) -> None:
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(bool(case.failure) for case in cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(bool(case.skipped) for case in cases)))
    element.set("time", f"{sum(case.seconds for case in cases):.3f}")


def _case(suite: Element, case: Case) -> None:
    made = SubElement(
        suite, "testcase", name=visible(case.name), classname=case.group, time=f"{case.seconds:.3f}"
    )
    _properties(made, case.properties)
    if case.failure:
        first = visible(case.failure).split("\n")[0]
        SubElement(made, "failure", message=first, type="failure").text = visible(case.failure)
    if case.skipped:
        SubElement(made, "skipped", message=visible(case.skipped))
    if case.said:
        SubElement(made, "system-out").text = visible(case.said)


def _properties(element: Element, pairs_: tuple[tuple[str, str], ...]) -> None:
    if pairs_:
        held = SubElement(element, "properties")
        for name, value in pairs_:
            SubElement(held, "property", name=name, value=visible(value))


def _scenario(view: Observation) -> Case:
    finding = view.finding
    aside = finding.meaning is Meaning.NOISY or finding.is_unrelated or finding.allowed
    answers = [step.exchange.answer for run in view.change[:1] for step in run.steps]
    known = (
        ("before", outcome(view.base)),
        ("after", outcome(view.change)),
        ("meaning", finding.meaning.value),
        ("why", view.scenario.why),
        ("broken_answers_made", str(finding.mutants)),
        ("broken_answers_noticed", str(finding.killed)),
    )
    return Case(
        finding.name,
        f"scenarios.{finding.kind.value}",
        sum(answer.latency_ms for answer in answers if answer) / 1000,
        failure=(finding.reason or finding.meaning.value) if finding.is_against else "",
        skipped=f"{_ASIDE[finding.meaning]}: {finding.reason}" if aside else "",
        said="\n".join(_steps(view)),
        properties=known,
    )


def _steps(view: Observation) -> Iterator[str]:
    for pair in pairs(view):
        step = pair.after or pair.before
        asked = step.exchange.asked if step else "not reached"
        yield f"{pair.number}. {pair.title}: {asked}: {answered(pair.before)} → {answered(pair.after)}"


def _check(result: CheckResult) -> Case:
    words = {True: "pass", False: "fail"}
    known = (
        ("command", result.command),
        ("before", words[result.base_passed]),
        ("after", words[result.change_passed]),
    )
    red_before = not result.base_passed and not result.change_passed
    against = [str(found) for found in result.findings if found.blocks or found.asks]
    red = ["passes on base and fails on the change"] if result.turned_red else []
    failure = "\n".join([*red, *against])
    return Case(
        result.name,
        "checks",
        failure=failure,
        skipped="it fails on base too, so it decides nothing" if red_before and not failure else "",
        said=result.output,
        properties=known,
    )


def _gate(account: Account) -> Case:
    return Case("the change is accepted", "gate", failure="\n".join(account.verdict.reasons))
