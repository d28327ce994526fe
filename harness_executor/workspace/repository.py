"""The user's repository: read it, add commits on a branch of ours, leave the rest alone."""

import re
from pathlib import Path

from harness_executor import faults
from harness_executor.errors import RepositoryError
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.git import Git, user_git

_HEAD = "HEAD^{commit}"
_ABOUT = (
    *(_HEAD, "--show-toplevel", _HEAD, "--git-path", "objects"),
    *(_HEAD, "--git-common-dir", _HEAD, "--show-object-format"),
)
"""What is asked of a repository in one go; each answer follows a commit, since it may have several lines."""
_ANSWERS = 4


@frozen
class Repository:
    """A repository with at least one commit and a working tree."""

    root: Path
    git_dir: Path
    objects: Path
    object_format: str
    git: Git

    def resolve(self, ref: str) -> str:
        """The commit a name stands for."""
        if ref.startswith("-"):
            raise RepositoryError(f"{ref!r} is not a commit", hint="name a branch, a tag or a commit")
        found = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if found is None:
            raise RepositoryError(
                f"{ref!r} is not a commit of {self.root}", hint="`git log --oneline` lists commits"
            )
        return found

    def tree_of(self, commit: str) -> str:
        """The tree of a commit."""
        return self._text("rev-parse", "--verify", f"{commit}^{{tree}}")

    def tip(self, branch: str) -> str | None:
        """The commit of a branch, if there is one."""
        return self._ask("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")

    def move_branch(self, branch: str, new: str, old: str | None) -> None:
        """Point a branch of ours at a commit, if it still is where we left it."""
        if self.tip(branch) == new:
            return
        expected = old if old is not None else "0" * len(new)
        self._text("update-ref", "--no-deref", f"refs/heads/{branch}", new, expected)
        faults.point("git.branch.moved")

    def check_branch(self, branch: str) -> None:
        """Refuse early when a branch of ours cannot be made."""
        parent = branch.split("/", 1)[0]
        if self.tip(parent) is not None:
            raise RepositoryError(
                f"the branch {parent!r} exists, so {branch!r} cannot be made",
                hint=f"rename it: `git branch -m {parent} {parent}-old`",
            )

    def author(self) -> tuple[str, str]:
        """The user's name and address as this repository has them."""
        name = self.setting("user.name") or "harness-executor"
        address = self.setting("user.email") or "harness-executor@localhost"
        return name, address

    def setting(self, key: str) -> str | None:
        """A setting as this repository has it."""
        return self._ask("config", "--get", key)

    def settings(self, keys: tuple[str, ...]) -> dict[str, str]:
        """Those of some settings that this repository has."""
        known = {key.lower(): key for key in keys}
        names = "|".join(map(re.escape, known))
        found = self._ask("config", "--null", "--get-regexp", f"^({names})$") or ""
        pairs = [line.partition("\n") for line in found.split("\0") if line]
        return {known[name]: value if given else "true" for name, given, value in pairs}

    def excludes(self) -> str:
        """Patterns the user keeps out of git without telling the project."""
        path = self.git_dir / "info" / "exclude"
        return path.read_text(errors="replace") if path.is_file() else ""

    def ignores(self, place: Path) -> bool:
        """Does git pass over a file in this place?"""
        return self._ask("check-ignore", "--quiet", "--", str(place)) is not None

    def left_out(self) -> frozenset[str]:
        """Files that a sparse checkout keeps out of the working tree."""
        if self._ask("config", "--type=bool", "--get", "core.sparseCheckout") != "true":
            return frozenset()
        listed = self._text("ls-files", "-t", "-z").split("\0")
        return frozenset(line[2:] for line in listed if line.startswith("S "))

    def tracked(self) -> tuple[str, ...]:
        """The files that are staged or committed, but for submodules."""
        lines = self._text("ls-files", "--stage", "-z").split("\0")
        parted = (line.partition("\t") for line in lines if not line.startswith("160000 "))
        return tuple(dict.fromkeys(name for _, _, name in parted if name))

    def submodule_at(self, place: str) -> str | None:
        """The commit a submodule stands at, if it is filled in."""
        inside = self.root / place / ".git"
        if not inside.exists():
            return None
        return self.git.ask(f"--git-dir={inside}", "rev-parse", "--verify", "--quiet", "HEAD")

    def _ask(self, *arguments: str) -> str | None:
        return self.git.ask("-C", str(self.root), *arguments)

    def _text(self, *arguments: str) -> str:
        return self.git.text("-C", str(self.root), *arguments)


def _project_of(place: Path) -> Path:
    """The folder that a place belongs to, found without git: no program of it may be taken for git."""
    return next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), place)


def open_repository(path: Path) -> Repository:
    """The repository a path lies in; what cannot work yet is refused with a hint."""
    start = path.resolve()
    if not start.is_dir():
        raise RepositoryError(f"{path} is not a folder", hint="name the project with --repo")
    git = user_git(_project_of(start))
    commit, _, text = (git.ask("-C", str(start), "rev-parse", *_ABOUT) or "").partition("\n")
    said = text.split(f"\n{commit}\n")
    if len(said) != _ANSWERS or not start.is_relative_to(said[0]):
        raise _unfit(git, path, start)
    top, objects, common, kind = said
    return Repository(Path(top), _absolute(start, common), _absolute(start, objects), kind, git)


def _unfit(git: Git, path: Path, start: Path) -> RepositoryError:
    """Why a folder is in no repository that can be worked on."""
    if git.ask("-C", str(start), "rev-parse", "--is-bare-repository") == "true":
        return RepositoryError(f"{path} is a bare repository", hint="clone it and run in the clone")
    top = git.ask("-C", str(start), "rev-parse", "--show-toplevel")
    if not top:
        return RepositoryError(
            f"{path} is not in a git repository", hint="`git init`, then commit what is there"
        )
    if not start.is_relative_to(top):
        return RepositoryError(
            f"the settings of {path} name {top} as its working tree",
            hint="`git config --unset core.worktree`",
        )
    return RepositoryError(
        f"{top} has no commit yet", hint="`git add -A && git commit -m start`, then try again"
    )


def _absolute(root: Path, text: str) -> Path:
    path = Path(text)
    return path if path.is_absolute() else (root / path).resolve()
