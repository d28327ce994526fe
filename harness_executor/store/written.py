"""What `harness init` wrote into a project, kept outside of it, so that nobody else can pass for it."""

import hashlib
import json
from pathlib import Path

from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.store.files import write_atomically


@frozen
class Written:
    """The digest of the environment.json that was last written for one project on this machine."""

    path: Path

    def remember(self, text: str) -> None:
        """Write down that this text is ours."""
        write_atomically(self.path, json.dumps({"sha256": _digest(text.encode())}) + "\n")

    def is_ours(self, file: Path) -> bool:
        """Is this file as it was written?"""
        try:
            data = parse(self.path.read_text(encoding="utf-8"))
            return isinstance(data, dict) and data.get("sha256") == _digest(file.read_bytes())
        except (OSError, Ambiguous, UnicodeDecodeError):
            return False


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
