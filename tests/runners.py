"""Real runners of tests and scenarios, fetched once by `make apps` and used without a network."""

import shlex
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from tests.rooms import PYTHON

ROOT = Path(__file__).parent.parent
LISTED = Path(__file__).parent / "workspace" / "testing" / "runners"
KEPT = ROOT / ".apps" / "runners"
LISTED_TOOLS = Path(__file__).parent / "evidence" / "formats" / "tools"
KEPT_TOOLS = ROOT / ".apps" / "tools"
_OF_PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
PYTEST = f"PYTHONPATH=.venv/packages {PYTHON} -S -m pytest"
"""The command that runs pytest in a project that has it."""


def fetch() -> None:
    """Install jest, vitest and mocha, and newman and httpyac, in the versions that are listed."""
    words = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    for listed, kept in ((LISTED, KEPT), (LISTED_TOOLS, KEPT_TOOLS)):
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(listed / "package.json", kept)
        subprocess.run(words, cwd=kept, check=True, timeout=600)


def give_pytest(project: Path) -> None:
    """Copy pytest into a project's own environment, which a box shows."""
    for name in _OF_PYTEST:
        found = find_spec(name)
        assert found is not None
        assert found.origin is not None
        source, target = Path(found.origin), project / ".venv" / "packages"
        if source.name == "__init__.py":
            shutil.copytree(source.parent, target / name, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)


def make_environment(project: Path) -> Path:
    """Give a project an environment with the pytest that it has; gives the folder of its packages."""
    words = [*shlex.split(PYTHON), "-m", "venv", "--without-pip", ".venv"]
    subprocess.run(words, cwd=project, check=True, timeout=120)
    site = next((project / ".venv" / "lib").glob("python3*")) / "site-packages"
    (site / "pytest.pth").write_text(str(project / ".venv" / "packages"))
    return site


def node_runners() -> Path:
    """The folder with jest, vitest and mocha."""
    modules = KEPT / "node_modules"
    assert modules.is_dir(), "run `make apps` first: it fetches what the projects need"
    return modules


def tool(name: str) -> str:
    """The command of newman or httpyac."""
    found = KEPT_TOOLS / "node_modules" / ".bin" / name
    assert found.is_file(), f"run `make apps` first: it fetches {name}"
    return str(found)


def give_node_runners(project: Path) -> None:
    """Let a project have jest, vitest and mocha."""
    link = ["--link"] if KEPT.stat().st_dev == project.stat().st_dev else []
    subprocess.run(["cp", "-a", *link, str(node_runners()), str(project)], check=True, timeout=300)


if __name__ == "__main__":
    fetch()
