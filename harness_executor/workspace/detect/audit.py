"""How ready a project is for the harness, as a score and what is missing."""

from dataclasses import field
from pathlib import Path
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.project import PLACES, as_project, environment_file, load
from harness_executor.workspace.sections import section

_ENOUGH = 50


@frozen
class Audit:
    """What a project has, in points of a hundred."""

    score: int
    components: dict[str, bool] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()

    @property
    def has_harness(self) -> bool:
        """Does the project say how it is started and checked?"""
        return self.components["environment.json"]

    def plain(self) -> dict[str, Any]:
        """For programs."""
        return {
            "has_harness": self.has_harness,
            "score": self.score,
            "components": self.components,
            "missing": list(self.missing),
            "recommendations": list(self.recommendations),
            "bootstrap_needed": not self.has_harness or self.score < _ENOUGH,
        }


_PARTS = {
    "environment.json": (25, "`harness init`"),
    "start command or no server": (15, "`harness init`, or startup.command in environment.json"),
    "start confirmed": (10, "`harness init` where the packages are installed"),
    "AGENTS.md": (15, "`harness init`"),
    "AGENTS.md of 40 to 150 lines": (5, "keep AGENTS.md a map: what is where, and which commands there are"),
    "docs/ARCHITECTURE.md": (8, "`harness init`"),
    "docs/DEVELOPMENT.md": (7, "`harness init`"),
    "test command": (7, "runtime.test_command in environment.json"),
    "lint or typecheck command": (3, "runtime.lint_command in environment.json"),
    "scenarios": (5, "keep scenario files in harness/scenarios/"),
}
"""Each component with its points, and what brings it about."""


def audit(root: Path) -> Audit:
    """Look at what a project has."""
    has = {**_environment(root), **_documents(root)}
    components = {name: has.get(name, False) for name in _PARTS}
    missing = tuple(name for name, there in components.items() if not there)
    return Audit(
        sum(points for name, (points, _) in _PARTS.items() if components[name]),
        components,
        missing,
        tuple(dict.fromkeys(f"{name}: {_PARTS[name][1]}" for name in missing)),
    )


def _environment(root: Path) -> dict[str, bool]:
    path = environment_file(root)
    if path is None:
        return {}
    try:
        data = load(path)
        project = as_project(data, path)
    except UsageError:
        return {}
    kind = section(data, "project").get("type")
    starts = project.start is not None
    return {
        "environment.json": True,
        "start command or no server": starts or kind in ("cli", "library"),
        "start confirmed": not starts or section(data, "_meta").get("confirmed") is not False,
        "test command": "test" in project.checks,
        "lint or typecheck command": bool({"lint", "typecheck"} & set(project.checks)),
    }


def _documents(root: Path) -> dict[str, bool]:
    agents = root / "AGENTS.md"
    lines = len(agents.read_bytes()[:200_000].splitlines()) if agents.is_file() else 0
    scenarios = [folder / "scenarios" for folder in {(root / place).parent for place in PLACES}]
    return {
        "AGENTS.md": lines > 0,
        "AGENTS.md of 40 to 150 lines": 40 <= lines <= 150,
        "docs/ARCHITECTURE.md": (root / "docs" / "ARCHITECTURE.md").is_file(),
        "docs/DEVELOPMENT.md": (root / "docs" / "DEVELOPMENT.md").is_file(),
        "scenarios": any(folder.is_dir() and any(folder.iterdir()) for folder in scenarios),
    }
