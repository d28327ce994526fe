"""Broken answers that are no JSON: pages, texts and bytes."""

import base64
import json

import pytest

from harness_executor.evidence.breaking import HEADER, MARKUP, NEAR, PART, TEXT, VALUE, broken_answers
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.expectation import Expect

PAGE = '<ul class="list">\n<li>pen</li>\n</ul>\n'


def bodies(answer: Answer, name: str, expect: Expect | None = None) -> list[str]:
    """The bodies of the broken answers of a class."""
    return [broken.body for kind, broken in broken_answers(answer, expect or Expect(200)) if kind == name]


def test_texts_and_attributes_of_a_page_are_changed_one_at_a_time() -> None:
    """Each text between tags and each attribute becomes another; the rest stays."""
    made = bodies(Answer(200, (), PAGE), MARKUP)
    assert made == [PAGE.replace('"list"', '"TSILx"'), PAGE.replace(">pen<", ">NEPx<")]


def test_a_text_loses_one_line_at_a_time() -> None:
    """A text of one line has none to lose."""
    assert bodies(Answer(200, (), "a\nb\nc"), PART) == ["b\nc", "a\nc", "a\nb\n"]
    assert bodies(Answer(200, (), "one line"), PART) == []


def test_bytes_are_cut_and_flipped() -> None:
    """A body that is no text loses its second half, and has one bit of it turned."""
    made = bodies(Answer(200, (), f"base64:{base64.b64encode(bytes([255, 0, 1, 2])).decode()}"), PART)
    assert [base64.b64decode(body.removeprefix("base64:")) for body in made] == [b"\xff\0", b"\xff\0\0\x02"]


def test_a_header_that_is_looked_at_is_dropped() -> None:
    """Only those the expectation names; the others are nobody's business."""
    answer = Answer(200, (("ETag", "1"), ("Date", "today")), "")
    made = list(broken_answers(answer, Expect(200, {"etag": "1"})))
    assert [broken.headers for kind, broken in made if kind == HEADER] == [(("Date", "today"),)]


def test_a_status_has_a_neighbour_in_its_class() -> None:
    """A 200 becomes 201, a 404 becomes 400, and a 304 has none."""
    near = {
        status: [
            broken.status for kind, broken in broken_answers(Answer(status, (), ""), Expect()) if kind == NEAR
        ]
        for status in (200, 204, 304, 404, 422)
    }
    assert near == {200: [201], 204: [200], 304: [], 404: [400], 422: [404]}


@pytest.mark.parametrize("body", ["1.1.1.1", "...", "0:0", "aA", "\u2713"])
def test_a_text_that_reads_the_same_backwards_becomes_another(body: str) -> None:
    """What equals the answer would be a broken answer that nobody can notice."""
    assert [made for made in bodies(Answer(200, (), body), TEXT) if made == body] == []


def test_a_number_too_large_for_one_more_becomes_another() -> None:
    """The float after 1e17 is further away than 1."""
    made = bodies(Answer(200, (), '{"n": 1e17}'), VALUE)
    assert made
    assert all(json.loads(body)["n"] != 1e17 for body in made)
