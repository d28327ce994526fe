"""Reports as the programs of others read them: a validator, Playwright, Chromium and the SARIF multitool."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness_executor.evidence.rendering.formats import rendered
from tests.evidence.accounts import BAD, GOOD
from tests.readers import LISTED, MULTITOOL, modules


def _damaged(report: str, *path: str | int) -> str:
    """The same report without one of its fields."""
    whole = json.loads(report)
    owner = whole
    for step in path[:-1]:
        owner = owner[step]
    del owner[path[-1]]
    return json.dumps(whole)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reports of a good and a hostile verification, and damaged ones."""
    folder = tmp_path_factory.mktemp("reports")
    for form in ("har", "html", "sarif"):
        for name, told in (("good", GOOD), ("bad", BAD)):
            (folder / f"{name}.{form}").write_text(rendered(form, told))
    har, sarif = ((folder / f"bad.{form}").read_text() for form in ("har", "sarif"))
    (folder / "damaged.har").write_text(_damaged(har, "log", "entries", 0, "response", "status"))
    (folder / "damaged.sarif").write_text(_damaged(sarif, "runs", 0, "results", 1, "message"))
    return folder


@pytest.fixture(scope="module")
def found(reports: Path) -> Any:
    """What Node's readers and the browser found."""
    words = ["node", str(LISTED / "read.mjs"), str(modules()), str(reports)]
    own = {**os.environ, "HOME": str(reports), "HTTPS_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(words, env=own, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_har_is_valid(found: Any) -> None:
    """har-validator takes both, and refuses one without a status."""
    assert found["har"]["good"] == found["har"]["bad"] == []
    assert found["har"]["damaged"] == ["should have required property 'status'"]


def test_a_har_is_replayed(found: Any) -> None:
    """Playwright answers a recorded request as the change did, and aborts one that was never recorded."""
    assert found["replayed"]["known"] == {"status": 200, "body": '{"total": 2, "open": 1}'}
    assert "net::ERR_" in found["replayed"]["unknown"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["good.html", "bad.html"])
def test_a_page_is_shown_and_does_nothing(found: Any, name: str, scheme: str) -> None:
    """Chromium asks for the page alone, hears nothing from it, and shows it without a bar to the right."""
    page = found["pages"][f"{name} {scheme}"]
    assert [url.rpartition("/")[2] for url in page["requests"]] == [name]
    assert page["said"] == []
    assert page["active"] == 0
    assert page["wide"] <= 0


def test_a_page_says_what_matters(found: Any) -> None:
    """The verdict, the scenarios and what a hostile server said are visible, as text."""
    good, bad = (found["pages"][f"{name}.html light"]["text"] for name in ("good", "bad"))
    assert "Accepted: the change does what the scenarios say" in good
    assert "Refused" in bad
    assert "the proof is too weak" in bad
    assert "<img src=x onerror=alert(1)>" in bad
    assert "standard output: the same before and after" in good
    assert "`tool -v`" not in good
    for text in (good, bad):
        assert "stats" in text
        assert '"total"' in text


def test_a_page_follows_light_and_dark(found: Any) -> None:
    """The background is bright in the light and dim in the dark."""
    for name in ("good.html", "bad.html"):
        light, dark = (_brightness(found["pages"][f"{name} {scheme}"]) for scheme in ("light", "dark"))
        assert light > 600
        assert dark < 150


def _brightness(page: Any) -> int:
    return sum(map(int, page["background"].removeprefix("rgb(").removesuffix(")").split(",")))


def test_sarif_follows_its_schema(found: Any) -> None:
    """The published schema holds for both, and not for a finding without a message."""
    assert found["sarif"]["good.sarif"] == found["sarif"]["bad.sarif"] == []
    assert found["sarif"]["damaged.sarif"] == ["should have required property 'message'"]


def _said(path: Path) -> str:
    """What the multitool says; it ends with 0 whatever it found."""
    assert MULTITOOL.is_file(), "run `make apps` first: it fetches what reads our reports"
    words = [str(MULTITOOL), "validate", str(path), "--level", "Error;Warning;Note", "--rule-kind", "Sarif"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert "1 files scanned" in done.stdout, done.stdout + done.stderr
    return done.stdout


def test_sarif_is_taken_by_the_multitool(reports: Path) -> None:
    """The findings of a refused run are read without an error or a warning; a damaged file is not."""
    taken = _said(reports / "bad.sarif")
    assert "runs[0].results[3]" in taken
    assert ": error " not in taken
    assert ": warning " not in taken
    assert ": error JSON1002: runs[0].results[1]: The required property 'message'" in _said(
        reports / "damaged.sarif"
    )
