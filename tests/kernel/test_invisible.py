"""Characters without a shape."""

import json

import pytest

from harness_executor.kernel.invisible import escaped, is_invisible, remark, without_invisible

HIDDEN = "\u200b\u200d\u202e\u2066\ufeff\U000e0041\u00ad\ufe0f"
SEEN = "a é ñ 日 \u0301\u00a0\n\t"


def test_invisible_is_what_has_no_shape() -> None:
    """Zero-width, bidirectional, tag and selector characters are invisible; accents and spaces are not."""
    assert all(map(is_invisible, HIDDEN))
    assert not any(map(is_invisible, SEEN))
    assert without_invisible(HIDDEN + SEEN + HIDDEN) == SEEN


def test_a05_what_cannot_be_seen_is_shown_escaped() -> None:
    """An escape stands in the place of each; everything else stays as it is."""
    assert escaped("a\u200bb\u202ec\U000e0041") == "a\\u200bb\\u202ec\\udb40\\udc41"
    assert escaped(SEEN) == SEEN


@pytest.mark.parametrize("text", [HIDDEN, f"x{HIDDEN}y", SEEN, "\U000e0041", '"\\\u200b'])
def test_escaped_json_is_the_same_json(text: str) -> None:
    """A program reads the same value, and a terminal shows what is in it."""
    made = escaped(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(made) == {text: [text]}
    assert not any(map(is_invisible, made))


def test_a05_a_remark_counts_and_names_them() -> None:
    """A text with such characters is remarked on; one that only begins with a byte order mark is not."""
    said = remark("AGENTS.md", "do\u200b this\u202e\u200b")
    assert said == "AGENTS.md has 3 invisible characters (U+200B, U+202E); a model reads them"
    assert remark("AGENTS.md", "\ufeffdo this") == ""
    assert remark("AGENTS.md", SEEN) == ""
    assert "…" in remark("x", "".join(chr(0xE0041 + n) for n in range(9)))
