"""What the user granted a project, kept outside of it."""

import json
from dataclasses import asdict
from pathlib import Path

from harness_executor.config import state_home
from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.trust import Wish
from harness_executor.store.files import write_atomically
from harness_executor.store.layout import Layout


@frozen
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


def trust_in(layout: Layout) -> Trust:
    """What the user granted the project of a layout."""
    return Trust(state_home() / "trust" / f"{layout.key}.json")
