"""Programs of others that read our reports, fetched once by `make apps`."""

import shutil
import subprocess
from pathlib import Path

LISTED = Path(__file__).parent / "evidence" / "rendering" / "readers"
KEPT = Path(__file__).parent.parent / ".apps" / "readers"
MULTITOOL = KEPT / "node_modules" / "@microsoft" / "sarif-multitool-linux" / "Sarif.Multitool"


def fetch() -> None:
    """Install them in the versions that are listed."""
    KEPT.mkdir(parents=True, exist_ok=True)
    shutil.copy(LISTED / "package.json", KEPT)
    words = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(words, cwd=KEPT, check=True, timeout=600)
    MULTITOOL.chmod(0o755)


def modules() -> Path:
    """The folder that Node finds them in."""
    found = KEPT / "node_modules"
    assert found.is_dir(), "run `make apps` first: it fetches what reads our reports"
    return found


if __name__ == "__main__":
    fetch()
