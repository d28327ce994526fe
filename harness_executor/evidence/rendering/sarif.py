"""The findings as SARIF 2.1.0, for code scanning."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from harness_executor.evidence.account import ACCOUNT, Account
from harness_executor.evidence.rendering.telling import untold, visible
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Meaning

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@frozen
class Rule:
    """A kind of finding, and what to do about it."""

    id: str
    name: str
    level: str
    short: str
    help: str


RULES = (
    Rule(
        "HX001",
        "Regression",
        "error",
        "A scenario passed on base and fails on the change.",
        "Look at what the change does to this route. If the new behaviour is wanted, change the scenario.",
    ),
    Rule(
        "HX002",
        "MissingBehaviour",
        "error",
        "A scenario fails on base and on the change.",
        "The change does not do what the scenario asks for. The message says which answer was expected.",
    ),
    Rule(
        "HX003",
        "WeakProof",
        "warning",
        "A scenario would not notice a broken answer.",
        "Compare values of the answer, not only its status; docs/SCENARIOS.md shows how.",
    ),
    Rule(
        "HX004",
        "NoisyScenario",
        "warning",
        "A scenario differs from run to run.",
        "Draw values with random.*, or compare only what does not change by itself.",
    ),
    Rule(
        "HX005",
        "ControlFile",
        "warning",
        "The change brings a file that can make another program run something.",
        "Read the file before anybody opens the project with an editor, an agent or CI.",
    ),
    Rule(
        "HX006",
        "CheckNewlyRed",
        "error",
        "A check of the project passes on base and fails on the change.",
        "Run the command on the change; the message ends with its output.",
    ),
    Rule(
        "HX007",
        "SecretTakenOut",
        "note",
        "Secrets appeared in exchanges or server output.",
        "They were taken out before anything was written. Find out why the server says them.",
    ),
    Rule(
        "HX008",
        "Refused",
        "error",
        "The gate refused the change.",
        "The message is the reason; docs/SCENARIOS.md says what the gate wants.",
    ),
    Rule(
        "HX009",
        "TestHarmed",
        "error",
        "A test broke, or was removed, skipped or weakened by the change.",
        "Mend the code or the test; a person who wants it so allows it with --allow-tests.",
    ),
)


@frozen
class Result:
    """One finding at one place."""

    rule: int
    text: str
    place: str
    about: str
    """What it is about, the same from run to run."""


def render(account: Account) -> str:
    """One run of the tool, with every finding."""
    found = list(_results(account))
    driver = {
        "name": "harness-executor",
        "semanticVersion": account.program,
        "informationUri": "https://pypi.org/project/harness-executor/",
        "rules": [_rule(rule) for rule in RULES],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": f"harness/verify/{account.evidence.run_id}"},
        "invocations": [{"executionSuccessful": True, "properties": {"accepted": account.verdict.accepted}}],
        "properties": {"base_commit": account.evidence.base_commit, "tree": account.evidence.tree},
        "results": [_result(one) for one in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _results(account: Account) -> Iterator[Result]:
    place = f"harness/{account.evidence.run_id}/{ACCOUNT}"
    for finding in account.evidence.findings:
        rule = {Meaning.REGRESSES: 0, Meaning.MISSING: 1, Meaning.NOISY: 3}.get(finding.meaning)
        if rule is not None and not (finding.is_unrelated or finding.allowed):
            why = finding.reason or RULES[rule].short
            yield Result(rule, f"{finding.name}: {why}", place, finding.name)
        if finding.survived and finding.meaning is Meaning.PROVES:
            weak = f"{finding.name} would also pass with {', '.join(finding.survived)}"
            yield Result(2, weak, place, finding.name)
    yield from _files_and_checks(account, place)
    yield from (Result(7, reason, place, reason) for reason in untold(account))


def _files_and_checks(account: Account, place: str) -> Iterator[Result]:
    for file in account.evidence.control:
        yield Result(4, str(file), file.path, file.path)
    for result in account.checks:
        if result.turned_red:
            text = f"{result.name} (`{result.command}`) fails on the change only:\n{result.output[-2000:]}"
            yield Result(5, text, place, result.name)
        for found in result.findings:
            if found.blocks or found.asks:
                yield Result(8, f"{result.name}: {found}", place, f"{result.name} {found.subject}")
    if account.redacted:
        text = f"{account.redacted} secrets were taken out of what was recorded"
        yield Result(6, text, place, "redacted")


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.short},
        "fullDescription": {"text": f"{rule.short} {rule.help}"},
        "help": {"text": rule.help, "markdown": rule.help},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["verification"]},
    }


def _result(one: Result) -> dict[str, Any]:
    rule = RULES[one.rule]
    where = {"artifactLocation": {"uri": _uri(one.place)}, "region": {"startLine": 1}}
    return {
        "ruleId": rule.id,
        "ruleIndex": one.rule,
        "level": rule.level,
        "message": {"text": visible(one.text)},
        "locations": [
            {
                "physicalLocation": where,
                "logicalLocations": [{"name": visible(one.about), "kind": "scenario"}],
            }
        ],
        "partialFingerprints": {"harness/v1": digest([rule.id, one.about])},
    }


def _uri(path: str) -> str:

    return quote(path.encode(errors="surrogateescape"))
