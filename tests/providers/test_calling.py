"""One request to a service through its SDK; whatever goes wrong is a ProviderError."""

import pytest

from harness_executor.errors import KeyRefused
from harness_executor.providers import openai
from harness_executor.providers.chat import ChatProvider
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.loopback.chat import Chat
from harness_executor.providers.loopback.messages import Messages
from harness_executor.providers.loopback.protocol import Answer, Used, WireProtocol
from harness_executor.providers.loopback.responses import Responses
from harness_executor.providers.wire import Access, Limits
from tests.providers.faults import APIS, ASKED, SCRIPT, reach

PROTOCOLS: dict[str, WireProtocol] = {"messages": Messages(), "responses": Responses(), "chat": Chat()}
LIMITS = Limits(seconds=60, first=30, idle=2)


def _closed(api: str) -> tuple[bytes, ...]:
    return tuple(PROTOCOLS[api].events(Answer({"text": "paid for"}, 1, "m", Used(5, 5))))


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_was_closed_survives_a_reset(api: str) -> None:
    """A connection that is lost after the closing event takes nothing away, and is not used again."""
    frames = _closed(api)
    size = len(b"".join(frames))
    trouble = Trouble(frames=frames, drop=size + len(f"{size:x}\r\n\r\n"))
    with LoopbackModel(SCRIPT, [trouble]) as model:
        provider = reach(api, model.url)
        assert provider.complete(ASKED).text == "paid for"
        assert provider.complete(ASKED).text == "all is well"
        assert model.connections == 2


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_was_closed_is_not_held(api: str) -> None:
    """A proxy that keeps the connection open after the closing event is not waited for."""
    with LoopbackModel(SCRIPT, [Trouble(frames=_closed(api), pace=300.0)]) as model:
        provider = reach(api, model.url, limits=LIMITS)
        assert provider.complete(ASKED).text == "paid for"
        assert provider.complete(ASKED).text == "all is well"
        assert model.connections == 2


@pytest.mark.parametrize("api", APIS)
def test_a_connection_that_ends_its_answer_is_used_again(api: str) -> None:
    """The end of a stream is read, though nobody needs it."""
    with LoopbackModel(SCRIPT) as model:
        provider = reach(api, model.url)
        for _ in range(3):
            assert provider.complete(ASKED).text == "all is well"
        assert model.connections == 1


def test_a_key_of_odd_letters_is_no_lost_connection() -> None:
    """A key that no header can hold is refused before anything is sent."""
    with LoopbackModel(SCRIPT) as model:
        provider = ChatProvider(openai.direct(Access(f"{model.url}/v1", "“sk-test”")))
        with pytest.raises(KeyRefused, match="letters") as raised:
            provider.complete(ASKED)
    assert "sk-test" not in raised.value.message
    assert model.requests == []
