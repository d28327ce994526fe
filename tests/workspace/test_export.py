"""Exported trees: what goes out comes back byte for byte, and nothing else comes along."""

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.errors import RepositoryError
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.workspace.export import Desk
from tests.conftest import commit_all, git
from tests.workspace.repositories import (
    WHEN,
    contents,
    desk_of,
    fingerprint,
    head,
    new_repository,
    round_trip,
    write,
)

NAMES = (
    b"new\nline",
    b"-rf",
    b"--output=x",
    b"with space ",
    b" leading space",
    b"caf\xe9 latin",
    "caf\N{LATIN SMALL LETTER E WITH ACUTE} nfc".encode(),
    "cafe\N{COMBINING ACUTE ACCENT} nfd".encode(),
    "日本語 ünïcode".encode(),
    b"quote\"'`$(x)",
    b"back\\slash",
    b"tab\there",
    b"*",
    b":(top)magic",
    b"#comment",
    b"!not",
    b"~",
    b"%s",
    b"\x01\x7f",
    b"n" * 255,
    b"deep/er/-still/x y",
    b"Case",
    b"case",
)


def put(folder: Path, name: bytes, content: bytes) -> None:
    """Write a file whose name is any bytes."""
    path = folder / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def names_of(repo: Path, tree: str) -> set[bytes]:
    """The names in a tree, as git has them."""
    import subprocess

    words = ["git", "-C", str(repo), "ls-tree", "-r", "-z", "--name-only", tree]
    return set(subprocess.run(words, capture_output=True, check=True).stdout.split(b"\0")) - {b""}


def work_on(desk: Desk) -> Path:
    """The user's HEAD, exported to be worked on."""
    return desk.export(head(desk), desk.path / "work")


def change(desk: Desk, work: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files changed and created since the export."""
    return desk.names(head(desk), desk.snapshot(work, head(desk)))


def test_an_exported_tree_has_the_files_and_no_git(repo: Path, desk: Desk) -> None:
    """What is exported is the tree, without history and without a repository."""
    work = work_on(desk)
    assert contents(work) == {b"a.txt": b"one\n"}


def test_an_export_replaces_what_was_there(desk: Desk) -> None:
    """An earlier export, or anything else at that place, is gone afterwards."""
    work = work_on(desk)
    write(work, {"left/over.txt": "x"})
    assert contents(work_on(desk)) == {b"a.txt": b"one\n"}
    (desk.path / "link").symlink_to(work)
    desk.export(head(desk), desk.path / "link")
    assert not (desk.path / "link").is_symlink()
    assert work.is_dir()


def test_every_file_name_comes_back_as_it_went(tmp_path: Path) -> None:
    """Names with any byte in them survive commit, export, change and snapshot."""
    repo = new_repository(tmp_path / "repo")
    for name in NAMES:
        put(repo, name, b"first\n")
    commit_all(repo, "names")
    desk = desk_of(repo)
    work = work_on(desk)
    assert set(contents(work)) == {b"a.txt", *NAMES}
    assert desk.snapshot(work, head(desk)) == head(desk)
    for name in NAMES:
        put(work, name, b"second\n")
        put(work, b"copy/" + name, b"new\n")
    tree = desk.snapshot(work, head(desk))
    assert names_of(repo, tree) == {b"a.txt", *NAMES, *(b"copy/" + name for name in NAMES)}
    assert contents(desk.export(tree, desk.path / "again")) == contents(work)
    changed, created = desk.names(head(desk), tree)
    assert (len(changed), len(created)) == (len(NAMES), len(NAMES))
    assert "-rf" in changed
    assert "new\nline" in changed
    assert "caf\N{REPLACEMENT CHARACTER} latin" in changed
    assert "second" in desk.diff(head(desk), tree)


@settings(max_examples=12, deadline=None, database=None)
@given(
    st.lists(
        st.binary(min_size=1, max_size=60).filter(lambda name: not {0, 47} & set(name) and name.strip(b". ")),
        min_size=1,
        max_size=12,
        unique=True,
    )
)
def test_any_file_name_comes_back_as_it_went(
    tmp_path_factory: pytest.TempPathFactory, names: list[bytes]
) -> None:
    """Whatever bytes a name has, a snapshot holds it and an export writes it."""
    desk = desk_of(new_repository(tmp_path_factory.mktemp("names") / "repo"))
    work = work_on(desk)
    for name in names:
        put(work, b"d/" + name, name)
    tree = desk.snapshot(work, head(desk))
    assert contents(desk.export(tree, desk.path / "again")) == contents(work)


def test_links_go_out_and_come_back_as_links(tmp_path: Path) -> None:
    """A link is a link: never followed, whether it leads inside, outside or nowhere."""
    repo = new_repository(tmp_path / "repo")
    targets = {"in": "a.txt", "out": str(tmp_path), "nowhere": "missing", "loop": "loop", "up": "../.."}
    for name, target in targets.items():
        (repo / name).symlink_to(target)
    commit_all(repo, "links")
    desk = desk_of(repo)
    work = work_on(desk)
    assert {name: str((work / name).readlink()) for name in targets} == targets
    assert desk.snapshot(work, head(desk)) == head(desk)
    (work / "out").unlink()
    (work / "out").symlink_to("a.txt")
    assert change(desk, work) == (("out",), ())


def test_the_executable_bit_goes_out_and_comes_back(tmp_path: Path) -> None:
    """A program stays a program, and becoming one is a change."""
    repo = new_repository(tmp_path / "repo", {"run.sh": "#!/bin/sh\n", "plain.txt": "x\n"})
    (repo / "run.sh").chmod(0o755)
    commit_all(repo, "run")
    desk = desk_of(repo)
    work = work_on(desk)
    assert (work / "run.sh").stat().st_mode & stat.S_IXUSR
    assert not (work / "plain.txt").stat().st_mode & stat.S_IXUSR
    assert desk.snapshot(work, head(desk)) == head(desk)
    (work / "plain.txt").chmod(0o755)
    assert change(desk, work) == (("plain.txt",), ())


def test_binary_files_come_back_as_they_went(tmp_path: Path) -> None:
    """No byte of a binary file is altered, and its diff is one line."""
    content = bytes(range(256)) * 40 + b"\r\n\n\r"
    repo = new_repository(tmp_path / "repo", {"b.bin": content})
    desk = desk_of(repo)
    work = work_on(desk)
    assert (work / "b.bin").read_bytes() == content
    assert desk.snapshot(work, head(desk)) == head(desk)
    (work / "b.bin").write_bytes(content[::-1])
    assert "Binary files" in desk.diff(head(desk), desk.snapshot(work, head(desk)))


@pytest.mark.parametrize(
    "attributes",
    ["* text=auto\n", "* text=auto eol=crlf\n", "*.txt text eol=crlf\n", "* -text\n", "* text=auto eol=lf\n"],
)
def test_line_ends_make_no_edits_of_their_own(tmp_path: Path, attributes: str) -> None:
    """With any rule for line ends, an export that nobody edited is the tree it came from."""
    repo = new_repository(
        tmp_path / "repo",
        {
            ".gitattributes": attributes,
            "crlf.txt": b"a\r\nb\r\n",
            "lf.txt": b"a\nb\n",
            "mixed.bin": b"a\r\nb\n\0",
        },
    )
    desk = desk_of(repo)
    work = work_on(desk)
    assert desk.snapshot(work, head(desk)) == head(desk)
    assert not desk.is_dirty()
    ending = b"\r\n" if "eol=crlf" in attributes else b"\n"
    (work / "lf.txt").write_bytes(b"a" + ending + b"c" + ending)
    assert change(desk, work) == (("lf.txt",), ())


@pytest.mark.parametrize("value", ["true", "input", "false"])
def test_the_users_own_line_ends_are_no_edits(tmp_path: Path, value: str) -> None:
    """A working tree that core.autocrlf made is not dirty, and is exported as the user has it."""
    repo = new_repository(tmp_path / "repo", {"lf.txt": b"a\nb\n"})
    git(repo, "config", "core.autocrlf", value)
    (repo / "lf.txt").unlink()
    git(repo, "checkout", "--", "lf.txt")
    desk = desk_of(repo)
    work = work_on(desk)
    assert (work / "lf.txt").read_bytes() == (repo / "lf.txt").read_bytes()
    assert desk.snapshot(work, head(desk)) == head(desk)
    assert not desk.is_dirty()


def test_modes_the_user_does_not_track_are_no_edits(tmp_path: Path) -> None:
    """Where core.fileMode is off, a lost executable bit does not make the working tree dirty."""
    repo = new_repository(tmp_path / "repo", {"run.sh": "#!/bin/sh\n"})
    (repo / "run.sh").chmod(0o755)
    commit_all(repo, "run")
    git(repo, "config", "core.fileMode", "false")
    (repo / "run.sh").chmod(0o644)
    assert not desk_of(repo).is_dirty()


def test_a_change_is_told_by_name(desk: Desk) -> None:
    """Changed, deleted and created files are told apart, and a rename is both."""
    write(desk.repository.root, {"b.txt": "two\n", "c.txt": "three\n", "d/e.txt": "four\n"})
    commit_all(desk.repository.root, "more")
    work = work_on(desk)
    write(work, {"a.txt": "changed\n", "new/f.txt": "new\n"})
    (work / "b.txt").unlink()
    (work / "c.txt").rename(work / "renamed.txt")
    changed, created = change(desk, work)
    assert changed == ("a.txt", "b.txt", "c.txt")
    assert created == ("new/f.txt", "renamed.txt")
    assert "rename from c.txt" in desk.diff(head(desk), desk.snapshot(work, head(desk)))


def test_a_tree_may_lose_everything(repo: Path, desk: Desk) -> None:
    """A change that deletes every file is a change like any other."""
    work = work_on(desk)
    (work / "a.txt").unlink()
    tree = desk.snapshot(work, head(desk))
    assert names_of(repo, tree) == set()
    assert contents(desk.export(tree, desk.path / "empty")) == {}


def test_what_is_no_file_is_left_out(desk: Desk) -> None:
    """A pipe or a socket in a tree neither hangs a snapshot nor enters it."""
    work = work_on(desk)
    os.mkfifo(work / "pipe")
    assert change(desk, work) == ((), ())


def test_ignored_files_are_left_out(desk: Desk) -> None:
    """What the project or the user ignores is never part of a change."""
    root = desk.repository.root
    write(root, {".gitignore": "*.log\nout/\n"})
    commit_all(root, "ignore")
    work = work_on(desk)
    write(work, {"x.log": "x", "out/y": "y"})
    assert change(desk, work) == ((), ())


def test_what_is_tracked_although_it_is_ignored_is_part_of_a_change(tmp_path: Path) -> None:
    """A file that was added by force is there, committed or staged; one that went, or is state, is not."""
    repo = new_repository(tmp_path / "repo", {".gitignore": "*.db\nharness\n"})
    base = git(repo, "rev-parse", "HEAD^{tree}").strip()
    forced = ("a ä*.db", "gone.db", "in/b.db", "moved/c.db", "harness/tasks/x")
    write(repo, dict.fromkeys((*forced, "left.db", "a ä2.db"), "1"))
    git(repo, "add", "--force", "--", *(f":(literal){name}" for name in forced))
    desk = desk_of(repo)
    (repo / "gone.db").unlink()
    (repo / "moved").rename(repo / "in" / "moved")
    (repo / "moved").symlink_to("in/moved")
    staged = desk.snapshot(repo, base)
    assert desk.names(base, staged) == ((), ("a ä*.db", "in/b.db", "moved"))
    commit_all(repo, "Forced")
    assert desk.snapshot(repo, base) == staged


def test_what_the_user_excludes_privately_is_left_out(repo: Path) -> None:
    """Patterns in .git/info/exclude count as well."""
    (repo / ".git" / "info" / "exclude").write_text("private\n")
    desk = desk_of(repo)
    work = work_on(desk)
    write(work, {"private": "x", "public": "y"})
    assert change(desk, work) == ((), ("public",))


def test_junk_is_never_committed(desk: Desk) -> None:
    """What programs leave lying about, and the harness's own state, is no part of a change."""
    work = work_on(desk)
    write(
        work,
        {
            "__pycache__/a.pyc": "x",
            "deep/__pycache__/b.pyc": "x",
            "loose.pyc": "x",
            ".pytest_cache/v": "x",
            ".mypy_cache/v": "x",
            ".ruff_cache/v": "x",
            ".coverage": "x",
            ".DS_Store": "x",
            "node_modules/m/index.js": "x",
            ".venv/bin/python": "x",
            "harness/tasks/t/events.jsonl": "x",
            "harness/trace/verification-report.json": "x",
            ".harness/memory/m": "x",
            "harness/environment.json": "{}",
        },
    )
    assert change(desk, work) == ((), ("harness/environment.json",))


@pytest.mark.parametrize("wish", ["", "!node_modules\n!.venv\n!venv\n"])
def test_installed_packages_are_linked_and_the_links_never_committed(tmp_path: Path, wish: str) -> None:
    """A project starts with the packages the user installed; their links stay out, whatever it un-ignores."""
    repo = new_repository(tmp_path / "repo", {".gitignore": f"node_modules/\n.venv/\n{wish}", "a.txt": "a\n"})
    for name in ("node_modules", ".venv"):
        write(repo, {f"{name}/inside": name})
    desk = desk_of(repo)
    work = work_on(desk)
    unboxed = PlainSandbox().open(desk.room(work))
    assert (unboxed.root / "node_modules" / "inside").read_text() == "node_modules"
    assert (work / ".venv").is_symlink()
    write(work, {"b.txt": "b\n"})
    assert change(desk, work) == ((), ("b.txt",))


def test_packages_that_are_tracked_are_exported_not_linked(tmp_path: Path) -> None:
    """A project that keeps its packages in git gets those of the tree."""
    repo = new_repository(tmp_path / "repo", {"node_modules/m.js": "1\n"})
    desk = desk_of(repo)
    work = work_on(desk)
    assert desk.room(work).beside == {}
    write(work, {"node_modules/m.js": "2\n"})
    assert change(desk, work) == (("node_modules/m.js",), ())


@pytest.mark.parametrize("name", [".git", ".GIT", ".git.", ".Git "])
@pytest.mark.parametrize("place", [".", "deep/er"])
def test_a_nested_repository_is_refused(desk: Desk, name: str, place: str) -> None:
    """A `.git` that appears anywhere in an exported tree stops the change, however it is spelled."""
    work = work_on(desk)
    write(work, {f"{place}/{name}/config": "[core]\n"})
    with pytest.raises(RepositoryError, match=r"holds a \.git of its own"):
        desk.snapshot(work, head(desk))


def test_a_git_file_or_link_is_refused_too(desk: Desk) -> None:
    """A `.git` need not be a folder to lead git astray."""
    work = work_on(desk)
    (work / ".git").write_text("gitdir: /elsewhere\n")
    with pytest.raises(RepositoryError, match=r"holds a \.git"):
        desk.snapshot(work, head(desk))
    (work / ".git").unlink()
    (work / ".git").symlink_to("/elsewhere")
    with pytest.raises(RepositoryError, match=r"holds a \.git"):
        desk.snapshot(work, head(desk))


def test_a_repository_made_where_a_submodule_stands_is_refused(tmp_path: Path) -> None:
    """The empty folder of a submodule is no place for a repository, whose settings would run programs."""
    inner = new_repository(tmp_path / "inner")
    repo = new_repository(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner), "sub")
    commit_all(repo, "sub")
    desk = desk_of(repo)
    work = work_on(desk)
    ran = tmp_path / "ran"
    write(work, {"sub/f.txt": "one\n", "sub/.gitattributes": "*.txt filter=x\n"})
    git(work / "sub", "init", "--quiet")
    git(work / "sub", "add", "--all")
    git(work / "sub", "config", "filter.x.clean", f"touch '{ran}'; cat")
    (work / "sub" / ".git" / "HEAD").write_text(git(repo, "rev-parse", "HEAD:sub") + "\n")
    write(work, {"sub/f.txt": "two\n"})
    with pytest.raises(RepositoryError, match=r"sub holds a \.git of its own"):
        desk.snapshot(work, head(desk))
    assert not ran.exists()


def test_a_repository_hidden_among_packages_is_refused(tmp_path: Path) -> None:
    """A repository in a folder that nobody searches cannot slip in as a submodule."""
    repo = new_repository(tmp_path / "repo", {".gitignore": "!node_modules\n"})
    desk = desk_of(repo)
    work = work_on(desk)
    new_repository(work / "node_modules" / "m")
    with pytest.raises(RepositoryError, match=r"node_modules/m holds a \.git of its own"):
        desk.snapshot(work, head(desk))


def test_repositories_the_user_ignores_are_no_harm(tmp_path: Path) -> None:
    """A clone that lies ignored in the user's working tree does not stop anything."""
    repo = new_repository(tmp_path / "repo", {".gitignore": "vendor/\n"})
    new_repository(repo / "vendor" / "clone")
    assert not desk_of(repo).is_dirty()


def test_a_repository_the_user_does_not_ignore_is_named(repo: Path) -> None:
    """A clone in the working tree that git would take for a submodule is refused by its place."""
    new_repository(repo / "clone")
    with pytest.raises(RepositoryError, match=r"clone holds a \.git of its own"):
        desk_of(repo).is_dirty()


def test_a_tree_that_holds_a_git_folder_is_not_exported(repo: Path, desk: Desk) -> None:
    """A forged tree with `.git` in it is refused by git itself, and nothing is left at the target."""
    blob = git(repo, "rev-parse", "HEAD:a.txt")
    listing = f"100644 blob {blob}\tconfig\n"
    inner = _make_tree(repo, listing)
    outer = _make_tree(repo, f"040000 tree {inner}\t.git\n")
    with pytest.raises(RepositoryError, match=r"\.git"):
        desk.export(outer, desk.path / "work")
    assert not (desk.path / "work").exists()


def test_says_whether_the_working_tree_is_dirty(repo: Path) -> None:
    """Clean is clean; a changed, deleted or unknown file is not."""
    desk = desk_of(repo)
    assert not desk.is_dirty()
    write(repo, {"unknown.txt": "x"})
    assert desk.is_dirty()
    (repo / "unknown.txt").unlink()
    write(repo, {"a.txt": "two\n"})
    assert desk.is_dirty()
    (repo / "a.txt").unlink()
    assert desk.is_dirty()


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_bits_of_the_users_index_hide_nothing(repo: Path, bit: str) -> None:
    """An edit that the user's index is told to overlook is still seen."""
    git(repo, "update-index", bit, "a.txt")
    write(repo, {"a.txt": "hidden\n"})
    assert git(repo, "status", "--porcelain") == ""
    assert desk_of(repo).is_dirty()


def test_a_commit_is_the_same_when_it_is_made_again(repo: Path, desk: Desk) -> None:
    """Tree, parent, message, author and time decide the id, and nothing else does."""
    parent = desk.repository.resolve("HEAD")
    first = desk.commit(head(desk), parent, "Say it\n\nTwice.\n", WHEN)
    assert desk.commit(head(desk), parent, "Say it\n\nTwice.\n", WHEN) == first
    assert desk_of(repo).commit(head(desk), parent, "Say it\n\nTwice.\n", WHEN.astimezone()) == first
    assert desk.commit(head(desk), parent, "Say it\n\nTwice.\n", WHEN + timedelta(seconds=1)) != first
    assert desk.commit(head(desk), parent, "Say it otherwise\n", WHEN) != first


def test_a_commit_says_who_and_when(repo: Path) -> None:
    """Author, time, parent and message are as given, whatever characters they have."""
    git(repo, "config", "user.name", "Ann Ünal")
    git(repo, "config", "user.email", "ann@example.com")
    desk = desk_of(repo)
    parent = desk.repository.resolve("HEAD")
    made = desk.commit(head(desk), parent, "-m ünïcode\n\n# kept\n", WHEN)
    said = git(repo, "log", "-1", "--format=%an|%ae|%cn|%ct|%P|%B", made)
    assert said == f"Ann Ünal|ann@example.com|Ann Ünal|{int(WHEN.timestamp())}|{parent}|-m ünïcode\n\n# kept"


def test_a_whole_task_leaves_the_user_untouched(repo: Path) -> None:
    """Working tree, index, HEAD, settings and other branches are byte for byte what they were."""
    git(repo, "branch", "other")
    git(repo, "status")
    before = fingerprint(repo)
    round_trip(desk_of(repo))
    assert fingerprint(repo) == before
    assert git(repo, "fsck", "--strict") == ""


def test_a_desk_is_found_again(repo: Path, desk: Desk) -> None:
    """A second desk at the same place goes on with the first one's folders."""
    work = work_on(desk)
    assert desk_of(repo).snapshot(work, head(desk)) == head(desk)


def test_a_desk_that_was_begun_is_made_anew(repo: Path) -> None:
    """A desk whose making was cut short is replaced."""
    half = repo.parent / "repo-desk" / "git"
    half.mkdir(parents=True)
    (half / "HEAD").write_text("torn")
    round_trip(desk_of(repo))


def test_a_desk_lies_inside_another_repository_unharmed(repo: Path, tmp_path: Path) -> None:
    """A desk in a folder that belongs to some repository does not speak to that one."""
    git(tmp_path, "init", "--quiet")
    before = fingerprint(tmp_path / ".git")
    round_trip(desk_of(repo))
    assert fingerprint(tmp_path / ".git") == before


def test_a_cleared_desk_is_gone_and_nothing_else(desk: Desk, tmp_path: Path) -> None:
    """Read-only folders are removed, and what links lead to is not even touched."""
    outside = tmp_path / "outside"
    write(outside, {"kept.txt": "x"})
    outside.chmod(0o755)
    work = work_on(desk)
    write(work, {"closed/inner/file": "x", "shut/file": "x"})
    (work / "closed" / "link").symlink_to(outside)
    (work / "closed" / "inner").chmod(0o500)
    (work / "closed").chmod(0o500)
    (work / "shut").chmod(0o000)
    desk.clear()
    assert not desk.path.exists()
    assert (outside / "kept.txt").exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755
    desk.clear()


def test_files_that_pose_as_state_are_named(desk: Desk) -> None:
    """A report that an agent wrote into the harness's folders is found; at most twenty are named."""
    work = work_on(desk)
    assert desk.state_files(work) == ()
    write(work, {"harness/trace/verification-report.json": "{}", "harness/config.toml": ""})
    assert desk.state_files(work) == ("harness/trace/verification-report.json",)
    write(work, {f".harness/tasks/t/{number}": "x" for number in range(40)})
    assert len(desk.state_files(work)) == 20


def test_a_link_that_poses_as_state_is_named_and_not_followed(desk: Desk) -> None:
    """A folder of state that is a link is one file, wherever it leads."""
    work = work_on(desk)
    (work / "harness").mkdir()
    (work / "harness" / "tasks").symlink_to("/")
    assert desk.state_files(work) == ("harness/tasks",)


def _make_tree(repo: Path, listing: str) -> str:
    import subprocess

    words = ["git", "-C", str(repo), "mktree"]
    done = subprocess.run(words, input=listing, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_several_folders_get_the_same_tree(repo: Path, tmp_path: Path) -> None:
    """One export fills as many fresh folders as are named, each with everything."""
    desk = desk_of(repo)
    places = [tmp_path / name for name in ("one", "two", "three")]
    write(places[1], {"left.txt": b"from before"})
    desk.export(head(desk), *places)
    assert [contents(place) for place in places] == [contents(places[0])] * 3
    assert contents(places[0])
    assert not list(desk.path.glob("*.index"))


def test_settings_about_files_are_taken_over_as_they_are(repo: Path) -> None:
    """Whatever value a setting has that says how files look, ours has the same; without one it is true."""
    odd = 'a "quoted" \\ value'
    git(repo, "config", "core.eol", odd)
    with (repo / ".git" / "config").open("a") as config:
        config.write("[core]\n\tsymlinks\n")
    desk = desk_of(repo)
    assert desk.git.text("config", "core.eol") == odd
    assert desk.git.text("config", "core.symlinks") == "true"
    assert desk.git.text("config", "core.bare") == "false"
