"""Git, run so that nothing the repository brings is executed."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from harness_executor.config import program
from harness_executor.errors import RepositoryError
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.process import run

_SCRUBBED = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}

_INERT = (
    *("-c", "safe.directory=*"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.pager=cat"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
)


@frozen
class Git:
    """The git program with a fixed set of variables."""

    binary: str
    env: Mapping[str, str]
    told: dict[tuple[str | bytes, ...], bytes] = field(default_factory=dict, compare=False, repr=False)
    """What git said of objects."""

    def run(self, *arguments: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> bytes:
        """The output of a git command; a failure is an error with git's own words."""
        ended = run([self.binary, *_INERT, *arguments], env={**self.env, **(extra or {})}, stdin=stdin)
        if ended.code:
            verb = arguments[2] if arguments[0] == "-C" else arguments[0]
            raise RepositoryError(
                f"git {verb} failed: {ended.stderr or ended.code}", hint="`git fsck` may tell more"
            )
        return ended.stdout

    def once(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """The output of a command about objects named by their ids; these never change, so it is run once."""
        asked: tuple[str | bytes, ...] = (*arguments, stdin)
        if asked not in self.told:
            self.told[asked] = self.run(*arguments, stdin=stdin)
        return self.told[asked]

    def text(self, *arguments: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> str:
        """The output as one text, without the end of its line."""
        return _text(self.run(*arguments, stdin=stdin, extra=extra))

    def find(self, *arguments: str) -> bytes:
        """The output of a search, empty when git finds nothing; any other failure is an error."""
        ended = run([self.binary, *_INERT, *arguments], env=self.env)
        if ended.code not in (0, 1):
            raise RepositoryError(
                f"git {arguments[0]} failed: {ended.stderr or ended.code}", hint="`git fsck` may tell more"
            )
        return ended.stdout

    def ask(self, *arguments: str) -> str | None:
        """The output, or nothing when git says no."""
        ended = run([self.binary, *_INERT, *arguments], env=self.env)
        return _text(ended.stdout) if ended.code == 0 else None


def _text(output: bytes) -> str:
    return output.decode(errors="surrogateescape").removesuffix("\n")


def find_git(project: Path) -> str:
    """The git program of this machine, never one inside the project."""
    found = program("git", outside=project)
    if found is None:
        raise RepositoryError("git was not found", hint="install git and run the command again")
    return found


def user_git(project: Path) -> Git:
    """Git on the user's own repository: for plumbing that runs nothing."""
    return Git(find_git(project), _SCRUBBED)
