"""The way out of a box that has no network: a proxy that leads to listed hosts and nowhere else."""

import socket
import threading
import time
import urllib.request
from collections.abc import Iterator

import pytest

from harness_executor.sandbox.egress import (
    Answer,
    Decision,
    Limits,
    dial,
    proxy_environment,
    resolve,
    serve_connection,
)
from tests.sandbox.outside import PUBLIC, Listener, Outside, read_all, status
from tests.sandbox.spellings import ENTRIES, HOSTS, REQUESTS

GET = "GET http://a.com/x?y=1 HTTP/1.1\r\nHost: a.com\r\n\r\n"
CONNECT = "CONNECT a.com:443 HTTP/1.1\r\nHost: a.com:443\r\n\r\n"
NOT_PUBLIC = (
    *("127.0.0.1", "10.0.0.7", "169.254.169.254", "100.100.100.200", "168.63.129.16", "224.0.0.1"),
    *("::1", "fe80::1%lo", "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::"),
)


@pytest.fixture
def outside() -> Iterator[Outside]:
    """A way out to `a.com` and what is below `w.example`."""
    with Outside(ENTRIES) as made:
        yield made


@pytest.fixture
def careless() -> Iterator[Outside]:
    """The same world behind a proxy that checks nothing."""
    with Outside(ENTRIES, is_careless=True) as made:
        yield made


def _tunnel(host: str) -> str:
    return f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n"


def _plain(host: str) -> str:
    return f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"


def _refused(outside: Outside, request: str) -> None:
    begun = time.monotonic()
    answer = outside.ask(request)
    assert status(answer) in (400, 403)
    assert time.monotonic() - begun < 5
    assert (outside.dialled, outside.resolved, outside.canary.heard) == ([], [], [])
    assert [told.answer for told in outside.told] == [Answer.REFUSED]


@pytest.mark.parametrize("host", HOSTS, ids=ascii)
@pytest.mark.parametrize("form", [_tunnel, _plain])
def test_a54_a_spelling_of_a_host_leads_nowhere(outside: Outside, host: str, form: object) -> None:
    """No tunnel and no request for a host of the corpus looks up a name or makes a connection."""
    assert callable(form)
    _refused(outside, form(host))


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a54_an_unclear_request_leads_nowhere(outside: Outside, request_: str) -> None:
    """No request that can be read in two ways looks up a name or makes a connection."""
    _refused(outside, request_)


def test_a54_the_same_corpus_reaches_the_canary_when_nothing_is_checked(careless: Outside) -> None:
    """A proxy without these checks is led out by every host and every request of the corpus."""
    tried = [*map(_tunnel, HOSTS), *map(_plain, HOSTS), *REQUESTS.values()]
    assert [request for request in tried if status(careless.ask(request)) != 200] == []
    assert len(careless.dialled) == len(tried)
    assert len(HOSTS) >= 40


@pytest.mark.parametrize("host", ["a.com", "A.COM", "a.com:80", "x.w.example", "x.y.W.Example:80"])
def test_a_listed_host_is_reached(outside: Outside, host: str) -> None:
    """A request for a listed host gets the host's answer, from the address its name has."""
    answer = outside.ask(_plain(host))
    assert status(answer) == 200
    assert answer.endswith(b"canary")
    name = host.lower().removesuffix(":80")
    assert (outside.resolved, outside.dialled) == ([name], [(PUBLIC, 80)])
    assert f"\r\nHost: {name}\r\n".encode() in outside.canary.heard[0]
    assert outside.told == [Decision(name, 80, Answer.ALLOWED)]


@pytest.mark.parametrize("request_", [GET, CONNECT])
def test_a54_an_empty_list_leads_nowhere(request_: str) -> None:
    """Where nothing is listed nothing is reached, not even what is public."""
    with Outside(()) as outside:
        _refused(outside, request_)
        assert str(outside.told[0]).endswith(": not in network.allow")


@pytest.mark.parametrize("address", NOT_PUBLIC)
@pytest.mark.parametrize("request_", [GET, CONNECT])
def test_a54_a_listed_name_leads_only_to_public_addresses(address: str, request_: str) -> None:
    """A name that was pointed at this machine, its network or its cloud's metadata is refused."""
    with Outside(ENTRIES, names={"a.com": [address]}) as outside:
        answer = outside.ask(request_)
        assert status(answer) == 403
        assert address.encode() not in answer
        assert outside.dialled == []
        assert address in outside.told[0].reason


def test_a54_what_is_listed_by_its_address_is_reached() -> None:
    """The same address is dialled when the user lists it as it is, and then no name is looked up."""
    with Outside(["169.254.169.254", "[::1]:80", "localhost"], names={"localhost": ["127.0.0.1"]}) as outside:
        for host in ("169.254.169.254", "[::1]", "localhost"):
            assert status(outside.ask(_plain(host))) == 200
        assert [address for address, _ in outside.dialled] == ["169.254.169.254", "::1", "127.0.0.1"]
        assert outside.resolved == ["localhost"]


def test_a54_a_name_that_changes_its_address_is_looked_up_once() -> None:
    """The address that was looked at is the one that is dialled; others of the answer are left out."""
    addresses = ["10.0.0.1", PUBLIC]
    with Outside(ENTRIES, names={"a.com": addresses}) as outside:
        assert status(outside.ask(GET)) == 200
        assert outside.resolved == ["a.com"]
        assert outside.dialled == [(PUBLIC, 80)]


CREDENTIALS = (
    *(
        "Authorization: Bearer attacker",
        "authorization: Basic x",
        "Cookie: s=attacker",
        "X-Api-Key: attacker",
    ),
    *("Proxy-Authorization: Basic x", "PRIVATE-TOKEN: attacker", "X-Goog-Api-Key: attacker"),
)


@pytest.mark.parametrize("line", CREDENTIALS)
def test_a55_a_credential_of_the_caller_does_not_leave(outside: Outside, line: str) -> None:
    """A plain request goes out without the credential it came with, and otherwise as it was."""
    assert status(outside.ask(GET[:-2] + f"{line}\r\nAccept: x/y\r\n\r\n")) == 200
    assert outside.canary.heard == [
        b"GET /x?y=1 HTTP/1.1\r\nHost: a.com\r\nAccept: x/y\r\nConnection: close\r\n\r\n"
    ]


@pytest.mark.parametrize("line", CREDENTIALS)
def test_a55_it_leaves_when_nothing_is_stripped(careless: Outside, line: str) -> None:
    """A proxy that passes fields on gives the same credential to the canary."""
    careless.ask(GET[:-2] + f"{line}\r\n\r\n")
    assert line.encode() in careless.canary.heard[0]


def test_what_is_meant_for_proxies_stays(outside: Outside) -> None:
    """Fields of one hop, and those that Connection names, are not passed on; the length always is."""
    fields = (
        "Connection: X-Own, Content-Length\r\nX-Own: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nKeep-Alive: 5\r\n"
    )
    sent = "POST http://a.com/ HTTP/1.1\r\nHost: A.com:80\r\nProxy-Connection: x\r\n" + fields
    assert status(outside.ask(sent + "Content-Length: 4\r\nX: y\r\n\r\nbody")) == 200
    assert outside.canary.heard == [
        b"POST / HTTP/1.1\r\nHost: a.com\r\nX: y\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
    ]


def test_only_one_request_goes_out_on_a_connection(outside: Outside) -> None:
    """What follows a request later on the same connection is never sent on."""
    with outside.connect() as connection:
        connection.sendall(GET.encode())
        time.sleep(0.1)
        connection.sendall(b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert read_all(connection).count(b"canary") == 1
    assert b"evil" not in b"".join(outside.canary.heard)
    assert len(outside.dialled) == 1


@pytest.mark.parametrize("said", [b"\x05\x01\x00", b"\x16\x03\x01\x02\x00", b"SSH-2.0-x\r\n", b"\n\n", b"\0"])
def test_what_is_no_request_is_refused_at_once(outside: Outside, said: bytes) -> None:
    """The first byte that no request has is the last that is waited for."""
    begun = time.monotonic()
    assert status(outside.ask(said)) == 400
    assert time.monotonic() - begun < 5


def test_a_request_that_comes_slowly_is_given_up() -> None:
    """A whole request must be there in time, however often a byte of it comes."""
    with Outside(ENTRIES, limits=Limits(head_seconds=0.5)) as outside, outside.connect() as connection:
        begun = time.monotonic()
        ticking = threading.Thread(target=_drip, args=(connection, GET.encode()), daemon=True)
        ticking.start()
        assert status(read_all(connection)) == 408
        assert time.monotonic() - begun < 5
        ticking.join(10)
        assert outside.dialled == []


def test_a_limit_ends_a_connection_and_is_told() -> None:
    """A body that is too large is refused before anything is sent; a host that falls silent is cut off."""
    held: list[socket.socket] = []
    with Outside(ENTRIES, serve=held.append, limits=Limits(idle_seconds=0.3, up_bytes=10)) as outside:
        large = "POST http://a.com/ HTTP/1.1\r\nHost: a.com\r\nContent-Length: 11\r\n\r\n"
        assert status(outside.ask(large)) == 413
        assert outside.dialled == []
        assert outside.ask(GET) == b""
        assert _settles(lambda: len(outside.told) == 3)
        assert [told.answer for told in outside.told] == [Answer.REFUSED, Answer.ALLOWED, Answer.CUT]


def _drip(connection: socket.socket, data: bytes) -> None:
    for byte in data:
        try:
            connection.sendall(bytes([byte]))
        except OSError:
            return
        time.sleep(0.1)


def test_a_host_that_does_not_answer_is_a_failure_and_no_refusal() -> None:
    """A name without an address and an address without a server are told apart from what is not allowed."""
    with Outside(ENTRIES) as outside:
        for lost in ("dial", "resolve"):
            outside.lost = lost
            assert status(outside.ask(GET)) == 502
        assert [told.answer for told in outside.told] == [Answer.FAILED, Answer.FAILED]


def test_too_many_connections_are_turned_away() -> None:
    """Beyond the cap a connection is answered 503 at once; when one ends there is room again."""
    with Outside(ENTRIES, limits=Limits(connections=2)) as outside:
        waiting = [outside.connect(), outside.connect()]
        assert _settles(lambda: status(outside.ask(GET)) == 503)
        waiting[0].close()
        assert _settles(lambda: status(outside.ask(GET)) == 200)
        waiting[1].close()


def _settles(check: object, seconds: float = 10) -> bool:
    assert callable(check)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.02)
    return False


def test_closing_ends_every_connection() -> None:
    """A connection whose host says nothing ends when the way out is closed, and no new one is taken."""
    held: list[socket.socket] = []
    with Outside(ENTRIES, serve=held.append) as outside, outside.connect() as connection:
        connection.sendall(GET.encode())
        assert _settles(lambda: held)
        begun = time.monotonic()
        outside.egress.close()
        assert time.monotonic() - begun < 5
        assert read_all(connection) == b""
        assert status(outside.ask(GET)) == 503


def test_the_log_shows_what_was_asked_without_its_control_characters(outside: Outside) -> None:
    """What cannot be read is quoted in one line."""
    outside.ask("CONNECT evil\0.a.com:443 HTTP/1.1\r\n\r\n")
    outside.ask(_tunnel("evil.example:443"))
    assert [str(told) for told in outside.told] == [
        r"egress refused: 'CONNECT evil\x00.a.com:443 HTTP/1.1':0: bytes that no request has",
        "egress refused: evil.example:443: not in network.allow",
    ]


def test_one_connection_can_be_served_in_place(outside: Outside) -> None:
    """A socket that is already connected, of any kind of stream, is answered and closed."""
    ours, theirs = socket.socketpair()
    serving = threading.Thread(target=serve_connection, args=(theirs, outside.way))
    serving.start()
    with ours:
        ours.sendall(GET.encode())
        assert status(read_all(ours)) == 200
    serving.join(10)
    assert theirs.fileno() == -1


def test_the_variables_lead_a_real_client_to_the_proxy(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that knows only the variables reaches a listed host, and this machine without the proxy."""
    for name, value in proxy_environment(outside.port).items():
        monkeypatch.setenv(name, value)
    client = (
        urllib.request.build_opener()
    )  # urlopen keeps the first one it made, with the variables of that moment
    with client.open("http://a.com/", timeout=10) as answer:
        assert answer.read() == b"canary"
    own = Listener(outside.canary.serve)
    with client.open("http://{}:{}/".format(*own.address), timeout=10) as answer:
        assert answer.read() == b"canary"
    own.close()
    assert outside.dialled == [(PUBLIC, 80)]


def test_the_variables_come_in_both_cases() -> None:
    """Each proxy variable is there in capitals and in small letters, with one address."""
    variables = proxy_environment()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "npm_config_proxy", "npm_config_https_proxy"):
        assert variables[name] == variables[name.lower()] == "http://127.0.0.1:3128"
    assert variables["NO_PROXY"] == variables["no_proxy"] == variables["npm_config_noproxy"]


def test_the_machine_is_asked_by_default(outside: Outside) -> None:
    """Names are looked up, and addresses dialled, as this machine does it."""
    assert resolve("127.0.0.1", 80) == ["127.0.0.1"]
    with dial("127.0.0.1", outside.port, 5) as connection:
        connection.sendall(GET.encode())
        assert status(read_all(connection)) == 200
