"""The HTTP client that every SDK is given: bounded in time, in silence and in size."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harness_executor.errors import ProviderFault, RequestRefused
from harness_executor.providers import wire
from harness_executor.providers.base import Provider, Request, Said
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.loopback.chat import Chat
from harness_executor.providers.loopback.protocol import Answer, Used
from harness_executor.providers.opening import opened
from harness_executor.providers.registry import Reached
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Limits, TooLarge, TooSlow, Watch, certificates
from tests.providers.virtual import VirtualClock

ASKED = Request("executor", "m", "You are the executor.", (Said("x"),))
SCRIPT = Script({"executor": [{"replies": [{"text": "word " * 100}]}]})
APIS = {"messages": "", "responses": "/v1", "chat": "/v1"}


def _provider(api: str, model: LoopbackModel, limits: Limits, *, stream: bool = True) -> Provider:
    provider = opened(api, Reached(f"{model.url}{APIS[api]}", "sk-test", stream))
    provider.sdk.wire.limits = limits if stream else limits.unstreamed()
    return provider


@contextmanager
def _listener() -> Iterator[tuple[str, list[bytes]]]:
    """A server that takes one connection, and closes it once something was said."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(4096))

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", heard


@pytest.fixture
def slowly() -> dict[str, Any]:
    """An answer that comes one byte at a time."""
    return {"piece": 1, "pace": 0.03}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
def test_a_trickle_is_a_silence(api: str, stream: bool, slowly: dict[str, Any]) -> None:
    """A byte now and then does not keep a request alive."""
    with LoopbackModel(SCRIPT, [Trouble(**slowly)]) as model:
        limits = Limits(seconds=60, first=30, idle=0.5)
        with pytest.raises(ProviderFault, match=r"less than 64 bytes within 0\.5 s") as raised:
            _provider(api, model, limits, stream=stream).complete(ASKED)
    assert raised.value.said.billed


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_has_an_end(api: str, stream: bool, slowly: dict[str, Any]) -> None:
    """An answer that never stops coming is cut off, however lively it is."""
    with LoopbackModel(SCRIPT, [Trouble(**slowly)]) as model:
        limits = Limits(seconds=0.5, idle=30, least=1)
        with pytest.raises(ProviderFault, match=r"no whole answer within 0\.5 s"):
            _provider(api, model, limits, stream=stream).complete(ASKED)


@pytest.mark.parametrize("trouble", [Trouble(sleep=30), Trouble(piece=1, pace=0.2, slow_start=True)])
def test_an_answer_has_to_begin(trouble: Trouble) -> None:
    """Neither a service that says nothing nor one that never ends its head is waited for."""
    with LoopbackModel(SCRIPT, [trouble]) as model:
        limits = Limits(seconds=60, first=0.4)
        with pytest.raises(ProviderFault, match=r"no answer began within 0\.4 s") as raised:
            _provider("messages", model, limits).complete(ASKED)
    assert raised.value.said.billed


def test_an_answer_that_is_not_streamed_may_be_silent() -> None:
    """A model that answers all at once is given the whole time."""
    with LoopbackModel(SCRIPT, [Trouble(sleep=0.6)]) as model:
        limits = Limits(seconds=60, first=0.1, idle=0.1)
        assert _provider("messages", model, limits, stream=False).complete(ASKED).text


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_has_a_size(api: str, stream: bool) -> None:
    """Of an answer without an end only so much is read; it is not asked for again, and was not free."""
    with LoopbackModel(SCRIPT, [Trouble(fill=20_000_000)]) as model:
        limits = Limits(most=1_000_000)
        with pytest.raises(RequestRefused, match="larger than 1000000 bytes") as raised:
            _provider(api, model, limits, stream=stream).complete(ASKED)
    assert raised.value.said.billed


def test_a_watch_counts_silence_from_the_last_bytes_that_matter() -> None:
    """Enough bytes begin a new silence; a few do not."""
    clock = VirtualClock()
    watch = Watch(Limits(seconds=100, first=50, idle=10, least=64), clock, None)
    assert watch.allowance() == 50
    watch.flows, watch.since = True, clock.monotonic()
    clock.sleep(6)
    watch.heard(63)
    assert watch.allowance() == 4
    watch.heard(1)
    assert watch.allowance() == 10
    clock.sleep(10)
    with pytest.raises(TooSlow, match="less than 64 bytes within 10 s"):
        watch.allowance()


def test_a_watch_ends_with_the_whole_time() -> None:
    """The last wait is as short as what is left of the whole."""
    clock = VirtualClock()
    watch = Watch(Limits(seconds=12, first=50, idle=10), clock, None)
    clock.sleep(9)
    assert watch.allowance() == 3
    clock.sleep(3)
    with pytest.raises(TooSlow, match="no whole answer within 12 s"):
        watch.allowance()


def test_a_watch_refuses_the_first_byte_too_many() -> None:
    """The limit itself is still read."""
    told: list[int] = []
    watch = Watch(Limits(most=100), VirtualClock(), told.append)
    watch.heard(60)
    watch.heard(40)
    with pytest.raises(TooLarge):
        watch.heard(1)
    assert told == [60, 40]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
def test_a_connection_is_used_again(api: str, stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The turns of a conversation share one connection."""
    monkeypatch.setattr(wire, "END_SECONDS", 20)  # however late the machine lets the end of an answer come
    with LoopbackModel(SCRIPT, [Trouble(piece=50)] * 3) as model:
        provider = _provider(api, model, Limits(), stream=stream)
        for _ in range(6):
            provider.complete(ASKED)
        assert model.connections == 1


def test_an_end_that_does_not_come_is_not_waited_for() -> None:
    """A server that says it is done and keeps the line open does not hold up the answer."""
    frames = tuple(Chat().events(Answer({"text": "hello"}, 1, "m", Used(1, 1))))
    rest = (b"data: " + b"x" * 5000,)
    with LoopbackModel(SCRIPT, [Trouble(frames=(*frames, *rest), piece=2000, pace=30)]) as model:
        provider = _provider("chat", model, Limits(seconds=600, idle=600))
        assert provider.complete(ASKED).text == "hello"


def test_a_server_that_speaks_no_tls_is_a_fault() -> None:
    """A handshake that fails may pass, and has cost nothing."""
    with _listener() as (url, heard):
        provider = opened("messages", Reached(url.replace("http:", "https:"), "sk-test"))
        with pytest.raises(ProviderFault, match="could not be reached") as raised:
            provider.complete(ASKED)
    assert not raised.value.said.billed
    assert b"sk-test" not in b"".join(heard)


def test_nothing_on_this_machine_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy is for the world outside."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with LoopbackModel(SCRIPT) as model:
        assert _provider("messages", model, Limits()).complete(ASKED).text


def test_the_world_outside_is_reached_through_the_users_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service elsewhere is asked for at the proxy, which sees its name and no key."""
    with _listener() as (url, heard):
        monkeypatch.setenv("HTTPS_PROXY", url)
        with pytest.raises(ProviderFault, match="could not be reached"):
            opened("messages", Reached("", "sk-test")).complete(ASKED)
    assert heard[0].startswith(b"CONNECT api.anthropic.com:443 ")
    assert b"sk-test" not in heard[0]


def test_no_child_of_a_test_leaves_this_machine() -> None:
    """Children inherit a proxy that nobody serves, so that a request to the world ends here."""
    code = (
        "from harness_executor.providers.registry import connect\n"
        "from harness_executor.providers.base import Request, Said\n"
        "connect('anthropic:x').complete(Request('executor', 'x', 's', (Said('x'),)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ANTHROPIC_API_KEY": "sk-test"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "could not be reached" in done.stderr
    assert "Connection refused" in done.stderr


def test_certificates_are_not_loaded_for_loopback() -> None:
    """Whom this machine trusts matters only to the world outside."""
    certificates.cache_clear()
    with LoopbackModel(SCRIPT) as model:
        _provider("messages", model, Limits()).complete(ASKED)
    assert certificates.cache_info().currsize == 0
