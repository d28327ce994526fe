"""The head of a request to a proxy, read by one strict grammar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.hosts import Target
from harness_executor.sandbox.heads import BadHead, Head, find_end, read_head
from tests.sandbox.spellings import REQUESTS

CLEAN = b"GET http://a.com:8080/x?y HTTP/1.1\r\nHost: a.com:8080\r\nX-One:  two  words \t\r\nAccept:\r\n\r\n"


def test_a_request_is_read() -> None:
    """A request has a method, a target, a path and fields without the space around their values."""
    fields = (("Host", "a.com:8080"), ("X-One", "two  words"), ("Accept", ""))
    assert read_head(CLEAN) == Head("GET", Target("a.com", 8080), "/x?y", "HTTP/1.1", fields)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("CONNECT a.com:443 HTTP/1.1\r\nHost: a.com:443\r\n\r\n", Target("a.com", 443)),
        ("CONNECT a.com:443 HTTP/1.1\r\nHost: A.com\r\nContent-Length: 0\r\n\r\n", Target("a.com", 443)),
        ("CONNECT a.com:443 HTTP/1.0\r\n\r\n", Target("a.com", 443)),
        ("CONNECT [::1]:443 HTTP/1.1\r\nHost: [0::1]:443\r\n\r\n", Target("[::1]", 443)),
        ("HEAD http://a.com HTTP/1.1\r\nHost: a.com\r\n\r\n", Target("a.com", 80)),
    ],
)
def test_the_ways_real_clients_ask_are_read(text: str, target: Target) -> None:
    """Host may leave out the usual port, and HTTP/1.0 may leave out Host."""
    assert read_head(text.encode()).target == target


def test_a_head_ends_or_may_still_end() -> None:
    """Every part of a head may still become one; the whole says where it ends."""
    assert {find_end(CLEAN[:length]) for length in range(len(CLEAN))} == {None}
    assert find_end(CLEAN + b"\0\xff\n") == len(CLEAN)


@pytest.mark.parametrize("name", sorted(set(REQUESTS) - {"a head that is too long"}))
def test_an_unclear_request_is_no_head(name: str) -> None:
    """Nothing of the corpus is read; how long a head may be is for the proxy to say."""
    with pytest.raises(BadHead):
        read_head(REQUESTS[name].encode())


@given(st.binary(min_size=1, max_size=4), st.integers(0, len(CLEAN)))
def test_any_bytes_are_read_or_refused(noise: bytes, at: int) -> None:
    """With noise in it a head is refused, or goes out as a head that reads the same."""
    data = CLEAN[:at] + noise + CLEAN[at:]
    try:
        end = find_end(data)
        head = read_head(data[:end])
    except BadHead:
        return
    out = head.forwarded()
    assert out.startswith(f"{head.method} {head.path} HTTP/1.".encode())
    assert out.count(b"\r\n\r\n") == 1
    assert out.lower().count(b"\r\nhost: ") == 1
    assert read_head(out.replace(b" ", f" http://{head.target}".encode(), 1)).target == head.target
