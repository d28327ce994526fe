"""Builds the wheel, installs it in an empty environment with the sources away, and runs the demo from it."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Prove that what is shipped works without the checkout."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    wheel = next((ROOT / "dist").glob("*.whl"))
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        place = Path(folder)
        python = place / "venv" / "bin" / "python"
        subprocess.run([os.environ.get("PYTHON", "python3"), "-m", "venv", str(place / "venv")], check=True)
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run([*install, "--constraint", str(ROOT / "constraints.txt"), str(wheel)], check=True)
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": folder, "NO_COLOR": "1"}
        where = subprocess.run(
            [str(python), "-P", "-c", "import harness_executor; print(harness_executor.__file__)"],
            cwd=folder,
            env=env,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        if not where.startswith(folder):
            print(f"error: the wheel was not used: {where}")
            return 1
        harness = [str(python.with_name("harness")), "demo"]
        demo = subprocess.run(harness, cwd=folder, env=env, capture_output=True, text=True, check=False)
    print(f"{wheel.name}: demo from the installed wheel ended with exit {demo.returncode}")
    if demo.returncode:
        print(demo.stdout + demo.stderr)
    return demo.returncode


if __name__ == "__main__":
    sys.exit(main())
