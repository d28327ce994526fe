"""What is begun before the rest of the program is loaded."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness_executor.cli.beginning import begin
from harness_executor.errors import RepositoryError, UsageError

LATER = ("pydantic", "httpx2", "yaml", "harness_executor.kernel.events", "harness_executor.evidence")


def _options(repo: Path, sandbox: str = "") -> argparse.Namespace:
    return argparse.Namespace(repo=repo, sandbox=sandbox)


def test_the_box_is_tried_while_the_caller_goes_on(sample: Path) -> None:
    """The project is found at once, and the trial has its outcome when it is asked for."""
    with begin(_options(sample)) as beginning:
        assert beginning.repository.root == sample
        assert beginning.trial.result().kind == "bubblewrap"


def test_the_box_that_was_asked_for_is_taken(sample: Path) -> None:
    """The command line says which box, as everywhere."""
    with begin(_options(sample, "none")) as beginning:
        assert beginning.settings.sandbox == "none"
        assert beginning.trial.result().kind == "none"


def test_a_folder_without_a_repository_is_refused_at_once(tmp_path: Path) -> None:
    """Nothing is tried for what cannot be verified."""
    with pytest.raises(RepositoryError, match="not in a git repository"), begin(_options(tmp_path)):
        pass


def test_links_in_place_of_the_state_are_refused_at_once(sample: Path, tmp_path: Path) -> None:
    """Settings are not read through a link that a repository brings."""
    shutil.rmtree(sample / "harness", ignore_errors=True)
    (sample / "harness").symlink_to(tmp_path)
    with pytest.raises(UsageError), begin(_options(sample)):
        pass


def test_the_heavy_part_is_loaded_after_the_trial_began() -> None:
    """What `harness verify` needs for the trial loads no model of the data, no HTTP and no YAML."""
    words = (
        f"import sys, harness_executor.cli.verify\nprint([name for name in {LATER} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
