"""A real repository with a real server, and the commands of the harness on it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.claims.app import APP, COUNT, ROUTES, WEB, environment
from tests.claims.asking import COUNTS, REQUEST, Data
from tests.claims.case import Outcome

UNBOXED = ("--base", "HEAD", "--sandbox", "none")
"""What a change is compared with, and that nothing keeps its servers from the rest of the machine."""

_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass(frozen=True)
class Project:
    """A project in a folder of its own."""

    place: Path
    """What lies beside the repository: scenarios and scripts."""
    name: str = "project"

    @property
    def root(self) -> Path:
        """The repository."""
        return self.place / self.name

    @property
    def state(self) -> Path:
        """The folder the harness keeps its state in."""
        return self.root / "harness"

    @property
    def report(self) -> Path:
        """Where readers look for the report."""
        return self.state / "trace" / "verification-report.json"

    def log(self, task_id: str) -> Path:
        """The event log of a task."""
        return self.state / "tasks" / task_id / "events.jsonl"

    def write(self, name: str, text: str) -> None:
        """Put a file into the working tree."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def append(self, text: str, name: str = "routes.py") -> None:
        """Add to a file of the working tree; the text may stand indented."""
        self.write(name, (self.root / name).read_text(encoding="utf-8") + dedent(text))

    def swap(self, old: str, new: str, name: str = "routes.py") -> None:
        """Replace a text in a file of the working tree."""
        text = (self.root / name).read_text(encoding="utf-8")
        if old not in text:
            raise ValueError(f"{old!r} is not in {name}")
        self.write(name, text.replace(old, new))

    def git(self, *words: str) -> str:
        """Plain git, as a user has it."""
        done = subprocess.run(
            ["git", "-C", str(self.root), *words],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **_GIT},
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        """Commit the working tree; gives the commit."""
        self.git("add", "--all")
        self.git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def outcome(self, *words: str, **environment: str) -> Outcome:
        """What `harness …` answered, in a process of its own: accepted is exit 0, and nothing else."""
        done = subprocess.run(
            [sys.executable, "-m", "harness_executor", *words],
            cwd=self.root,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Outcome(done.returncode == 0, done.stdout + done.stderr, done.returncode)

    def verify(self, *scenarios: Data, words: Iterable[str] = ("--base", "HEAD")) -> Outcome:
        """`harness verify` with these scenarios."""
        path = self.place / "scenarios.json"
        path.write_text(json.dumps(list(scenarios)), encoding="utf-8")
        return self.outcome("verify", "--scenarios", str(path), *words)

    def open_task(self, name: str = "count the items", *words: str) -> str:
        """`task-state init`; gives the id."""
        opened = self.outcome("task-state", "init", name, *words)
        if not opened.accepted:
            raise RuntimeError(opened.said)
        return opened.said.strip()

    def complete(self, *words: str) -> Outcome:
        """`task-state complete`."""
        return self.outcome("task-state", "complete", "--summary", "done", *words)

    def run(self, model: str, *words: str, **environment: str) -> Outcome:
        """`harness run` with a model, and one try."""
        self.write("harness/config.toml", "[caps]\nself_fix = 0\nvalidation = 0\nverification = 0\n")
        return self.outcome("run", REQUEST, "--model", model, *words, **environment)

    def run_scripted(self, script: Any, *words: str) -> Outcome:
        """The same with a model that says what the script says."""
        path = self.place / "script.json"
        path.write_text(json.dumps(script), encoding="utf-8")
        return self.run(f"scripted:{path}", *words)


def make_project(place: Path, files: Mapping[str, str] | None = None, name: str = "project") -> Project:
    """A repository with one commit of the app; `files` replaces some, and an empty one is left out."""
    project = Project(place, name)
    texts = {"web.py": WEB, "app.py": APP, "routes.py": ROUTES, "harness/environment.json": environment()}
    for path, text in {**texts, **(files or {})}.items():
        if text:
            project.write(path, text)
    project.git("init", "--quiet", "--initial-branch=main")
    project.commit("A list of items")
    return project


def verified_task(place: Path, name: str = "project") -> tuple[Project, str]:
    """A project whose change was honestly verified for an open task."""
    project = make_project(place, name=name)
    task_id = project.open_task()
    project.append(COUNT)
    proved = project.verify(COUNTS, words=())
    if not proved.accepted:
        raise RuntimeError(proved.said)
    return project, task_id
