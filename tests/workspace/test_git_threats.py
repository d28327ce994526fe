"""What a hostile repository or executor can try with git, by the rows of the threat model."""

import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.errors import RepositoryError
from harness_executor.kernel.events import PhaseExecuted, TaskOpened
from harness_executor.store.record import read
from harness_executor.workspace.repository import open_repository
from tests.cli.scripted import HONEST_LINES, use, with_executor, work, write_script
from tests.conftest import Cli, commit_all, git
from tests.workspace.repositories import WHEN, contents, desk_of, head, new_repository, round_trip, write
from tests.workspace.test_export import names_of, put, work_on
from tests.workspace.vectors import VECTORS, Ground, fire, plant

STATS = HONEST.lines["executor"][0]["replies"]
KNOWN = {
    *(
        "add",
        "cat-file",
        "check-attr",
        "check-ignore",
        "checkout-index",
        "commit-tree",
        "config",
        "diff-tree",
    ),
    *("hash-object", "init", "ls-files", "ls-tree", "read-tree", "rev-parse", "update-index", "update-ref"),
    *("write-tree", "grep"),
}
"""Every git command the coordinator may give; none of them speaks to another repository."""


def stays_inert(folder: Path, *starts: str) -> Iterator[str]:
    """Put each vector of these kinds through everything a task does; those that then run under plain git."""
    for number, vector in enumerate(vector for vector in VECTORS if vector.name.startswith(starts)):
        ground = Ground(new_repository(folder / f"{number}" / "repo", SEED), folder / f"{number}" / "beside")
        plant(ground, vector)
        round_trip(desk_of(ground.repo))
        assert ground.ran() == set()
        fire(ground, vector)
        assert ground.ran() == {vector.name}
        yield vector.name


SEED = {"app.py": "print(1)\n", "harness/environment.json": "{}\n"}


def test_a12_monitors_are_never_run(tmp_path: Path) -> None:
    """A monitor is not run, wherever its setting lies; plain git runs each of them."""
    assert len(list(stays_inert(tmp_path, "fsmonitor"))) == 7


def test_a13_hooks_are_never_run(tmp_path: Path) -> None:
    """No hook is run, in `.git/hooks` or elsewhere; plain git runs each of them."""
    assert len(list(stays_inert(tmp_path, "hook"))) == 17


def test_a14_filters_are_never_run(tmp_path: Path) -> None:
    """No filter is run, whichever file of attributes names it; plain git runs each of them."""
    assert len(list(stays_inert(tmp_path, "filter"))) == 5


def test_a15_diff_programs_are_never_run(tmp_path: Path) -> None:
    """No program that shows, converts or merges is run; plain git runs each of them."""
    assert len(list(stays_inert(tmp_path, "diff", "blame", "merge", "pager", "interactive"))) == 10


def test_a16_a_git_file_in_the_executors_tree_stops_the_change(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """An executor that leaves a `.git` behind gets no commit, and the refusal says where it lies."""
    planted = use("write_file", path="deep/.git", content="gitdir: /elsewhere\n")
    by_shell = use("shell", command="mkdir -p deep && echo 'gitdir: /elsewhere' > deep/.git")
    lines = with_executor({"replies": [*STATS[:3], planted, by_shell, work()]})
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, lines))
    assert ran.code == 1
    assert "deep holds a .git of its own" in ran.out
    assert git(sample, "branch", "--list", "harness/*") == ""


def test_a16_a_git_folder_that_becomes_a_file_runs_nothing(tmp_path: Path) -> None:
    """A `.git` that is exchanged under an open task leads to no program of the place it names."""
    ground = Ground(new_repository(tmp_path / "repo", SEED), tmp_path / "beside")
    desk = desk_of(ground.repo)
    (swap,) = (vector for vector in VECTORS if vector.name == "fsmonitor-of-a-git-file")
    plant(ground, swap)
    with pytest.raises(RepositoryError, match="not a git repository"):
        desk.is_dirty()
    round_trip(desk_of(ground.repo), "harness/after")
    assert ground.ran() == set()
    fire(ground, swap)
    assert ground.ran() == {swap.name}


def test_a17_a_whole_run_gives_git_no_command_that_reaches_another_repository(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """A wrapper writes down each git command of a run: all are known, and the remote stays as it was."""
    remote = tmp_path / "remote.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(sample), str(remote))
    git(sample, "remote", "add", "origin", str(remote))
    heard, wrapper = tmp_path / "heard", tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{heard}"\nexec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    env = {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    model = write_script(tmp_path, HONEST_LINES)
    ran = cli("run", REQUEST, "--repo", sample, "--model", model, env=env)
    assert ran.code == 0, ran.err
    verbs = {_verb(line.split()) for line in heard.read_text().splitlines()}
    assert {"commit-tree", "update-ref", "checkout-index"} <= verbs <= KNOWN
    assert git(remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert not (sample / ".git" / "FETCH_HEAD").exists()


def _verb(words: list[str]) -> str:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("-c", "-C") else words[1:]
    return words[0]


def test_a17_remotes_and_their_programs_are_never_run(tmp_path: Path) -> None:
    """No transport, proxy, helper or promise of a remote is run; plain git runs each of them."""
    kinds = ("ext", "upload", "receive", "ssh", "git-proxy", "credential", "askpass", "alternate", "promised")
    assert len(list(stays_inert(tmp_path, *kinds))) == 10


@pytest.mark.parametrize("url", ["-u./x", "ext::sh -c x", "../x"])
def test_a18_submodules_are_never_updated(tmp_path: Path, url: str) -> None:
    """Wherever a submodule is said to come from, its folder stays empty and nothing is run."""
    ground = Ground(new_repository(tmp_path / "repo"), tmp_path / "beside")
    (update,) = (vector for vector in VECTORS if vector.name == "submodule-update")
    plant(ground, update)
    git(ground.repo, "config", "--file", ".gitmodules", "submodule.sub.url", url)
    commit_all(ground.repo, "another url")
    round_trip(desk_of(ground.repo))
    assert ground.ran() == set()
    assert list((ground.repo / "vectors" / "sub").iterdir()) == []
    fire(ground, update)
    assert ground.ran() == {update.name}


@pytest.mark.parametrize("trick", ["replace", "grafts", "shallow", "commit-graph"])
def test_a19_history_that_is_faked_changes_no_base(tmp_path: Path, trick: str) -> None:
    """What plain git is made to believe of the base, by any of the four ways, we do not."""
    repo = new_repository(tmp_path / "repo")
    write(repo, {"a.txt": "two\n"})
    first, second = git(repo, "rev-parse", "HEAD"), commit_all(repo, "second")
    write(repo, {"a.txt": "fake\n"})
    fake = commit_all(repo, "fake")
    git(repo, "reset", "--quiet", "--hard", second)
    trees = {commit: git(repo, "rev-parse", f"{commit}^{{tree}}") for commit in (first, second, fake)}
    seen = ("log", "-1", "--format=%T %P", second)
    truth = git(repo, *seen)
    _fake(repo, trick, second, fake)
    assert git(repo, *seen) != truth
    desk = desk_of(repo)
    assert desk.repository.resolve("HEAD") == second
    assert desk.repository.tree_of(second) == trees[second]
    assert contents(desk.export(desk.repository.tree_of(second), desk.path / "base")) == {b"a.txt": b"two\n"}
    made = desk.commit(trees[first], second, "on top\n", WHEN)
    assert git(repo, "cat-file", "-p", made).splitlines()[:2] == [f"tree {trees[first]}", f"parent {second}"]


def _fake(repo: Path, trick: str, commit: str, fake: str) -> None:
    place = repo / ".git"
    match trick:
        case "replace":
            git(repo, "replace", commit, fake)
        case "grafts":
            (place / "info" / "grafts").write_text(f"{commit} {fake}\n")
        case "shallow":
            (place / "shallow").write_text(f"{commit}\n")
        case _:
            git(repo, "commit-graph", "write", "--reachable")
            graph = place / "objects" / "info" / "commit-graph"
            old, new = (bytes.fromhex(git(repo, "rev-parse", f"{name}^{{tree}}")) for name in (commit, fake))
            forged = graph.read_bytes().replace(old, new)
            graph.chmod(stat.S_IRUSR | stat.S_IWUSR)
            graph.write_bytes(forged)


def test_a19_objects_of_an_alternate_are_objects_like_any_other(repo: Path, tmp_path: Path) -> None:
    """A clone that borrows its objects has the base it has, and gets no objects of ours elsewhere."""
    git(tmp_path, "clone", "--quiet", "--shared", str(repo), "borrower")
    before = sorted((repo / ".git" / "objects").rglob("*"))
    desk = desk_of(tmp_path / "borrower")
    assert contents(work_on(desk)) == {b"a.txt": b"one\n"}
    round_trip(desk)
    assert sorted((repo / ".git" / "objects").rglob("*")) == before


@pytest.mark.parametrize("name", [".gitmodules", "deep/.gitmodules", ".GitModules"])
def test_a20_submodules_cannot_be_named_by_a_change(repo: Path, name: str) -> None:
    """A change that adds or edits the file which names submodules is refused; other edits are not."""
    desk = desk_of(repo)
    folder = work_on(desk)
    write(folder, {"deep/gitmodules": "x"})
    desk.snapshot(folder, head(desk))
    write(folder, {name: '[submodule "x"]\n\tpath = x\n\turl = -u./x\n'})
    with pytest.raises(RepositoryError, match="a submodule was changed") as caught:
        desk.snapshot(folder, head(desk))
    assert name in caught.value.message
    assert "by hand" in caught.value.hint


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("sparse", ["true", "false"])
def test_a21_bits_of_an_index_hide_no_edit(repo: Path, bit: str, sparse: str) -> None:
    """An edit that `git status` is told to overlook is seen, even where a sparse checkout is claimed."""
    git(repo, "config", "core.sparseCheckout", sparse)
    git(repo, "update-index", bit, "a.txt")
    write(repo, {"a.txt": "hidden\n"})
    if bit == "--assume-unchanged" or sparse == "false":
        assert git(repo, "status", "--porcelain") == ""
    assert desk_of(repo).is_dirty()


def test_a22_moving_head_during_a_run_moves_no_base(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Branch and HEAD are moved while a task is interrupted; it goes on from the tree it was opened with."""
    base, tree = git(sample, "rev-parse", "HEAD"), git(sample, "rev-parse", "HEAD^{tree}")
    model = write_script(tmp_path, HONEST_LINES)
    killed = cli(
        *("run", REQUEST, "--repo", sample, "--model", model),
        env={"HARNESS_FAULT": "agent.answered#2=kill"},
    )
    assert killed.code == -signal.SIGKILL, killed.err
    write(sample, {"app.py": "raise SystemExit\n"})
    moved = commit_all(sample, "another base")
    ran = cli("resume", "--repo", sample, "--json")
    assert ran.code == 0, ran.err
    outcome = ran.json()
    assert outcome["status"] == "completed"
    assert git(sample, "rev-parse", f"{outcome['branch']}^") == base
    assert git(sample, "rev-parse", "HEAD") == moved
    log = sample / "harness" / "tasks" / outcome["task_id"] / "events.jsonl"
    facts = [record.fact for record in read(log).records]
    assert [fact.base_tree for fact in facts if isinstance(fact, TaskOpened)] == [tree]
    assert len([fact for fact in facts if isinstance(fact, PhaseExecuted)]) == 1


def test_a23_an_exported_tree_has_no_history(tmp_path: Path) -> None:
    """The answer lies in a later commit: a clone shows it, an exported tree and what is around it do not."""
    repo = new_repository(tmp_path / "repo", {"a.txt": "question\n"})
    git(repo, "checkout", "--quiet", "-b", "later")
    write(repo, {"a.txt": "the-answer\n"})
    commit_all(repo, "answer")
    git(repo, "checkout", "--quiet", "main")
    desk = desk_of(repo)
    folder = work_on(desk)
    git(tmp_path, "clone", "--quiet", str(repo), "clone")
    assert "the-answer" in _history(tmp_path / "clone")
    assert "the-answer" not in _history(folder)
    assert "the-answer" not in _history(folder, f"--git-dir={desk.path / 'git'}")
    assert b"the-answer" not in b"".join(path.read_bytes() for path in desk.path.rglob("*") if path.is_file())


def _history(folder: Path, *options: str) -> str:
    words = ["git", *options, "log", "--all", "--patch"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("name", ["--upload-pack=x", "-rf", "--output=x", "x'y\"$(z)"])
def test_a24_a_branch_that_looks_like_an_option_is_a_branch(repo: Path, name: str) -> None:
    """HEAD on a branch of such a name works like any other, and the name given by hand is no option."""
    commit = git(repo, "rev-parse", "HEAD")
    (repo / ".git" / "refs" / "heads" / name).write_text(f"{commit}\n")
    (repo / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\n")
    desk = desk_of(repo)
    _, made = round_trip(desk)
    assert git(repo, "rev-parse", f"{made}^") == commit
    assert not (repo / "x").exists()
    assert desk.repository.resolve(f"refs/heads/{name}") == commit
    if name.startswith("-"):
        with pytest.raises(RepositoryError, match="is not a commit"):
            open_repository(repo).resolve(name)


NAME = st.one_of(
    st.binary(min_size=1, max_size=60),
    st.builds(
        lambda start, rest: start + rest,
        st.sampled_from([b"-", b"--", b"--output=", b"\n", b'"', b":(top)", b":!", b"!", b"#", b"\xff"]),
        st.binary(max_size=20),
    ),
).filter(
    lambda name: (
        not {0, 47} & set(name)
        and bool(name.strip(b". "))
        and not name.lower().startswith((b".git", b"git~"))
        and not name.endswith(b".pyc")
    )
)


@settings(max_examples=25, deadline=None, database=None)
@given(st.lists(NAME, min_size=1, max_size=8, unique=True))
def test_a24_any_name_goes_through_everything(
    tmp_path_factory: pytest.TempPathFactory, names: list[bytes]
) -> None:
    """Whatever bytes names have: exported, changed, told, shown, committed and exported again the same."""
    repo = new_repository(tmp_path_factory.mktemp("names") / "repo")
    for name in names:
        put(repo, b"old/" + name, b"first\n")
    commit_all(repo, "names")
    desk = desk_of(repo)
    folder = work_on(desk)
    assert {name for name in contents(folder) if name.startswith(b"old/")} == {
        b"old/" + name for name in names
    }
    assert desk.snapshot(folder, head(desk)) == head(desk)
    for name in names:
        put(folder, b"old/" + name, b"second\n")
        put(folder, b"new/" + name, b"third\n")
    tree = desk.snapshot(folder, head(desk))
    changed, created = desk.names(head(desk), tree)
    assert sorted(changed) == sorted(_shown(b"old/" + name) for name in names)
    assert sorted(created) == sorted(_shown(b"new/" + name) for name in names)
    assert desk.diff(head(desk), tree).count("\n+second\n") == len(names)
    made = desk.commit(tree, desk.repository.resolve("HEAD"), "names\n", WHEN)
    assert names_of(repo, made) == {
        b"a.txt",
        *(place + name for name in names for place in (b"old/", b"new/")),
    }
    assert contents(desk.export(desk.repository.tree_of(made), desk.path / "again")) == contents(folder)


def _shown(name: bytes) -> str:
    return name.decode(errors="replace")
