"""What the user granted a project, kept outside of it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.kernel.trust import Wish
from harness_executor.store.files import write_atomically


@dataclass(frozen=True)
class Trust:
    """The last grant of one project."""

    path: Path

    def granted(self) -> str:
        """The digest of what was granted, or nothing."""
        try:
            data = parse(self.path.read_text(encoding="utf-8"))
        except (FileNotFoundError, Ambiguous, UnicodeDecodeError):
            return ""
        return str(data.get("sha256", "")) if isinstance(data, dict) else ""

    def grant(self, wish: Wish) -> None:
        """Write down that the user grants exactly this; what was granted before is over."""
        data = {"sha256": wish.digest, **asdict(wish)}
        write_atomically(self.path, json.dumps(data, indent=2) + "\n")
