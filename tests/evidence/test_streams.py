"""Server-sent events, taken apart as they come."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.evidence.streams import events

STREAM = (
    b': hello\r\n\r\nevent: added\nid: 7\ndata: {"a": 1}\n\ndata: two\r\ndata: lines\r\n\r\n'
    b"retry: 10\n\ndata\n\nid: 8\rdata:[1]\r\revent: end\n\ndata: unfinished"
)
MEANT = [
    {"event": "added", "id": "7", "data": {"a": 1}},
    {"event": "message", "id": "7", "data": "two\nlines"},
    {"event": "message", "id": "7", "data": ""},
    {"event": "message", "id": "8", "data": [1]},
]


def test_takes_events_apart() -> None:
    """Names, ids and data of any line ending; comments, retry and what never ended are left out."""
    assert list(events([STREAM])) == MEANT


@given(st.lists(st.integers(0, len(STREAM))))
def test_events_do_not_depend_on_how_they_are_cut(cuts: list[int]) -> None:
    """However the network cuts a stream, its events are the same."""
    places = [0, *sorted(cuts), len(STREAM)]
    chunks = [STREAM[begin:end] for begin, end in pairwise(places)]
    assert list(events(chunks)) == MEANT


@pytest.mark.parametrize(("data", "meant"), [("1", 1), ("NaN", "NaN"), ('"a"', "a"), ("{", "{")])
def test_data_is_json_where_it_is_json(data: str, meant: Any) -> None:
    """Anything else stays the text it is."""
    assert next(events([f"data: {data}\n\n".encode()]))["data"] == meant
