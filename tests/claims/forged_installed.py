"""Changes that break something in code of which another version is installed."""

from pathlib import Path

from tests.claims.case import Corpus, Outcome
from tests.claims.project import UNBOXED
from tests.claims.tested import LOST, installed, judged

CORPUS = Corpus()


@CORPUS.forged(
    "A73", "a break that an installed copy hides", "the check test got worse", LOST, "by PYTHONPATH"
)
def hidden_by_a_copy(place: Path) -> Outcome:
    """The tests import what was installed before the change, and it is whole."""
    project = installed(place)
    project.swap("(404, ", "(410, ")
    return judged(project)


@CORPUS.forged("A73", "a break that an editable install shows on base too", LOST, "by PYTHONPATH")
def shown_on_base(place: Path) -> Outcome:
    """Without a box, the tests of base import the user's working tree, and are as red."""
    project = installed(place)
    project.swap("(404, ", "(410, ")
    copy = next(project.root.glob(".venv/lib/*/site-packages/routes.py"))
    copy.unlink()
    (copy.parent / "project.pth").write_text(f"{project.root}\n")
    return judged(project, *UNBOXED[2:])
