"""Reports that the next call would write over."""

import time
from pathlib import Path

from harness_executor.workspace.testing.gathering import gathered


def wait_gone(path: Path) -> None:
    """Until somebody took a file away."""
    end = time.monotonic() + 30
    while path.exists():
        assert time.monotonic() < end, f"{path} stayed"
        time.sleep(0.01)


def test_every_report_gets_a_name_of_its_own(tmp_path: Path) -> None:
    """What was written under one name, again and again, is all there."""
    report = tmp_path / "report.xml"
    with gathered(tmp_path, "report.xml"):
        for text in ("one", "two"):
            report.write_text(text)
            wait_gone(report)
    assert {path.read_text() for path in tmp_path.iterdir()} == {"one", "two"}


def test_a_link_in_the_place_of_the_folder_leads_nowhere(tmp_path: Path) -> None:
    """Files elsewhere keep their names, whatever a program puts where its reports should be."""
    folder, elsewhere = tmp_path / "reports", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "report.xml").write_text("mine")
    with gathered(folder, "report.xml"):
        folder.rename(tmp_path / "moved")
        folder.symlink_to(elsewhere)
        (tmp_path / "moved" / "report.xml").write_text("one")
        wait_gone(tmp_path / "moved" / "report.xml")
    assert (elsewhere / "report.xml").read_text() == "mine"
