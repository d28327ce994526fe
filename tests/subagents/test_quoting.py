"""Does a text quote another? Case, spaces and punctuation do not count, words do."""

import pytest

from harness_executor.subagents.quoting import quotes

REQUEST = (
    "Add GET /todos/stats with the number of to-dos in total, open and done. Other routes stay as they are."
)
CONTRACT = 'GET /todos/stats → 200 {"total": int, "open": int}; unknown ids → 404'
SOURCES = (REQUEST, CONTRACT)


@pytest.mark.parametrize(
    "text",
    [
        REQUEST,
        "add get /todos/stats",
        "“Other routes   stay as they are”",
        'the request says: "number of to-dos in total"',
        "OTHER ROUTES STAY",
        "unknown ids -> 404",
        '200 {"total": int',
        "open and done",
        "total",
        "/todos/stats",
        "it must count the number of to-dos, however many",
    ],
)
def test_words_of_a_source_are_a_quotation(text: str) -> None:
    """Three words in a row are enough, and less where there are no three."""
    assert quotes(text, SOURCES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "…!?",
        "the endpoint must be fast",
        "requests without a token are turned away",
        "stats total open",
        "rate",
        "open doors",
        "routes other stay",
        "in tot",
        "they are get todos",
    ],
)
def test_words_of_nobody_are_none(text: str) -> None:
    """Words that stand in no source, or not in that order, are invented; two sources do not make one."""
    assert not quotes(text, SOURCES)


def test_a_script_without_spaces_is_quoted_by_its_letters() -> None:
    """A request in Chinese or Thai can be quoted in part."""
    sources = ("添加一个统计接口: 返回总数", "เพิ่มเส้นทางสถิติ")
    assert quotes("统计接口", sources)
    assert quotes("返回总数", sources)
    assert quotes("เส้นทาง", sources)
    assert not quotes("删除所有数据", sources)


def test_written_differently_is_still_quoted() -> None:
    """Full-width letters, ligatures and typographic quotes are the same words."""
    full_width = "".join(
        chr(ord(letter) + 0xFEE0) if letter.strip() else letter for letter in "Add GET /todos"
    )
    assert quotes(full_width, SOURCES)
    assert quotes("don't find it", ("users don\u2019t \ufb01nd it",))


def test_without_sources_nothing_is_quoted() -> None:
    """Who asks for quotations has to say of what."""
    assert not quotes("add GET /todos/stats", ())
