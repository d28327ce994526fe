"""The search for the key finds it in every form."""

import base64
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.canary import CANARY, leaks


@pytest.mark.parametrize(
    "text",
    [
        f"key={CANARY};",
        base64.b64encode(CANARY.encode()).decode(),
        base64.b64encode(f"Bearer {CANARY} and more".encode()).decode(),
        base64.urlsafe_b64encode(f"x{CANARY}".encode()).decode(),
        CANARY.encode().hex(),
        CANARY.encode().hex().upper(),
        quote(CANARY, safe=""),
        quote(CANARY),
    ],
)
def test_a_key_is_found_in_any_form(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Raw, base64 at any place, hex or coded for an address: the file is named."""
    folder = tmp_path_factory.mktemp("leak")
    (folder / "inner").mkdir()
    leak = folder / "inner" / "file.bin"
    leak.write_bytes(b"\0\xff" + text.encode() + b"\0")
    assert [line.split(" (")[0] for line in leaks(folder)] == [str(leak)]
    leak.unlink()


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    """Other keys, and links to elsewhere, are no leak."""
    (tmp_path / "other").write_text("sk-ant-other-0123456789")
    (tmp_path / "link").symlink_to("/proc/self/environ")
    assert list(leaks(tmp_path)) == []
