"""Which files a step reads, by its patterns."""

import pytest

from harness_executor.evidence.ingredients import is_read


@pytest.mark.parametrize(
    ("name", "pattern", "is_it"),
    [
        ("shop/migrations/0001.py", "**/migrations/**", True),
        ("migrations/a/b.sql", "**/migrations/**", True),
        ("shop/views/a.py", "**/migrations/**", False),
        ("shop/models.py", "**/models.py", True),
        ("src/a.ts", "src/*.ts", True),
        ("src/deep/a.ts", "src/*.ts", False),
        ("src/deep/a.ts", "./src/**", True),
        ("manage.py", "src/**", True),
        ("shop/settings/base_settings.py", "src/**", True),
        ("web/vite.config.ts", "src/**", True),
        ("web/.env", "src/**", True),
    ],
)
def test_patterns_say_what_is_read(name: str, pattern: str, *, is_it: bool) -> None:
    """`*` stays in a folder and `**` does not; the root and settings are always read."""
    assert is_read(name, (pattern,)) is is_it
