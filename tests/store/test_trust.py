"""What the user granted a project."""

from pathlib import Path

import pytest

from harness_executor.kernel.trust import Wish
from harness_executor.store.trust import Trust

WISH = Wish(("pypi.org",), ("/opt/data",))


def test_remembers_the_last_grant(tmp_path: Path) -> None:
    """Nothing is granted at first; a grant takes the place of the one before."""
    trust = Trust(tmp_path / "trust" / "project.json")
    assert trust.granted() == ""
    trust.grant(Wish(("example.com",)))
    trust.grant(WISH)
    assert Trust(trust.path).granted() == WISH.digest


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff", b'{"sha256": 7}', b'{"sha256": "a", "sha256": "b"}']
)
def test_a_file_that_cannot_be_read_grants_nothing(tmp_path: Path, content: bytes) -> None:
    """Whatever else stands there is no grant."""
    path = tmp_path / "project.json"
    path.write_bytes(content)
    assert Trust(path).granted() != WISH.digest
