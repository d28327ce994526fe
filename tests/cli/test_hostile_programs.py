"""Programs that a project has, and that are named like those this program starts."""

import json
import os
import subprocess
from pathlib import Path

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from tests.cli.scripted import HONEST_LINES, use, with_executor, write_script
from tests.conftest import Cli, commit_all, git

NAMES = ("git", "bwrap", "python3", "python", "sh", "rg", "env", "unshare", "true", "cat", "openssl")
FOLDERS = ("node_modules/.bin", "bin", "")
HONEST_WORK = HONEST.lines["executor"][0]["replies"]


def plant(repo: Path, marker: Path) -> str:
    """Programs that leave their name outside of a box; gives a search path that begins with them."""
    for folder in FOLDERS:
        (repo / folder).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            path = repo / folder / name
            path.write_text(f'#!/bin/sh\necho {name} >> {marker}\nexec /usr/bin/{name} "$@"\n')
            path.chmod(0o755)
    (repo / ".gitignore").write_text("node_modules\n")
    commit_all(repo, "attack")
    relative = ("", ".", "node_modules/.bin", "./bin")
    return os.pathsep.join([*relative, *(str(repo / folder) for folder in FOLDERS), os.environ["PATH"]])


def test_a10_programs_of_a_project_run_in_its_box_only(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """First on PATH, by relative and full names, none is run outside of a box; plainly started, all are."""
    marker = tmp_path / "marker"
    path = plant(sample, marker)
    look = use(
        "shell", command="command -v rg > where.txt; sh node_modules/.bin/true && echo ran >> where.txt"
    )
    script = write_script(
        tmp_path, with_executor({"replies": [look, use("search", pattern="todos"), *HONEST_WORK]})
    )
    ran = cli("run", REQUEST, "--model", script, "--json", cwd=sample, env={"PATH": path})
    assert ran.code == 0, ran.err
    assert ran.json()["assurance"] == "sandboxed"
    seen = git(sample, "show", f"{ran.json()['branch']}:where.txt").splitlines()
    assert seen == [str(sample / "node_modules" / ".bin" / "rg"), "ran"]
    scenarios = tmp_path / "scenarios.json"
    wanted = HONEST_LINES["verifier"][0]["replies"][0]["calls"][0]["arguments"]["scenarios"]
    scenarios.write_text(json.dumps(wanted))
    words = ("verify", "--base", "HEAD", "--head", ran.json()["branch"], "--scenarios", scenarios)
    assert cli(*words, cwd=sample, env={"PATH": path}).code == 0
    assert not marker.exists()
    for name in NAMES:
        subprocess.run([name, "--version"], cwd=sample, env={"PATH": path}, check=False, capture_output=True)
    assert set(marker.read_text().split()) == set(NAMES)


def test_a10_links_of_a_project_open_nothing_of_the_users(
    sample: Path, home: Path, tmp_path: Path, cli: Cli
) -> None:
    """A folder of programs on PATH brings what its links lead to into a box; one of the project does not."""
    (home / "papers").mkdir()
    (home / "papers" / "letter").write_text("a private letter\n")
    mine, theirs = tmp_path / "tools" / "bin", sample / "bin"
    for folder in (mine, theirs):
        folder.mkdir(parents=True)
        (folder / "helper").symlink_to(home / "papers" / "letter")
    commit_all(sample, "attack")
    (tmp_path / "way").symlink_to(sample)
    look = use("shell", command=f"cat {home}/papers/letter > seen.txt; ls {tmp_path}/way >> seen.txt; true")
    script = write_script(tmp_path, with_executor({"replies": [look, *HONEST_WORK]}))

    def seen(*folders: Path) -> str:
        path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
        ran = cli("run", REQUEST, "--model", script, "--json", cwd=sample, env={"PATH": path})
        assert ran.code == 0, ran.err
        return git(sample, "show", f"{ran.json()['branch']}:seen.txt")

    assert seen(theirs, tmp_path / "way" / "bin") == ""
    assert seen(mine) == "a private letter"
