"""Scripts of a project that its test command runs."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_executor.workspace.export import open_desk
from harness_executor.workspace.repository import open_repository
from harness_executor.workspace.testing.pristine import pristine_tree
from harness_executor.workspace.testing.scripts import scripts_of
from harness_executor.workspace.trees import list_tree
from tests.conftest import commit_all, git

FILES = {
    "Makefile": "test: build\n\tsh ci/all.sh\nserve:\n\tpython app.py\n\t./start.sh\n",
    "package.json": '{"scripts": {"test": "node run-tests.mjs", "start": "node checkout.js"}}\n',
    "ci/all.sh": "sh $(dirname $0)/one.sh\npython app.py --version\n",
    "ci/one.sh": "pytest -q\n",
    "back/bin/verify": "#!/bin/sh\npytest -q\n",
    "run-tests.mjs": "import './checkout.js'\n",
    "checkout.js": "",
    "start.sh": "",
    "app.py": "",
}


def project(tmp_path: Path, *versions: Mapping[str, str]) -> Path:
    """A repository with a commit for each version."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    for files in versions:
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        commit_all(root, "Work")
    return root


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("sh ci/one.sh", {"ci/one.sh"}),
        ("make test", {"ci/all.sh", "ci/one.sh"}),
        ("npm test", {"run-tests.mjs"}),
        ("cd back && bin/verify", {"back/bin/verify"}),
        ("cd back && sh ../ci/one.sh", {"ci/one.sh"}),
        ("./start.sh && python app.py", {"start.sh"}),
        ("node checkout.js --selftest", set()),
        ("pytest -q", set()),
    ],
)
def test_finds_what_a_command_runs(tmp_path: Path, command: str, scripts: set[str]) -> None:
    """Scripts are found by their names, also behind make and npm; a program that they start is none."""
    root = project(tmp_path, FILES)
    desk = open_desk(open_repository(root), tmp_path / "desk")
    tree = git(root, "rev-parse", "HEAD^{tree}").strip()
    assert scripts_of(desk, list_tree(desk.git, tree), command) == scripts


def test_the_script_of_base_runs_the_tests_of_base(tmp_path: Path) -> None:
    """A script that the change altered is put back with the tests; the program stays as it was changed."""
    root = project(tmp_path, FILES, {"ci/one.sh": "true\n", "app.py": "new\n"})
    desk = open_desk(open_repository(root), tmp_path / "desk")
    base, change = (git(root, "rev-parse", f"{ref}^{{tree}}").strip() for ref in ("HEAD~1", "HEAD"))
    place = desk.export(pristine_tree(desk, base, change, "make test"), tmp_path / "out")
    assert (place / "ci/one.sh").read_text() == "pytest -q\n"
    assert (place / "app.py").read_text() == "new\n"
    assert pristine_tree(desk, base, change, "pytest -q") == change


LOADING = {
    "package.json": '{"scripts": {"dev": "node -r ./trace.js .", "test": "node -r ./reg.cjs --test"}}\n',
    "Makefile": "test:\n\tpytest -p told \\\n\t  -c conf/test.ini\nserve:\n\tserver -c conf/server.ini\n",
    **dict.fromkeys(("trace.js", "reg.cjs", "told.py", "conf/test.ini", "conf/server.ini", "a.txt"), ""),
}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("npm test", {"reg.cjs"}),
        ("make test", {"told.py", "conf/test.ini"}),
        ("node --import=./trace --test", {"trace.js"}),
        ("eslint --config conf/server.ini .", {"conf/server.ini"}),
        ("pytest -p no:told -p xdist -r a.txt", set()),
        (
            "cp -r ./trace /tmp; mkdir -p told && yes -p told; server -c conf/server.ini & node --test",
            set(),
        ),
    ],
)
def test_finds_what_a_runner_loads(tmp_path: Path, command: str, files: set[str]) -> None:
    """Options of a runner name modules and settings; those of the program do not count."""
    root = project(tmp_path, LOADING)
    desk = open_desk(open_repository(root), tmp_path / "desk")
    tree = git(root, "rev-parse", "HEAD^{tree}").strip()
    assert scripts_of(desk, list_tree(desk.git, tree), command) == files
