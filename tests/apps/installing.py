"""Packages of the projects, fetched once by `make apps` and installed without a network for each."""

import subprocess
import sys
from pathlib import Path

APPS = Path(__file__).parent
KEPT = APPS.parent.parent / ".apps"
"""Where `make apps` keeps what it fetched; git ignores it."""
WHEELS = KEPT / "wheels"
UV = Path(sys.executable).parent / "uv"


def fetch() -> None:
    """Download every wheel, and install the packages of every Node project from its own lock."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps")
    _run([*pip, "--only-binary", ":all:", "--dest", str(WHEELS), "-r", str(APPS / "requirements.txt")], APPS)
    for lock in sorted(APPS.glob("*/base/package-lock.json")):
        _fetch_modules(lock.parent)


def _fetch_modules(base: Path) -> None:
    place = _modules_of(base.parent.name).parent
    for manifest in base.glob("**/package*.json"):
        copy = place / manifest.relative_to(base)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(manifest.read_bytes())
    _run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], place)
    (place / "node_modules").mkdir(exist_ok=True)
    if (place / "node_modules/bun").is_dir():  # the only script that is run: it puts the program in its place
        _run(["node", "install.js"], place / "node_modules/bun")


def install(name: str, project: Path) -> None:
    """Give a project its `.venv` or its `node_modules`, as its own installer would."""
    assert WHEELS.is_dir(), "run `make apps` first: it fetches what the projects need"
    if (project / "package-lock.json").exists():
        _run(["cp", "-a", *_linking(project), str(_modules_of(name)), str(project)], project)
    if wanted := _wanted(project):
        _uv(project, "venv", "--quiet", "--python", sys.executable, ".venv")
        _uv(project, "pip", "install", "--quiet", "--no-index", "--find-links", str(WHEELS), *wanted)


def _modules_of(name: str) -> Path:
    return KEPT / "node" / name / "node_modules"


def _linking(project: Path) -> list[str]:
    """Hard links take no time and no room, where both folders are on one disk."""
    return ["--link"] if project.stat().st_dev == KEPT.stat().st_dev else []


def _wanted(project: Path) -> list[str]:
    """What a person would tell their installer."""
    for listed in ("requirements-dev.txt", "requirements.txt"):
        if (project / listed).exists():
            return ["-r", listed]
    manifest = project / "pyproject.toml"
    if not manifest.exists():
        return []
    if "[build-system]" in manifest.read_text(encoding="utf-8"):
        return ["--editable", ".[test]"]
    return ["-r", "pyproject.toml", "--group", "dev"]


def _uv(project: Path, *words: str) -> None:
    _run([str(UV), "--offline", "--cache-dir", str(KEPT / "uv"), *words], project)


def _run(words: list[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"


if __name__ == "__main__":
    fetch()
