"""What `harness init` wrote is known again, and nothing else is."""

from pathlib import Path

from harness_executor.store.written import Written


def test_only_the_same_bytes_are_ours(tmp_path: Path) -> None:
    """A file that was edited, that is gone, or that nobody remembers is not ours."""
    written, file = Written(tmp_path / "state" / "it.json"), tmp_path / "environment.json"
    file.write_text("{}\n")
    assert not written.is_ours(file)
    written.remember("{}\n")
    assert written.is_ours(file)
    file.write_text("{ }\n")
    assert not written.is_ours(file)
    file.unlink()
    assert not written.is_ours(file)


def test_a_damaged_memory_remembers_nothing(tmp_path: Path) -> None:
    """What cannot be read is no reason to trust."""
    written, file = Written(tmp_path / "it.json"), tmp_path / "environment.json"
    file.write_text("{}")
    (tmp_path / "it.json").write_text('{"sha256": 1, "sha256": 2}')
    assert not written.is_ours(file)
