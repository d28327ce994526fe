"""Names of files, compared as the least careful file system would compare them."""

import pytest

from harness_executor.kernel.paths import folded, matches

MCP = (".mcp.json",)


@pytest.mark.parametrize(
    "name",
    [
        ".mcp.json",
        ".Mcp.Json",
        ".MCP.JSON",
        ".mcp.json.",
        ".mcp.json ",
        ".mcp.json . .",
        ".mcp\u200b.json",
        "\ufeff.mcp.json",
        ".m\u202ecp.json",
        ".mcp.j\U000e0073son",
        ".mcp\ufe0f.json",
        "\uff0e\uff4d\uff43\uff50\uff0e\uff4a\uff53\uff4f\uff4e",
        ".mcp.j\u017fon",
        ".mcp.json::$DATA",
        "./.mcp.json",
    ],
)
def test_a31_one_name_in_every_disguise(name: str) -> None:
    """Case, width, invisible characters, streams and trailing dots or spaces make no other name."""
    assert folded(name) == MCP


@pytest.mark.parametrize("name", [".mcp.jsonc", "mcp.json", ".mcp-json", "x.mcp.json", ".mcp.json.bak"])
def test_another_name_stays_another_name(name: str) -> None:
    """Folding does not make one of two names that no file system takes for each other."""
    assert folded(name) != MCP


@pytest.mark.parametrize(
    "path", [".git/config", ".GIT/config", "a\\.git\\config", "a/.git./CONFIG", "\uff0egit\uff0fconfig"]
)
def test_a31_folders_are_compared_like_files(path: str) -> None:
    """Every part of a path is folded, whichever slash divides it."""
    assert matches(folded(path), ".git/")


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a/b/c.py", "c.py", True),
        ("c.py/x", "c.py", False),
        ("c.py/x", "c.py/", True),
        ("c.py", "c.py/", True),
        ("a/ci/x", "/ci/", False),
        ("ci/x", "/ci/", True),
        ("ci", "/ci/x", False),
        ("a/b/c", "b/c", True),
        ("a/b/c/d", "b/c", False),
        ("x.pem", "*.pem", True),
        ("a/x.pem/y", "*.pem", False),
        ("", "*.pem", False),
    ],
)
def test_a_pattern_is_a_name_a_folder_or_a_place(path: str, pattern: str, fits: bool) -> None:
    """`x` is a name anywhere, `x/` a folder with what is in it, and `/x` stands at the root."""
    assert matches(folded(path), pattern) is fits
