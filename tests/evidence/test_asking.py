"""The request of a step as it is sent."""

from email.parser import BytesParser
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.evidence.asking import Asked, Astray, as_bytes, as_text, asked, redirected
from harness_executor.kernel.acts import Call, Listening, Upload

BASE = "http://127.0.0.1:8000"
NAMES = st.text(st.characters(codec="utf-8"), min_size=1)


@given(st.dictionaries(NAMES, st.text(st.characters(codec="utf-8")), min_size=1))
def test_a_form_is_read_back_as_it_was_written(form: dict[str, str]) -> None:
    """Whatever the fields hold, a server that decodes the form finds them."""
    request = asked(Call("/", "POST", form=form), BASE)
    assert request.content is not None
    assert dict(parse_qsl(request.content.decode(), keep_blank_values=True)) == form
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"


def test_a_field_may_be_sent_several_times() -> None:
    """A list is one field for each of its texts."""
    assert asked(Call("/", "POST", form={"a": ("1", "2"), "b": "3"}), BASE).content == b"a=1&a=2&b=3"


def test_files_are_sent_with_the_fields_of_the_form() -> None:
    """A reader of multipart messages finds every field and file, with names, types and bytes."""
    files = {"photo": Upload('a "b".png', "base64:iVBOR/8=", "image/png"), "note": Upload("n.txt", "hällo")}
    request = asked(Call("/", "POST", form={"title": "x"}, files=files), BASE)
    assert request.content is not None
    head = b"content-type: " + request.headers["content-type"].encode() + b"\r\n\r\n"
    parts = [
        part for part in BytesParser().parsebytes(head + request.content).walk() if not part.is_multipart()
    ]
    assert [part.get_param("name", header="content-disposition") for part in parts] == [
        "title",
        "photo",
        "note",
    ]
    assert [part.get_content_type() for part in parts] == ["text/plain", "image/png", "text/plain"]
    assert parts[1].get_filename() == "a %22b%22.png"
    assert parts[1].get_payload(decode=True) == b"\x89PNG\xff"
    assert parts[2].get_payload(decode=True) == "hällo".encode()


def test_the_same_form_is_the_same_bytes() -> None:
    """Old and new code get byte for byte the same request."""
    call = Call("/", "POST", files={"f": Upload("a", "b")})
    assert asked(call, BASE) == asked(call, BASE)
    assert asked(call, BASE) != asked(Call("/", "POST", files={"f": Upload("a", "c")}), BASE)


def test_a_file_cannot_smuggle_a_header() -> None:
    """A type of two lines is refused, and a name of two lines is one line."""
    with pytest.raises(ValueError, match="more than one line"):
        asked(Call("/", "POST", files={"f": Upload("a", "b", "text/plain\r\nx: y")}), BASE)
    content = asked(Call("/", "POST", files={"f\r\nx: y": Upload("a\n", "b")}), BASE).content
    assert content is not None
    assert b"f%0D%0Ax: y" in content


@given(st.binary())
def test_bytes_survive_being_written_as_text(content: bytes) -> None:
    """What is written down of a body can be sent again."""
    assert as_bytes(as_text(content)) == content or content.startswith(b"base64:")


def test_a_text_that_only_looks_like_base64_is_sent_as_it_is() -> None:
    """Nothing is lost when what follows is no base64."""
    assert as_bytes("base64:!") == b"base64:!"


def test_a_stream_of_events_is_asked_for_by_its_type() -> None:
    """A server that looks at accept sees that events are wanted."""
    assert asked(Call("/", listen=Listening()), BASE).headers["accept"] == "text/event-stream"
    assert asked(Call("/", listen=Listening(websocket=True)), BASE).headers["accept"] == "*/*"


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"),
        (307, "POST", "POST"),
        (308, "PATCH", "PATCH"),
    ],
)
def test_a_redirect_keeps_or_changes_the_method(status: int, method: str, becomes: str) -> None:
    """As browsers do: 307 and 308 send the same again, the others ask with GET."""
    last = Asked(method, f"{BASE}/a/b?c", {"content-type": "x", "x-one": "1"}, b"body")
    following = redirected(last, status, "../d?e#f")
    assert (following.method, following.url) == (becomes, f"{BASE}/d?e")
    assert (following.content is None) == (becomes == "GET")
    assert following.headers["x-one"] == "1"
    assert ("content-type" in following.headers) == (becomes != "GET")


@pytest.mark.parametrize("there", [f"{BASE}/x", "http://localhost:8000/x", "//127.0.0.1:8000/x", "/x"])
def test_the_same_server_has_several_names(there: str) -> None:
    """An absolute address of the server under test is followed."""
    assert redirected(Asked("GET", f"{BASE}/", {}), 302, there).url == f"{BASE}/x"


@pytest.mark.parametrize(
    "away",
    [
        "http://127.0.0.1:8001/",
        "http://127.0.0.1/",
        "https://127.0.0.1:8000/",
        "http://example.com:8000/",
        "//example.com/",
        "file:///etc/passwd",
        "http://127.0.0.1:8000@example.com/",
        "http://[::1]:8000/",
    ],
)
def test_a_redirect_away_is_not_followed(away: str) -> None:
    """Only the server under test is ever asked."""
    with pytest.raises(Astray, match="leads away"):
        redirected(Asked("GET", f"{BASE}/", {}), 302, away)
