"""`harness doctor`: tries the box on this machine, and says what stops a project from being verified."""

import os
from collections.abc import Iterator
from pathlib import Path

from harness_executor.cli.checkup import Finding, look_at
from harness_executor.cli.parsing import (
    Parser,
    boxed_as_asked,
    print_json,
    print_text,
    with_json,
    with_project,
    with_sandbox,
)
from harness_executor.config import Settings, config_home, program, read_settings, user_file
from harness_executor.errors import HarnessError
from harness_executor.home import open_home
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.cgroups import cgroup_reason
from harness_executor.sandbox.choice import NONE, tried

_FIXES = {
    "start": "install bubblewrap (`apt install bubblewrap`); if user namespaces are forbidden, allow them: "
    "`sysctl user.max_user_namespaces=10000`, `sysctl kernel.unprivileged_userns_clone=1`, and on Ubuntu "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
    "system call filter": "this machine is neither x86-64 nor aarch64, or its kernel has no seccomp",
    "limits of the whole box": "run in a session of systemd that may have groups of its own, such as "
    "`systemd-run --user --scope harness-run …`; without it each process is bounded by itself",
    "git": "install git",
    "project": "run this in a repository, or name one with --repo",
}
"""What mends a row that does not hold."""


@frozen
class Row:
    """One thing that was looked at."""

    name: str
    holds: bool
    seen: str
    needed: bool = True
    """Does a run depend on it?"""
    mends: str = ""
    category: str = "machine"

    @property
    def fix(self) -> str:
        """What mends it, if it has to be mended."""
        if self.holds:
            return ""
        return self.mends or _FIXES.get(self.name, "please report this with the version of your kernel")

    @property
    def status(self) -> str:
        """One word for it."""
        return "pass" if self.holds else "fail" if self.needed else "warn"


def main(words: list[str]) -> int:
    """Look at everything a run needs."""
    parser = Parser(
        "harness doctor",
        description="Try the box on this machine, and say what stops this project from being verified.",
    )
    parser.add_argument("--no-try", action="store_true", help="do not start the project's server")
    with_project(parser)
    with_sandbox(parser)
    with_json(parser)
    options = parser.parse_args(words[1:])
    project, settings = _place(options.repo)
    settings = boxed_as_asked(settings, options)
    rows = [*_machine(project), *_box(settings, project)]
    assurance = _assurance(settings, rows)
    is_boxed = all(row.holds for row in rows if row.needed)
    rows += _project(project, settings if is_boxed and not options.no_try else None)
    if options.json:
        print_json({"assurance": assurance, "rows": [_plain(row) for row in rows]})
    else:
        _show(rows, assurance)
    return 0 if all(row.holds for row in rows if row.needed) else 3


def _place(path: Path) -> tuple[Path, Settings]:
    """The project as a run would see it; or any folder."""
    try:
        home = open_home(path)
    except HarnessError:
        return path.resolve(), read_settings(path / "harness")
    return home.repository.root, read_settings(home.layout.harness, granted=home.trust.granted())


def _machine(project: Path) -> Iterator[Row]:
    kernel = os.uname()
    yield Row("kernel", holds=True, seen=f"{kernel.sysname} {kernel.release}, {kernel.machine}")
    git = program("git", outside=project)
    yield Row("git", holds=git is not None, seen=git or "not found")
    user_file()
    yield Row("your settings", holds=True, seen=str(config_home() / "config.toml"))


def _box(settings: Settings, project: Path) -> Iterator[Row]:
    if settings.sandbox == NONE:
        yield Row("box", holds=True, seen="none, as you asked: commands run as you, with your files")
        return
    found = list(tried(project, settings))
    holding = [one for one in found if all(layer.holds for layer in one[1])]
    for boxing, layers in holding[:1] or found:
        yield Row("box", holds=True, seen=f"{boxing.kind}, {boxing.program}")
        yield from (Row(layer.name, layer.holds, layer.seen) for layer in layers)
    if not found:
        yield Row("start", holds=False, seen="no program that makes boxes was found")
    reason = cgroup_reason()
    yield Row(
        "limits of the whole box", not reason, reason or "memory and processes, by a cgroup", needed=False
    )


def _project(project: Path, settings: Settings | None) -> Iterator[Row]:
    """What is to be said of the project; it is started only where settings say how it is boxed."""
    try:
        home = open_home(project)
    except HarnessError as error:
        yield Row("project", holds=False, seen=error.message, needed=False, category="project")
        return
    yield Row("project", holds=True, seen=str(home.repository.root), category="project")
    yield from (_row(finding) for finding in look_at(home, settings))


def _row(finding: Finding) -> Row:
    return Row(finding.name, finding.holds, finding.seen, finding.needed, finding.fix, "project")


def _assurance(settings: Settings, rows: list[Row]) -> str:
    if settings.sandbox not in ("auto", "bubblewrap"):
        return Assurance.UNSANDBOXED.value
    return (
        Assurance.SANDBOXED.value
        if all(row.holds for row in rows if row.needed)
        else "none: a run is refused"
    )


def _plain(row: Row) -> dict[str, object]:
    return {
        "category": row.category,
        "name": row.name,
        "status": row.status,
        "holds": row.holds,
        "seen": row.seen,
        "needed": row.needed,
        "fix": row.fix,
    }


def _show(rows: list[Row], assurance: str) -> None:
    width = max(len(row.name) for row in rows)
    for row in rows:
        mark = "ok  " if row.holds else "FAIL" if row.needed else "weak"
        print_text(f"{mark}  {row.name:<{width}}  {row.seen}")
        if row.fix:
            print_text(f"      {'':<{width}}  → {row.fix}")
    print_text(f"\nassurance of a run here: {assurance}")
