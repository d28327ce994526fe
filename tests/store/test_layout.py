"""Where everything of a project's harness lives."""

import subprocess
import time
from pathlib import Path

import pytest

from harness_executor.errors import UsageError
from harness_executor.store.layout import Layout


def make_task(layout: Layout, task_id: str) -> None:
    """A task with a log."""
    folder = layout.task(task_id)
    folder.path.mkdir(parents=True)
    folder.log.write_text("{}\n")


def test_everything_has_its_place(tmp_path: Path) -> None:
    """The names others rely on."""
    layout = Layout(tmp_path)
    task = layout.task("count-items")
    assert {
        path.relative_to(tmp_path).as_posix()
        for path in (task.log, task.lock, task.holder, task.state, task.checkpoints, task.evidence)
    } == {
        f"harness/tasks/count-items/{name}"
        for name in ("events.jsonl", ".lock", ".holder", "state", "checkpoints", "evidence")
    }
    assert layout.report == tmp_path / "harness" / "trace" / "verification-report.json"
    assert layout.runs == tmp_path / "harness" / "trace" / "runs"
    assert layout.failures == tmp_path / "harness" / "trace" / "failures"
    assert layout.episodes == tmp_path / "harness" / "memory" / "episodes"
    assert layout.current == tmp_path / "harness" / "tasks" / "current"


def test_a_hidden_harness_folder_is_used_where_there_is_one(tmp_path: Path) -> None:
    """A project that already has .harness keeps it."""
    assert Layout(tmp_path).harness == tmp_path / "harness"
    (tmp_path / ".harness").mkdir()
    assert Layout(tmp_path).harness == tmp_path / ".harness"


@pytest.mark.parametrize("task_id", ["", ".", "..", "../other", "a/b", "/etc", "a\0b"])
def test_an_id_cannot_leave_the_tasks_folder(tmp_path: Path, task_id: str) -> None:
    """What is no plain name is refused."""
    with pytest.raises(UsageError, match="is not a task id"):
        Layout(tmp_path).task(task_id)


def test_lists_tasks_that_have_a_log(tmp_path: Path) -> None:
    """Links, files and folders without a log are no tasks; the one written to last comes last."""
    layout = Layout(tmp_path)
    assert layout.task_ids() == []
    for name in ("b", "a", "c"):
        make_task(layout, name)
    (layout.tasks / "empty").mkdir()
    (layout.tasks / "file").touch()
    layout.current.symlink_to("a")
    time.sleep(0.05)
    with layout.task("b").log.open("a") as log:
        log.write("{}\n")
    assert sorted(layout.task_ids()) == ["a", "b", "c"]
    assert layout.task_ids()[-1] == "b"


def test_knows_the_current_task(tmp_path: Path) -> None:
    """The link must lead to a task that is there."""
    layout = Layout(tmp_path)
    assert layout.current_id() is None
    make_task(layout, "a")
    layout.current.symlink_to("a")
    assert layout.current_id() == "a"
    layout.task("a").log.unlink()
    assert layout.current_id() is None


@pytest.mark.parametrize("target", ["..", ".", "/", "/etc/passwd", "../../x", "gone"])
def test_a_link_that_leads_elsewhere_is_no_current_task(tmp_path: Path, target: str) -> None:
    """A link somebody else made points to nothing, and breaks nothing."""
    layout = Layout(tmp_path)
    make_task(layout, "a")
    layout.current.symlink_to(target)
    assert layout.current_id() is None


def test_a_file_in_the_place_of_the_link_is_no_current_task(tmp_path: Path) -> None:
    """Only a link points."""
    layout = Layout(tmp_path)
    layout.tasks.mkdir(parents=True)
    layout.current.write_text("a")
    assert layout.current_id() is None


def test_runtime_state_is_hidden_from_git(sample: Path) -> None:
    """Preparing changes nothing the project's own git can see, and keeps what a user wrote."""
    layout = Layout(sample)
    layout.prepare()
    make_task(layout, "a")
    seen = subprocess.run(
        ["git", "-C", str(sample), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert seen.stdout == ""
    (layout.harness / ".gitignore").write_text("mine\n")
    layout.prepare()
    assert (layout.harness / ".gitignore").read_text() == "mine\n"


@pytest.mark.parametrize("place", ["harness", "harness/tasks", "harness/memory", "harness/trace"])
def test_a_state_folder_that_leads_elsewhere_is_refused(tmp_path: Path, place: str) -> None:
    """A repository cannot have state written where a link of it leads."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "project" / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link"):
        Layout(tmp_path / "project").prepare()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_ignore_file_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    """Git reads no such link either, so state would not be hidden."""
    (tmp_path / "project" / "harness").mkdir(parents=True)
    (tmp_path / "project" / "harness" / ".gitignore").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="gitignore is a link"):
        Layout(tmp_path / "project").prepare()
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("place", "is_folder"), [("harness", False), ("harness/tasks", False), ("harness/.gitignore", True)]
)
def test_state_that_cannot_be_kept_is_named(tmp_path: Path, place: str, *, is_folder: bool) -> None:
    """A file where a folder has to be, or the other way round, is said with what to do."""
    there = tmp_path / place
    there.parent.mkdir(exist_ok=True)
    there.mkdir() if is_folder else there.write_text("mine")
    with pytest.raises(UsageError, match=r"is no (file|folder)") as caught:
        Layout(tmp_path).prepare()
    assert caught.value.hint
    assert there.exists()
