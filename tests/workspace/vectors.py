"""Ways a repository can make plain git run a program, each with a command that makes it run."""

import os
import pty
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import commit_all, git

_TRAP = '#!/bin/sh\n: > "{mark}"\ncat "$@" 2>/dev/null\nexit 0\n'
"""What every vector runs: it leaves a mark, and passes on what it is given, so that a filter is none."""

_PERSON = {
    "GIT_AUTHOR_NAME": "T",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "T",
    "GIT_COMMITTER_EMAIL": "t@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "PAGER": "cat",
    "TERM": "xterm",
}


@dataclass(frozen=True)
class Ground:
    """A repository, and a folder beside it with the programs it makes git run and the marks they leave."""

    repo: Path
    beside: Path

    def trap(self, name: str) -> str:
        """The program of a vector."""
        path, mark = self.beside / "bin" / name, self.beside / "ran" / name
        for folder in (path.parent, mark.parent):
            folder.mkdir(parents=True, exist_ok=True)
        path.write_text(_TRAP.format(mark=mark))
        path.chmod(0o755)
        return str(path)

    def ran(self) -> set[str]:
        """The vectors whose program ran."""
        return {mark.name for mark in (self.beside / "ran").glob("*")}

    def forget(self) -> None:
        """Remove every mark."""
        for mark in (self.beside / "ran").glob("*"):
            mark.unlink()

    def git_dir(self) -> Path:
        """Where git keeps this repository."""
        return Path(git(self.repo, "rev-parse", "--absolute-git-dir"))

    def settings(self) -> Path:
        """The file with the settings of this repository."""
        return self.git_dir() / "config"


Plant = Callable[[Ground, str], None]


@dataclass(frozen=True)
class Vector:
    """One way: how it comes into a repository, and what a user types that makes it run."""

    name: str
    plant: Plant
    control: str
    """Shell commands with plain git, in the repository."""
    tracked: Mapping[str, str] = field(default_factory=dict)
    """Files of the repository that belong to it; `.gitattributes` is added to."""
    group: int = 0
    """Vectors of one group can live in one repository."""


def plant(ground: Ground, *vectors: Vector) -> None:
    """Put vectors into a repository: first what is tracked, then what makes git run."""
    tracked = [
        ("vectors/seed.txt", "seed\n"),
        *(pair for vector in vectors for pair in vector.tracked.items()),
    ]
    for name, content in tracked:
        path = ground.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(content)
    if any(".gitmodules" in vector.tracked for vector in vectors):
        _add_submodules(ground.repo)
    commit_all(ground.repo, "what is tracked")
    for vector in vectors:
        vector.plant(ground, ground.trap(vector.name))
    ground.forget()


def _add_submodules(repo: Path) -> None:
    """One that is there, and one that is not filled in."""
    git(repo, "clone", "--quiet", str(repo), str(repo / "vectors" / "nested"))
    (repo / "vectors" / "sub").mkdir()
    link = f"160000,{git(repo, 'rev-parse', 'HEAD')},vectors/sub"
    git(repo, "update-index", "--add", "--cacheinfo", link)


def fire(ground: Ground, vector: Vector) -> str:
    """Do what a user would, at a terminal; gives what was shown."""
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            ["sh", "-c", vector.control],
            cwd=ground.repo,
            env={**os.environ, **_PERSON, "BESIDE": str(ground.beside)},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            timeout=20,
            check=False,
        )
        os.set_blocking(ours, False)
        return os.read(ours, 4000).decode(errors="replace")
    except BlockingIOError:
        return ""
    finally:
        os.close(ours)
        os.close(theirs)


def _set(*pairs: str) -> Plant:
    """Settings in the repository's own file: names and values in turn, {trap} and {beside} filled in."""

    def planting(ground: Ground, trap: str) -> None:
        _write(ground.settings(), ground, trap, pairs)

    return planting


def _write(path: Path, ground: Ground, trap: str, pairs: tuple[str, ...]) -> None:
    for key, value in zip(pairs[0::2], pairs[1::2], strict=True):
        words = [text.format(trap=trap, beside=ground.beside, repo=ground.repo) for text in (key, value)]
        git(ground.repo, "config", "--file", str(path), *words)


def _included(key: str) -> Plant:
    """A monitor in another file, which the repository's own file includes under this key."""

    def planting(ground: Ground, trap: str) -> None:
        _write(ground.beside / "included", ground, trap, ("core.fsmonitor", "{trap}"))
        _write(ground.settings(), ground, trap, (key, "{beside}/included"))

    return planting


def _hook(ground: Ground, trap: str) -> None:
    """The program as the hook that the vector is called after."""
    folder = ground.git_dir() / "hooks"
    folder.mkdir(exist_ok=True)
    (folder / Path(trap).name.removeprefix("hook-")).symlink_to(trap)


def _hooks_path(ground: Ground, trap: str) -> None:
    (ground.beside / "hooks").mkdir()
    (ground.beside / "hooks" / "pre-commit").symlink_to(trap)
    _set("core.hooksPath", "{beside}/hooks")(ground, trap)


def _worktree_config(ground: Ground, trap: str) -> None:
    _set("extensions.worktreeConfig", "true")(ground, trap)
    _write(ground.git_dir() / "config.worktree", ground, trap, ("core.fsmonitor", "{trap}"))


def _git_file(ground: Ground, trap: str) -> None:
    _set("core.fsmonitor", "{trap}")(ground, trap)
    elsewhere = ground.beside / "elsewhere.git"
    ground.git_dir().rename(elsewhere)
    (ground.repo / ".git").write_text(f"gitdir: {elsewhere}\n")


def _attributes_of_git_dir(ground: Ground, trap: str) -> None:
    (ground.git_dir() / "info").mkdir(exist_ok=True)
    (ground.git_dir() / "info" / "attributes").write_text("*.private filter=private\n")
    _set("filter.private.clean", "{trap}")(ground, trap)


def _attributes_file(ground: Ground, trap: str) -> None:
    (ground.beside / "attributes").write_text("*.elsewhere filter=elsewhere\n")
    _set("core.attributesFile", "{beside}/attributes", "filter.elsewhere.clean", "{trap}")(ground, trap)


def _alternates(ground: Ground, trap: str) -> None:
    other = ground.beside / "other"
    git(ground.beside, "clone", "--quiet", "--bare", str(ground.repo), str(other))
    (ground.git_dir() / "objects" / "info").mkdir(exist_ok=True)
    (ground.git_dir() / "objects" / "info" / "alternates").write_text(f"{other}/objects\n")
    _set("core.alternateRefsCommand", "{trap}")(ground, trap)


def _nested(ground: Ground, trap: str) -> None:
    """A monitor of a submodule that is there."""
    _write(ground.repo / "vectors" / "nested" / ".git" / "config", ground, trap, ("core.fsmonitor", "{trap}"))


_MODULES = {
    ".gitmodules": '[submodule "sub"]\n\tpath = vectors/sub\n\turl = ./\n'
    '[submodule "nested"]\n\tpath = vectors/nested\n\turl = ./\n'
}

_COMMIT = "git -c commit.gpgSign=false commit -q --allow-empty -m x"
_SIDE = "git checkout -q -b side-$$; " + _COMMIT + "y; git checkout -q -; " + _COMMIT + "; "
_PATCH = "git format-patch -1 --stdout -q > $BESIDE/patch; git reset -q --hard HEAD~1; "
_SEED = "echo more >> vectors/seed.{kind}; git add vectors; "


def _attribute(kind: str, rule: str) -> dict[str, str]:
    """A tracked file of a kind of its own, and the tracked rule for it."""
    return {f"vectors/seed.{kind}": f"{kind}\n", ".gitattributes": f"*.{kind} {rule}\napp.py {rule}\n"}


_SETTINGS = (
    Vector("fsmonitor", _set("core.fsmonitor", "{trap}"), "git status"),
    Vector("fsmonitor-included", _included("include.path"), "git status", group=1),
    Vector(
        "fsmonitor-included-for-a-folder", _included("includeIf.gitdir:{repo}/.path"), "git diff", group=2
    ),
    Vector("fsmonitor-included-for-a-branch", _included("includeIf.onbranch:**.path"), "git diff", group=3),
    Vector("fsmonitor-of-a-worktree", _worktree_config, "git add app.py", group=4),
    Vector("fsmonitor-of-a-git-file", _git_file, "git status", group=5),
    Vector("fsmonitor-of-a-submodule", _nested, "git status", _MODULES),
    Vector("pager", _set("core.pager", "{trap}"), "git log"),
    Vector("pager-of-a-command", _set("pager.show", "{trap}"), "git show"),
    Vector("editor", _set("core.editor", "{trap}"), "git commit --no-gpg-sign --allow-empty"),
    Vector("sequence-editor", _set("sequence.editor", "{trap}"), f"{_COMMIT}; git rebase -i HEAD~1"),
    Vector("alias", _set("alias.st", "!{trap}"), "git st"),
    Vector("interactive-filter", _set("interactive.diffFilter", "{trap}"), "echo >> app.py; git add -p"),
    Vector(
        "trailer-command",
        _set("trailer.one.key", "One", "trailer.one.command", "{trap}"),
        "echo x | git interpret-trailers --trailer one=x",
    ),
    Vector(
        "trailer-cmd",
        _set("trailer.two.key", "Two", "trailer.two.cmd", "{trap}"),
        "echo x | git interpret-trailers --trailer two=x",
    ),
    Vector("archive", _set("tar.odd.command", "{trap}"), "git archive --format=odd HEAD > $BESIDE/archive"),
    Vector("browser", _set("browser.odd.cmd", "{trap}"), "git web--browse -b odd http://127.0.0.1:9"),
    Vector("man-viewer", _set("man.viewer", "odd", "man.odd.cmd", "{trap}"), "git help -m git"),
    Vector(
        "mail",
        _set("imap.tunnel", "{trap} /dev/null", "imap.folder", "x"),
        "git log --format=mboxrd -1 | git imap-send",
    ),
    Vector(
        "signature", _set("gpg.program", "{trap}", "commit.gpgSign", "true"), "git commit --allow-empty -m x"
    ),
    Vector(
        "signature-with-ssh",
        _set(
            "gpg.format",
            "ssh",
            "gpg.ssh.program",
            "{trap}",
            "user.signingKey",
            "{trap}",
            "tag.gpgSign",
            "true",
        ),
        "git tag -m x signed",
        group=1,
    ),
    Vector(
        "signature-with-x509",
        _set("gpg.format", "x509", "gpg.x509.program", "{trap}", "commit.gpgSign", "true"),
        "git commit --allow-empty -m x",
        group=2,
    ),
    Vector(
        "signature-with-a-key-command",
        _set("gpg.format", "ssh", "gpg.ssh.defaultKeyCommand", "{trap}", "commit.gpgSign", "true"),
        "git commit --allow-empty -m x",
        group=3,
    ),
)

_HOOKS = (
    Vector("hook-pre-commit", _hook, _COMMIT),
    Vector("hook-prepare-commit-msg", _hook, _COMMIT),
    Vector("hook-commit-msg", _hook, _COMMIT),
    Vector("hook-post-commit", _hook, _COMMIT),
    Vector("hook-post-rewrite", _hook, f"{_COMMIT} --amend"),
    Vector("hook-post-checkout", _hook, "git checkout -q -b another"),
    Vector("hook-post-index-change", _hook, "echo >> app.py; git add app.py"),
    Vector("hook-reference-transaction", _hook, "git branch branched"),
    Vector("hook-pre-merge-commit", _hook, f"{_SIDE} git merge -q --no-gpg-sign -m x side-$$"),
    Vector("hook-post-merge", _hook, f"{_SIDE} git merge -q --no-gpg-sign -m x side-$$"),
    Vector("hook-pre-rebase", _hook, f"{_COMMIT}; git rebase --force-rebase HEAD~1"),
    Vector("hook-pre-push", _hook, "git push -q . HEAD:refs/heads/pushed"),
    Vector("hook-update", _hook, "git push -q . HEAD:refs/heads/updated"),
    Vector("hook-post-receive", _hook, "git push -q . HEAD:refs/heads/received"),
    Vector("hook-pre-applypatch", _hook, f"{_PATCH} git am --no-gpg-sign $BESIDE/patch"),
    Vector(
        "hook-pre-auto-gc",
        _hook,
        "git repack -q; git rev-parse HEAD | git pack-objects .git/objects/pack/pack;"
        " git -c gc.autoPackLimit=1 -c gc.autoDetach=false gc --auto",
    ),
    Vector("hooks-path", _hooks_path, _COMMIT, group=1),
)

_FILTERS = (
    Vector(
        "filter-clean",
        _set("filter.cleaned.clean", "{trap}"),
        _SEED.format(kind="cleaned"),
        _attribute("cleaned", "filter=cleaned"),
    ),
    Vector(
        "filter-smudge",
        _set("filter.smudged.smudge", "{trap}"),
        "rm vectors/seed.smudged; git checkout vectors/seed.smudged",
        _attribute("smudged", "filter=smudged"),
    ),
    Vector(
        "filter-process",
        _set("filter.processed.process", "{trap}"),
        _SEED.format(kind="processed"),
        _attribute("processed", "filter=processed"),
    ),
    Vector(
        "filter-of-private-attributes",
        _attributes_of_git_dir,
        "echo >> vectors/seed.private; git add vectors/seed.private",
        {"vectors/seed.private": "x\n"},
    ),
    Vector(
        "filter-of-another-attributes-file",
        _attributes_file,
        "echo >> vectors/seed.elsewhere; git add vectors/seed.elsewhere",
        {"vectors/seed.elsewhere": "x\n"},
    ),
    Vector("diff-external", _set("diff.external", "{trap}"), "rm harness/environment.json; git diff"),
    Vector(
        "diff-command",
        _set("diff.commanded.command", "{trap}"),
        "echo >> vectors/seed.commanded; git diff",
        _attribute("commanded", "diff=commanded"),
    ),
    Vector(
        "diff-textconv",
        _set("diff.converted.textconv", "{trap}"),
        "git log -p --all -- vectors",
        _attribute("converted", "diff=converted"),
    ),
    Vector(
        "blame-textconv",
        _set("diff.blamed.textconv", "{trap}"),
        "git blame vectors/seed.blamed",
        _attribute("blamed", "diff=blamed"),
    ),
    Vector("diff-tool", _set("difftool.odd.cmd", "{trap}"), "echo >> app.py; git difftool -y -t odd"),
    Vector(
        "merge-driver",
        _set("merge.driven.driver", "{trap}"),
        "git checkout -q -b driven; echo 1 >> vectors/seed.driven; git commit -q --no-gpg-sign -am 1;"
        " git checkout -q -; echo 2 >> vectors/seed.driven; git commit -q --no-gpg-sign -am 2;"
        " git merge --no-gpg-sign -m 3 driven",
        _attribute("driven", "merge=driven"),
    ),
    Vector(
        "merge-tool",
        _set("mergetool.odd.cmd", "{trap}"),
        "git checkout -q -b tooled; echo 1 >> vectors/seed.txt; git commit -q --no-gpg-sign -am 1;"
        " git checkout -q -; echo 2 >> vectors/seed.txt; git commit -q --no-gpg-sign -am 2;"
        " git merge --no-gpg-sign -m 3 tooled; git mergetool -y -t odd",
    ),
)

_REMOTES = (
    Vector(
        "ext-remote",
        _set("remote.one.url", "ext::{trap} x", "protocol.ext.allow", "always"),
        "git fetch one",
    ),
    Vector(
        "ext-remote-instead-of-another",
        _set("url.ext::{trap} .insteadOf", "https://example.com/", "protocol.ext.allow", "always"),
        "git ls-remote https://example.com/x",
    ),
    Vector(
        "upload-pack", _set("remote.two.url", "{repo}", "remote.two.uploadpack", "{trap}"), "git fetch two"
    ),
    Vector(
        "receive-pack",
        _set("remote.three.url", "{repo}", "remote.three.receivepack", "{trap}"),
        "git push three HEAD:refs/heads/x",
    ),
    Vector("ssh-command", _set("core.sshCommand", "{trap}"), "git fetch ssh://127.0.0.1/x"),
    Vector("git-proxy", _set("core.gitProxy", "{trap}"), "git fetch git://127.0.0.1/x"),
    Vector(
        "credential-helper",
        _set("credential.helper", "{trap}"),
        "printf 'protocol=https\\nhost=x\\n\\n' | git credential fill",
    ),
    Vector(
        "askpass",
        _set("core.askPass", "{trap}"),
        "printf 'protocol=https\\nhost=x\\n\\n' | git -c credential.helper= credential fill",
    ),
    Vector("alternate-refs", _alternates, "git fetch $BESIDE/other"),
    Vector(
        "promised-objects",
        _set(
            *("core.repositoryFormatVersion", "1", "extensions.partialClone", "four"),
            *(
                "remote.four.url",
                "{repo}",
                "remote.four.promisor",
                "true",
                "remote.four.uploadpack",
                "{trap}",
            ),
        ),
        "git cat-file -p 1234567890123456789012345678901234567890",
    ),
    Vector(
        "submodule-update",
        _set("submodule.sub.update", "!{trap}", "submodule.sub.url", "{repo}"),
        "git -c protocol.file.allow=always submodule update vectors/sub",
        _MODULES,
    ),
)

VECTORS = (*_SETTINGS, *_HOOKS, *_FILTERS, *_REMOTES)
"""Every one of them fires under plain git."""

BY_NAME = {vector.name: vector for vector in VECTORS}
