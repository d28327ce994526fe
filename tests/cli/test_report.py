"""`harness report` and `harness verify --report`, on a verification through the command line."""

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from junitparser import JUnitXml

from harness_executor.evidence.rendering.formats import FORMATS
from tests.cli.proved import Proved, flip, prove
from tests.conftest import Cli

BEGINS = {
    "table": "| scenario",
    "markdown": "### ✅ Accepted",
    "html": "<!doctype html>",
    "har": "{",
    "junit": "<?xml",
    "sarif": "{",
    "github": "### ✅ Accepted",
    "annotations": "::warning title=caution::",
    "json": "{",
}


@pytest.fixture
def proved(sample: Path, cli: Cli) -> Proved:
    """The sample with a change that was verified, and the reports that were asked for at once."""
    return prove(sample, cli, "--report", "html=../now.html", "--report", "junit=../now.xml")


def test_reports_are_written_while_verifying(proved: Proved) -> None:
    """Each report that was asked for lies where it was wanted, and says what was proved."""
    page = (proved.repo.parent / "now.html").read_text()
    assert "Accepted: the change does what the scenarios say" in page
    assert proved.scenario in page
    assert "change started with `" in page
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(proved.repo.parent / "now.xml"))}
    assert suites["gate"].failures == 0
    assert proved.scenario in {case.name for case in suites["scenarios"]}


def test_every_form_can_be_had_later(proved: Proved, cli: Cli) -> None:
    """Each form is printed or written to a file, alike, and begins as it should."""
    assert set(BEGINS) == set(FORMATS)
    for name, beginning in BEGINS.items():
        printed = cli("report", "--format", name, cwd=proved.repo)
        assert printed.code == 0, printed.err
        assert printed.out.lower().startswith(beginning.lower()), name
    written = cli("report", proved.run_id[:8], "--format", "json", "-o", "../later", cwd=proved.repo)
    assert written.code == 0, written.err
    assert (proved.repo.parent / "later").read_text() == printed.out


def test_what_programs_read_is_whole(proved: Proved, cli: Cli) -> None:
    """JSON, HAR and SARIF parse, with the run and its requests; JUnit is XML."""
    told = {name: cli("report", "--format", name, cwd=proved.repo).out for name in ("json", "har", "sarif")}
    assert proved.run_id in told["json"]
    entries = json.loads(told["har"])["log"]["entries"]
    assert {entry["response"]["status"] for entry in entries} >= {200, 404}
    assert json.loads(told["sarif"])["runs"][0]["results"] == []
    assert fromstring(cli("report", "--format", "junit", cwd=proved.repo).out).tag == "testsuites"  # noqa: S314 - we wrote it


def test_a_record_that_was_altered_is_not_shown(proved: Proved, cli: Cli) -> None:
    """One flipped bit in any file of the evidence ends with code 4 and the name of the file."""
    for path in proved.files():
        whole = flip(path)
        ran = cli("report", cwd=proved.repo)
        assert ran.code == 4, path
        assert path.name in ran.err
        assert "altered" in ran.err
        path.write_bytes(whole)
    assert cli("report", cwd=proved.repo).code == 0


def test_what_was_never_recorded_is_said(sample: Path, proved: Proved, cli: Cli) -> None:
    """An unknown run, an unknown form and a report without a place are each refused with what to do."""
    unknown = cli("report", "ffff0000", cwd=sample)
    assert unknown.code == 2
    assert "no verification of 'ffff0000' was recorded" in unknown.err
    assert cli("report", "--format", "pdf", cwd=sample).code == 2
    words = ("--scenarios", proved.repo.parent / "stats.yaml", "--report", "html")
    placeless = cli("verify", *words, cwd=sample)
    assert placeless.code == 2
    assert "FORMAT=FILE" in placeless.err
