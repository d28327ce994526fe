"""Validate: build, lint and tests of the project, on base and change."""

from collections.abc import Iterator

from harness_executor.kernel.events import Fact, Validated
from harness_executor.kernel.task import Task
from harness_executor.steps.means import Means
from harness_executor.workspace.checks import SETUP, compare_checks


def run(task: Task, means: Means) -> Iterator[Fact]:
    """Run every check of the project on fresh copies of both trees."""
    project = means.project(task)
    if not project.checks:
        yield Validated(task.tree, ())
        return
    place = means.desk.path / "validate"
    base, change = (
        means.desk.room(means.desk.export(tree, place / name), old=task.base_tree, new=task.tree)
        for name, tree in (("base", task.base_tree), ("change", task.tree))
    )
    checks = {**({SETUP: " && ".join(project.setup)} if project.setup else {}), **project.checks}
    means.notify(f"running {', '.join(checks)} on base and change")
    yield Validated(task.tree, compare_checks(checks, base, change, means.sandbox))
