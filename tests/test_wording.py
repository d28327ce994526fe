"""Schemas with the words that the code has for each field."""

from dataclasses import dataclass, field

from harness_executor.shapes import schema


@dataclass(frozen=True)
class Stall:
    """Where something is sold."""

    name: str
    """What it is called,
    over two lines."""
    open_at: str = ""
    aisle: int = 0
    "Which way to go."


@dataclass(frozen=True)
class Market(Stall):
    """Many of them."""

    best: Stall = field(default_factory=lambda: Stall("fruit"))
    """Where to begin."""
    others: tuple[Stall, ...] = ()


def test_each_field_is_described_by_the_text_below_it() -> None:
    """A field without a text has no description; a text over two lines is one, without its margin."""
    fields = schema(Stall)["properties"]
    assert fields["name"]["description"] == "What it is called,\nover two lines."
    assert fields["aisle"]["description"] == "Which way to go."
    assert "description" not in fields["open_at"]


def test_the_words_reach_parts_and_what_is_inherited() -> None:
    """Types within a type, fields that are a reference, and those of a parent are described too."""
    whole = schema(Market)
    assert whole["properties"]["best"]["description"] == "Where to begin."
    assert whole["properties"]["best"]["$ref"] == "#/$defs/Stall"
    assert whole["properties"]["aisle"]["description"] == "Which way to go."
    assert whole["$defs"]["Stall"]["properties"]["aisle"]["description"] == "Which way to go."
