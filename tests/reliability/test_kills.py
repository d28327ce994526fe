"""A coordinator that is killed with servers up leaves nothing at all."""

from pathlib import Path

import pytest

from tests.reliability.killing import begin, kill_one


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_left_of_a_killed_coordinator(tmp_path: Path, seed: int) -> None:
    """No process, namespace, mount, port or temporary folder is left after two seconds."""
    assert kill_one(tmp_path, seed) == []


def test_what_would_be_left_is_seen(tmp_path: Path) -> None:
    """While the coordinator lives, the same look finds processes, namespaces, mounts and folders."""
    run = begin(tmp_path)
    try:
        run.wait_for_servers(4)
        found = " ".join(run.left())
        assert "mount in" in found
        assert "verify." in found
    finally:
        run.kill()
    assert len(run.below) > 8
    assert len(run.namespaces) > 8
    run.forget()
