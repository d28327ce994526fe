"""The demo's repository: a small to-do API with one commit."""

import shutil
from pathlib import Path

from harness_executor.workspace.git import Git, find_git

REQUEST = "add GET /todos/stats with the number of to-dos in total, open and done"

_IDENTITY = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@example.com",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@example.com",
}


def make_sample(target: Path) -> Path:
    """A fresh repository with the sample project in it."""
    shutil.copytree(Path(__file__).parent / "files", target, ignore=shutil.ignore_patterns("__pycache__"))
    git = Git(find_git(target), _IDENTITY)
    git.run("init", "--quiet", "--initial-branch=main", str(target))
    git.run("-C", str(target), "config", "user.name", "Demo")
    git.run("-C", str(target), "config", "user.email", "demo@example.com")
    git.run("-C", str(target), "add", "--all")
    git.run("-C", str(target), "commit", "--quiet", "-m", "A to-do list over HTTP")
    return target
