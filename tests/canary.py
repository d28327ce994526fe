"""A key that must appear nowhere: what a test run leaves is searched for it when the run ends."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

CANARY = "sk-ant-canary-Zq7+Wd/0vB=Kx?Lm&Np-4e81c07b"
"""The key of every run in the tests that needs one."""


def forms(key: str) -> dict[str, bytes]:
    """Every way a key can be written: as it is, and coded."""
    raw = key.encode()
    found = {
        "raw": raw,
        "hex": raw.hex().encode(),
        "hex in capitals": raw.hex().upper().encode(),
        "for an address": quote(key, safe="").encode(),
        "for a form": quote(key, safe="/").encode(),
    }
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
        middle = coded[4 if shift else 0 : len(coded) - 4]
        found[f"base64, shifted by {shift}"] = middle
        found[f"base64 for an address, shifted by {shift}"] = middle.translate(bytes.maketrans(b"+/", b"-_"))
    return found


def leaks(folder: Path, key: str = CANARY) -> Iterator[str]:
    """Every file below a folder that holds the key in any form, and in which."""
    wanted = forms(key)
    anything = re.compile(b"|".join(map(re.escape, wanted.values())))
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file() or _is_hole(path):
            continue
        try:
            hit = anything.search(path.read_bytes())
        except OSError:
            continue
        if hit:
            form = next(name for name, text in wanted.items() if text == hit[0])
            yield f"{path} ({form})"


def _is_hole(path: Path) -> bool:
    """Is it a large file with nothing in it?"""
    found = path.stat()
    return found.st_blocks == 0 and found.st_size > 1_000_000
