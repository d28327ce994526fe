"""Every way a repository can make git run a program, each leaving a mark when it does."""

import subprocess
from pathlib import Path

HOOKS = ("pre-commit", "post-index-change", "reference-transaction", "post-commit", "prepare-commit-msg")
"""Hooks that plain git runs when a user commits."""

_MORE_HOOKS = (
    "post-checkout",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-push",
    "update",
    "commit-msg",
)

_ATTRIBUTES = "*.one filter=one\n*.two filter=two\n*.txt diff=three merge=four\n"


def lay_traps(repo: Path, beside: Path) -> Path:
    """Set every trap in a repository; gives the folder where they leave their marks."""
    ran = beside / "ran"
    ran.mkdir(exist_ok=True)
    trap = beside / "trap"
    trap.write_text(
        f'#!/bin/sh\ntouch "{ran}/$1"\ncase "$1" in clean|smudge) cat;; textconv) cat "$2";; esac\n'
    )
    trap.chmod(0o755)
    place = Path(_git(repo, "rev-parse", "--absolute-git-dir"))
    with (place / "info" / "attributes").open("a") as attributes:
        attributes.write(_ATTRIBUTES)
    (repo / ".gitattributes").write_text(_ATTRIBUTES)
    _git(repo, "add", ".gitattributes")
    _git(repo, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "attributes")
    _hooks(place / "hooks", ran)
    _hooks(beside / "hooks", ran)
    included = beside / "included"
    included.write_text(f'[alias]\n\tincluded = "!{trap} included"\n[core]\n\teditor = {trap} editor\n')
    for key, value in _settings(f"{trap}", beside, included).items():
        _git(repo, "config", key, value)
    for mark in ran.iterdir():
        mark.unlink()
    return ran


def sprung(ran: Path) -> set[str]:
    """The traps that ran."""
    return {mark.name for mark in ran.iterdir()}


def _settings(trap: str, beside: Path, included: Path) -> dict[str, str]:
    return {
        "core.fsmonitor": f"{trap} fsmonitor",
        "core.hooksPath": str(beside / "hooks"),
        "filter.one.clean": f"{trap} clean",
        "filter.one.smudge": f"{trap} smudge",
        "filter.two.process": f"{trap} process",
        "diff.external": f"{trap} external",
        "diff.three.textconv": f"{trap} textconv",
        "diff.three.command": f"{trap} command",
        "merge.four.driver": f"{trap} driver",
        "core.pager": f"{trap} pager",
        "pager.diff": f"{trap} pager",
        "core.askPass": f"{trap} askpass",
        "core.sshCommand": f"{trap} ssh",
        "core.gitProxy": f"{trap} proxy",
        "core.alternateRefsCommand": f"{trap} alternates",
        "credential.helper": f"!{trap} credential",
        "gpg.program": f"{trap}",
        "commit.gpgSign": "true",
        "alias.trapped": f"!{trap} alias",
        "alias.rev-parse": f"!{trap} alias",
        "interactive.diffFilter": f"{trap} interactive",
        "trailer.x.command": f"{trap} trailer",
        "gc.recentObjectsHook": f"{trap} gc",
        "include.path": str(included),
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{trap} ext",
        "remote.origin.uploadpack": f"{trap} uploadpack",
    }


def _hooks(folder: Path, ran: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in (*HOOKS, *_MORE_HOOKS):
        hook = folder / name
        hook.write_text(f'#!/bin/sh\ntouch "{ran}/{name}"\n')
        hook.chmod(0o755)


def _git(repo: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(repo), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()
