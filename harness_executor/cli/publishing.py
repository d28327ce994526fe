"""Reports for people and programs, written while a command runs."""

import sys
from collections.abc import Iterable
from pathlib import Path

from harness_executor.config import step_summary
from harness_executor.evidence.account import Account
from harness_executor.home import Home
from harness_executor.store.files import write_atomically


def write_reports(account: Account, reports: Iterable[tuple[str, Path]]) -> None:
    """Write each report into its file."""
    from harness_executor.evidence.rendering.formats import rendered  # noqa: PLC0415 - start-up is a feature

    for name, place in reports:
        write_atomically(place, rendered(name, account))


def tell_github(account: Account) -> None:
    """In GitHub Actions, add to the summary of the step and annotate it; elsewhere, nothing."""
    place = step_summary()
    if place is None:
        return
    from harness_executor.evidence.rendering import annotations, github  # noqa: PLC0415 - start-up is a feature

    taken = place.stat().st_size if place.exists() else 0
    with place.open("a", encoding="utf-8", errors="backslashreplace") as summary:
        summary.write(github.render(account, taken) + "\n")
    sys.stderr.write(annotations.render(account) + "\n")


def attest(home: Home, folder: Path, commit: str) -> None:
    """Sign an accepted verification, and say where."""
    from harness_executor.evidence.notary import notary_for  # noqa: PLC0415 - start-up is a feature

    notary_for(home.repository, home.layout, home.seal).attest(folder, commit)
    sys.stderr.write(f"attested: {folder / 'attestation.json'}\n")
