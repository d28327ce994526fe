"""Verdicts over a server that is never twice the same."""

from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.noise.project import CHANGES, SCENARIOS, START, Change, make_project

TIMES = 3
"""`make noise` does a hundred."""


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_noise_changes_no_verdict(change: Change, tmp_path: Path, cli: Cli) -> None:
    """Random ids, times, orders, waits and failures decide nothing: the same change is judged the same."""
    root = make_project(tmp_path / "notes", change)
    for _ in range(TIMES):
        ran = cli("verify", "--base", "HEAD", "--scenarios", SCENARIOS, "--start", START, cwd=root)
        assert ran.code == (0 if change.is_honest else 4), ran.out + ran.err
