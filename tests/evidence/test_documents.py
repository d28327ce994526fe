"""Documents that people write, and those that nobody should."""

from pathlib import Path

import pytest

from harness_executor.errors import UsageError
from harness_executor.evidence.documents import MOST_BYTES, data_of, text_of

BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))


@pytest.mark.parametrize("text", [BOMB, "a: &a [*a]", "&a {b: *a}"], ids=["laughs", "itself", "its own key"])
def test_a_document_that_stands_for_too_much_is_refused(text: str) -> None:
    """A few lines of YAML cannot fill the memory, nor go round for ever."""
    with pytest.raises(UsageError, match=r"f\.yaml: it stands for more than"):
        data_of(Path("f.yaml"), text)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """Nobody writes that much by hand."""
    path = tmp_path / "large.json"
    path.write_bytes(b" " * (MOST_BYTES + 1))
    with pytest.raises(UsageError, match="has more than"):
        text_of(path)


@pytest.mark.parametrize(("name", "said"), [("s.json", '{"a": 1}'), ("s.yaml", "a: 1\n")])
def test_a_mark_before_the_text_is_no_part_of_it(tmp_path: Path, name: str, said: str) -> None:
    """Editors of Windows put a byte order mark before what they save."""
    path = tmp_path / name
    path.write_text(said, encoding="utf-8-sig")
    assert data_of(path, text_of(path)) == {"a": 1}
