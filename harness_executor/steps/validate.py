"""Validate: build, lint and tests of the project, on base and change."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from harness_executor.clock import Clock
from harness_executor.evidence.preparation import Crew, Workshop
from harness_executor.evidence.supplying import Supplies, obtainable
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.events import Fact, Validated
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Side
from harness_executor.kernel.task import Task
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.checks import BUILD, TEST, Checking, MakeRoom, Sides, compare_checks
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Project
from harness_executor.workspace.testing.pristine import RULES, pristine_tree

if TYPE_CHECKING:
    from harness_executor.steps.means import Means


@frozen
class Inspection:
    """Two trees whose checks are to be compared, and what that takes."""

    desk: Desk
    sandbox: Sandbox
    clock: Clock
    base_tree: str
    tree: str
    notify: Callable[[str], None]
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Where the user has services, by their names; others are thrown away."""

    def supplies(self, project: Project) -> Supplies:
        """What copies of both sides find, as the project says it."""
        start = replace(project.ground, env={**project.ground.env, **project.own_env})
        found, lacking = obtainable(start.services, self.desk.repository.root, self.addresses)
        crew = Crew(self.sandbox, self.clock, start, self.desk.path / "validate", found)
        trees = {Side.BASE: self.base_tree, Side.CHANGE: self.tree}
        workshop = Workshop(self.desk, crew, self.notify)
        return Supplies(workshop, trees, project.check_env, project.own_env, lacking)

    def sides(self, supplies: Supplies, checks: Mapping[str, str]) -> Sides:
        """Where fresh copies of both sides come from, and of the change with what base holds."""
        test = checks.get(TEST, "")
        code = "\n".join(text for name, text in checks.items() if name not in (BUILD, TEST))
        copies = partial(self._copies, supplies)
        base, change = copies(Side.BASE, self.base_tree), copies(Side.CHANGE, self.tree)
        mixed = pristine_tree(self.desk, self.base_tree, self.tree, test)
        ruled = pristine_tree(self.desk, self.base_tree, self.tree, code, RULES)
        own = (copies(Side.CHANGE, tree) if tree != self.tree else None for tree in (mixed, ruled))
        return Sides(base, change, *own)

    def _copies(self, supplies: Supplies, side: Side, tree: str) -> MakeRoom:
        def make(name: str) -> Room:
            return supplies.copy(side, tree, self.desk.path / "validate" / name)

        return make


def run(task: Task, means: "Means") -> Iterator[Fact]:
    """Run every check of the project on fresh copies of both trees."""
    project = means.project(task)
    where = (means.desk, means.sandbox, means.clock)
    trees = (task.base_tree, task.tree)
    inspection = Inspection(*where, *trees, means.notify, means.settings.addresses)
    yield Validated(task.tree, inspect(inspection, project, project.checks))


def inspect(inspection: Inspection, project: Project, names: Iterable[str]) -> tuple[CheckResult, ...]:
    """These checks of a project, compared with base, and how getting ready for them went."""
    chosen = {name: command for name, command in project.checks.items() if name in set(names)}
    if not chosen:
        return ()
    supplies = inspection.supplies(project)
    if supplies.workshop.crew.has_steps:
        inspection.notify("getting base and change ready for the checks")
    supplies.get_ready()
    inspection.notify(f"running {', '.join(chosen)} on base and change")
    how = (supplies.beside, project.test_report, inspection.notify, supplies.is_shared)
    results = compare_checks(Checking(chosen, inspection.sandbox, *how), inspection.sides(supplies, chosen))
    return (*supplies.results(), *results)
