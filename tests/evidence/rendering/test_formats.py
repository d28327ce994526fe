"""Every form of a report, of a good and of a hostile verification."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import pytest
from junitparser import JUnitXml

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering import table
from harness_executor.evidence.rendering.formats import FORMATS
from harness_executor.evidence.rendering.formats import rendered as render
from harness_executor.evidence.rendering.telling import visible
from harness_executor.kernel.report import PREDEFINED, Meaning
from tests.evidence.accounts import BAD, GOOD, HARM, HOSTILE, PROOF, account


class Elements(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember an element."""
        self.names.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}


@pytest.mark.parametrize("told", [GOOD, BAD], ids=["good", "bad"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_form_is_free_of_what_is_obeyed(name: str, told: Account) -> None:
    """No form holds a control character, a bidirectional one, or half of a line that a server made up."""
    made = render(name, told)
    assert made.endswith("\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", made)


def test_a_page_loads_and_runs_nothing() -> None:
    """A page has no script, no handler and no address outside of itself, whatever a server said."""
    page = Elements()
    page.feed(render("html", BAD))
    assert not page.names & {"script", "img", "iframe", "object", "form", "base"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "style")]
    assert all(value.startswith(("#", "data:,")) for name, value in page.attributes if name == "href")
    assert any("default-src 'none'" in value for _, value in page.attributes)


def test_junit_is_read_by_others() -> None:
    """junitparser finds every scenario, check and the gate, with what failed."""
    good, bad = (JUnitXml.fromstring(render("junit", told).encode()) for told in (GOOD, BAD))
    assert {suite.name: (suite.tests, suite.failures) for suite in good} == {
        "scenarios": (2, 0),
        "checks": (1, 0),
        "gate": (1, 0),
    }
    assert {suite.name: suite.failures for suite in bad} == {"scenarios": 1, "checks": 1, "gate": 1}
    assert fromstring(render("junit", BAD)).tag == "testsuites"  # noqa: S314 - we wrote it


def test_a_har_has_a_page_for_each_scenario_on_each_side() -> None:
    """Requests are entries with query, cookies and body; programs are only counted."""
    log = json.loads(render("har", BAD))["log"]
    assert len(log["pages"]) == 6
    assert len(log["entries"]) == 4
    assert "2 steps ran a program" in log["comment"]
    first = log["entries"][0]
    assert first["pageref"] == "change-1"
    assert first["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": " "}]
    assert first["request"]["cookies"] == [{"name": "a", "value": "b"}]
    assert first["response"]["cookies"][0] == {"name": "sid", "value": "1", "path": "/", "httpOnly": True}


def test_sarif_has_a_text_and_a_rule_for_every_finding() -> None:
    """Regressions, red checks, control files and other reasons are findings; a good run has none."""
    (run,) = json.loads(render("sarif", BAD))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert {result["ruleId"] for result in run["results"]} == {"HX001", "HX005", "HX006", "HX008"}
    assert all(result["message"]["text"] for result in run["results"])
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert json.loads(render("sarif", GOOD))["runs"][0]["results"] == []


def test_annotations_cannot_be_made_up() -> None:
    """Each line is a command of ours, and a line break of a server's does not begin another."""
    lines = render("annotations", BAD).splitlines()
    assert all(re.match("::(error|warning|notice) title=[^:]*::", line) for line in lines)
    assert len(lines) == 5


def test_markdown_says_the_verdict_first_and_mentions_nobody() -> None:
    """The first line is the verdict; texts of a server are neither markup nor mentions."""
    made = render("markdown", BAD)
    assert made.startswith("### ❌ Refused, for 2 reasons")
    outside = re.sub(r"(`+).*?\1", "", made, flags=re.S)
    assert "@all" not in outside
    assert "<img" not in outside


def test_a_table_is_as_narrow_as_the_terminal() -> None:
    """Long names are wrapped, wide letters counted as two, and colours only where wanted."""
    findings = BAD.evidence.findings
    narrow = table.scenario_table(findings, table.Screen(80))
    assert max(map(table.columns, narrow.splitlines())) <= 80
    assert "\x1b[" not in narrow
    assert "\x1b[1;31mregresses" in table.scenario_table(findings, table.Screen(80, colour=True))
    assert table.columns("日本") == 4
    assert HOSTILE not in narrow


KEPT = replace(HARM, finding=replace(HARM.finding, name="kept", source=PREDEFINED, meaning=Meaning.MISSING))


def test_a_kept_scenario_that_fails_on_both_sides_fails_no_build() -> None:
    """The change was accepted: JUnit skips the scenario, and there is no error in annotations and SARIF."""
    told = account(PROOF, KEPT)
    junit = JUnitXml.fromstring(render("junit", told).encode())
    assert sum(suite.failures for suite in junit) == 0
    assert sum(suite.skipped for suite in junit) == 1
    assert "::error" not in re.sub(r"(?m)^::(warning|notice).*", "", render("annotations", told))
    assert "kept scenario kept says nothing here" in visible(render("annotations", told))
    assert json.loads(render("sarif", told))["runs"][0]["results"] == []


def test_a_reason_is_told_though_the_name_of_a_scenario_stands_in_it() -> None:
    """A failing scenario that is called `test` hides what is said of the check test."""
    failing = replace(HARM, finding=replace(HARM.finding, name="test", reason="it is gone"))
    reasons = ("test passed on base and fails now: it is gone", "the check test got worse: a is new")
    told = account(failing, reasons=reasons)
    assert [line for line in render("annotations", told).splitlines() if "title=refused" in line] == [
        "::error title=refused::the check test got worse: a is new"
    ]
    results = json.loads(render("sarif", told))["runs"][0]["results"]
    assert [one["message"]["text"] for one in results if one["ruleId"] == "HX008"] == [reasons[1]]
