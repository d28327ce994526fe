"""A change to the sample repository that was verified through the command line."""

from dataclasses import dataclass
from pathlib import Path

from tests.conftest import Cli, commit_all, git

_SCENARIOS = """
scenarios:
  - name: stats of an empty list
    why: "add GET /todos/stats"
    steps:
      - request: {path: /todos/stats}
        expect: {status: 200, json: [{path: $.total, value: 0}]}
  - name: the list stays
    why: the rest stays as it is
    kind: unchanged
    steps:
      - request: {path: /todos}
        expect: {status: 200}
"""
_BEFORE = '        if self.path == "/todos":\n            return self.answer(200, list('
_ROUTE = '        if self.path == "/todos/stats":\n            return self.answer(200, {"total": 0})\n'


@dataclass(frozen=True)
class Proved:
    """A repository whose HEAD was verified against the commit before it."""

    repo: Path
    commit: str
    base: str
    run: Path
    scenario: str = "stats of an empty list"

    @property
    def run_id(self) -> str:
        """The name of the verification."""
        return self.run.name

    def files(self) -> list[Path]:
        """Files of the evidence of each kind."""
        return [self.run / name for name in ("account.json", "base-1.log", "change-1.jsonl", "evidence.json")]


def prove(repo: Path, cli: Cli, *words: str) -> Proved:
    """Add a route to the sample, commit it, and verify the commit with these options too."""
    base = git(repo, "rev-parse", "HEAD")
    app = repo / "app.py"
    app.write_text(app.read_text().replace(_BEFORE, _ROUTE + _BEFORE))
    commit = commit_all(repo, "add stats")
    (repo.parent / "stats.yaml").write_text(_SCENARIOS)
    given = ("--base", base, "--head", commit, "--scenarios", "../stats.yaml")
    ran = cli("verify", *given, *words, cwd=repo)
    assert ran.code == 0, ran.out + ran.err
    (run,) = (repo / "harness" / "trace" / "runs").iterdir()
    return Proved(repo, commit, base, run)


def flip(path: Path) -> bytes:
    """Flip one bit in the middle of a file; gives what was there before."""
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    path.write_bytes(flipped)
    return whole
