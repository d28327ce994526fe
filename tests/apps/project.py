"""A sample project: what it was, what it became, and what may go wrong with it."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.apps.installing import APPS, install
from tests.conftest import Cli, Ran, commit_all, git


@dataclass(frozen=True)
class App:
    """One folder under tests/apps."""

    name: str
    found: dict[str, Any]
    """What `harness init` must find out."""
    broken: list[dict[str, Any]]
    """Changes that look like the feature and are not."""

    @property
    def folder(self) -> Path:
        """Where its files are kept."""
        return APPS / self.name

    @property
    def scenarios(self) -> Path:
        """What its feature promises."""
        return self.folder / "scenarios.yaml"


@dataclass(frozen=True)
class Checkout:
    """An app as somebody has it: a repository with one commit, and its packages beside it."""

    app: App
    root: Path

    def become_feature(self) -> None:
        """Make the change, without committing it."""
        shutil.copytree(self.app.folder / "feature", self.root, dirs_exist_ok=True)

    def revert(self) -> None:
        """Take the change back, and leave only words about it."""
        git(self.root, "checkout", "-q", "--", ".")
        git(self.root, "clean", "-q", "-d", "-f")
        with (self.root / "README.md").open("a", encoding="utf-8") as page:
            page.write("\nThe feature is done.\n")

    def break_it(self, variant: dict[str, Any]) -> None:
        """Make the change with a fault in it."""
        self.revert()
        self.become_feature()
        if "remove" in variant:
            (self.root / variant["remove"]).unlink()
        for edit in variant.get("edits") or ([variant] if "file" in variant else []):
            path = self.root / edit["file"]
            before = path.read_text(encoding="utf-8")
            after = before.replace(edit["old"], edit["new"])
            assert after != before, f"{edit['old']!r} is not in {edit['file']}"
            path.write_text(after, encoding="utf-8")

    def verify(self, cli: Cli) -> Ran:
        """`harness verify` on the working tree, with nothing but the scenarios."""
        return cli("verify", "--base", "HEAD", "--scenarios", self.app.scenarios, cwd=self.root)


def apps() -> Iterator[App]:
    """Every project, by name."""
    for path in sorted(APPS.glob("*/app.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        yield App(path.parent.name, data["init"], data["broken"])


def check_out(app: App, place: Path) -> Checkout:
    """Make a repository of a project's base, with its packages installed."""
    root = place / app.name.replace("_", "-")
    shutil.copytree(app.folder / "base", root)
    git(root, "init", "-q", "-b", "main", ".")
    commit_all(root, "Start")
    install(app.name, root)
    assert git(root, "status", "--porcelain") == "", "installing left something behind"
    return Checkout(app, root)
