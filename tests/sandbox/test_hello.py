"""The name that a TLS client asks for, read from its first message."""

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.sandbox.egress import Answer
from harness_executor.sandbox.hello import BadHello, Hello, read_hello
from tests.sandbox.outside import Listener, Outside, read_all, status
from tests.sandbox.tls import (
    Secure,
    made_hello,
    make_certificate,
    real_hello,
    server_names,
    split_records,
)

ECH = (0xFE0D, b"\0" * 12)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate that is made for these tests."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(certificate: tuple[Path, Path]) -> Secure:
    """A TLS server that answers for any name."""
    return Secure(*certificate)


@pytest.fixture
def outside(secure: Secure) -> Iterator[Outside]:
    """A way out that leads to it."""
    with Outside(["a.com", "127.0.0.1"], serve=secure.serve) as made:
        yield made


@pytest.fixture
def direct(secure: Secure) -> Iterator[Callable[[], socket.socket]]:
    """Connections to the server with nothing between."""
    listener = Listener(secure.serve)
    yield lambda: socket.create_connection(listener.address, 10)
    listener.close()


def _tunnel(outside: Outside, host: str = "a.com:443") -> socket.socket:
    connection = outside.connect()
    connection.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert status(connection.recv(65_536)) == 200
    return connection


@pytest.mark.parametrize(("host", "name"), [("a.com:443", "a.com"), ("A.com:443", "A.COM")])
def test_a_tunnel_carries_tls_to_the_host_it_was_asked_for(
    outside: Outside, secure: Secure, host: str, name: str
) -> None:
    """A client that asks for the same host in both places gets the host's answer, certificate and all."""
    assert secure.ask(_tunnel(outside, host), name).endswith(b"secret")
    assert [asked.lower() for asked in secure.asked] == ["a.com"]
    assert [told.answer for told in outside.told] == [Answer.ALLOWED]


@pytest.mark.parametrize("name", ["evil.example", None])
def test_a54_tls_for_another_host_is_cut_off(outside: Outside, secure: Secure, name: str | None) -> None:
    """A tunnel to a listed host carries no TLS that asks for another, or for none."""
    with pytest.raises((ssl.SSLError, ConnectionError)):
        secure.ask(_tunnel(outside), name)
    assert secure.asked == []
    assert [str(told) for told in outside.told] == [f"egress refused: a.com:443: TLS asks for {name or ''!a}"]


@pytest.mark.parametrize("name", ["evil.example", None])
def test_a54_the_server_would_answer_it(
    direct: Callable[[], socket.socket], secure: Secure, name: str | None
) -> None:
    """With nothing between, the same server answers the same client for another name, and for none."""
    assert secure.ask(direct(), name).endswith(b"secret")
    assert secure.asked == [name or ""]


def test_an_address_has_no_name_to_ask_for(outside: Outside, secure: Secure) -> None:
    """A tunnel to a listed address carries TLS that names no host."""
    assert secure.ask(_tunnel(outside, "127.0.0.1:443"), None).endswith(b"secret")


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a54_a_name_that_is_split_is_still_read(
    outside: Outside, direct: Callable[[], socket.socket], secure: Secure, size: int
) -> None:
    """A first message over many records hides no name from us, and the server would have read it."""
    hidden = split_records(real_hello("evil.example"), size)
    with direct() as connection:
        connection.sendall(hidden)
        assert connection.recv(1) == b"\x16"
    assert secure.asked == ["evil.example"]
    with _tunnel(outside) as connection:
        connection.sendall(hidden)
        assert read_all(connection) == b""
    with _tunnel(outside) as connection:
        connection.sendall(split_records(real_hello("a.com"), size))
        assert connection.recv(1) == b"\x16"
    assert secure.asked == ["evil.example", "a.com"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "not TLS"),
        (b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n", "not TLS"),
        (b"SSH-2.0-x\r\n", "not TLS"),
        (b"\x16\x03\x01\x00\x01\x02", "not the first message"),
        (made_hello(server_names(b"a.com"), ECH), "hides which host"),
        (made_hello(server_names(b"a.com", b"evil.example")), "left over"),
        (made_hello(server_names(b"a.com"), server_names(b"evil.example")), "two names"),
        (made_hello(server_names(b"a.com\0")), "asks for 'a.com"),
        (made_hello(server_names(b"a.com.")), "asks for 'a.com.'"),
    ],
)
def test_a54_nothing_but_clear_tls_passes_a_tunnel(said: bytes, why: str) -> None:
    """Other protocols, two names, and a message that hides its name are cut off before a byte goes out."""
    with Outside(["a.com"]) as outside:
        with _tunnel(outside) as connection:
            connection.sendall(said)
            assert read_all(connection) == b""
        assert [told.answer for told in outside.told] == [Answer.REFUSED]
        assert why in outside.told[0].reason
    assert b"".join(outside.canary.heard) == b""


def test_a_clear_hello_made_by_hand_passes() -> None:
    """The same message with one name and nothing hidden reaches the host, byte for byte."""
    said = made_hello(server_names(b"a.com"))
    with Outside(["a.com"]) as outside, _tunnel(outside) as connection:
        connection.sendall(said + b"\r\n\r\n")
        assert status(read_all(connection)) == 200
        assert outside.canary.heard == [said + b"\r\n\r\n"]


def test_the_tunnels_of_python_are_understood(outside: Outside, secure: Secure) -> None:
    """The client under pip, which before Python 3.12 asks in HTTP/1.0 and without Host, gets through."""
    context = ssl.create_default_context(cafile=str(secure.certificate))
    client = http.client.HTTPSConnection("127.0.0.1", outside.port, timeout=10, context=context)
    client.set_tunnel("a.com", 443)
    client.request("GET", "/")
    assert client.getresponse().read() == b"secret"
    client.close()
    refused = http.client.HTTPSConnection("127.0.0.1", outside.port, timeout=10, context=context)
    refused.set_tunnel("evil.example", 443)
    with pytest.raises(OSError, match=r"403 Forbidden By network\.allow"):
        refused.request("GET", "/")
    refused.close()


@pytest.mark.parametrize("name", ["a.com", "x.w.example", None])
def test_the_hello_of_the_real_library_is_read(name: str | None) -> None:
    """Every part of a real first message is not yet one, and the whole has its name."""
    hello = real_hello(name)
    assert read_hello(hello) == read_hello(hello + b"\x17\x03\x03") == Hello(name or "")
    assert {read_hello(hello[:length]) for length in range(len(hello))} == {None}


@pytest.mark.parametrize(
    "data",
    [
        b"\x15\x03\x01\x00\x02\x01\x00",
        b"\x80\x2e\x01\x03\x01",
        b"\x16\x02\x00\x00\x05hello",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\xff\xff",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
        b"\x16\x03\x01\x00\x04\x01\x00\x00\x00",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x00\x00",
        made_hello((0, b"")),
        made_hello((0, b"\0\0")),
        made_hello((0, b"\0\x05\0\0\x02a")),
        made_hello(server_names(b"a.com", kind=1)),
        made_hello(server_names("\u0430.com".encode())),
    ],
)
def test_what_is_no_hello_is_refused(data: bytes) -> None:
    """Alerts, older protocols, lengths that cannot be, and names of another kind are errors."""
    with pytest.raises(BadHello):
        read_hello(data)


@given(st.binary(max_size=300), st.integers(0, 200), st.sampled_from(["", "a.com"]))
def test_any_bytes_are_read_or_refused(noise: bytes, at: int, name: str) -> None:
    """Noise in a message is a message, a part of one, or an error of this kind."""
    clean = made_hello(server_names(name.encode())) if name else b""
    try:
        read_hello(clean[:at] + noise + clean[at + len(noise) :])
    except BadHello:
        return
