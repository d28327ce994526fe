"""The official OpenAI SDK: its clients, for OpenAI, Azure and every server that imitates them."""

import json

import pytest

from harness_executor.errors import ModelUnknown
from harness_executor.providers import openai
from harness_executor.providers.base import Request, Said
from harness_executor.providers.chat import ChatProvider
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Access

ASKED = Request("executor", "gpt-x", "You are the executor.", (Said("x"),))
SCRIPT = Script({"executor": [{"replies": [{"text": "ok"}]}]})


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "AZURE_OPENAI_API_KEY"])
def test_nothing_but_the_given_key_opens_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Another key in the environment is not sent along with the one that was given."""
    monkeypatch.setenv(name, "other-0123456789")
    with LoopbackModel(SCRIPT) as model:
        ChatProvider(openai.direct(Access(f"{model.url}/v1", "sk-mine"))).complete(ASKED)
    assert model.headers[0]["authorization"] == "Bearer sk-mine"
    assert "other-0123456789" not in json.dumps(model.headers)


@pytest.mark.parametrize(
    ("key", "token", "header", "value"),
    [("k", "", "api-key", "k"), ("", "t", "authorization", "Bearer t"), ("k", "t", "api-key", "k")],
)
def test_azure_is_opened_by_a_key_or_a_token(key: str, token: str, header: str, value: str) -> None:
    """The deployment stands in the path, and the key or else the token in its own header."""
    with LoopbackModel(SCRIPT) as model:
        sdk = openai.azure(Access(model.url, key), "2026-10-01", token)
        assert ChatProvider(sdk).complete(ASKED).text == "ok"
    assert model.paths == ["/openai/deployments/gpt-x/chat/completions?api-version=2026-10-01"]
    assert model.headers[0][header] == value


@pytest.mark.parametrize(
    ("url", "key", "version"), [("", "k", "v"), ("http://x", "", "v"), ("http://x", "k", "")]
)
def test_azure_that_lacks_something_is_refused(url: str, key: str, version: str) -> None:
    """An address, a key and a version are needed, and each is an error of usage when it is missing."""
    with pytest.raises(ModelUnknown, match="cannot be set up") as raised:
        openai.azure(Access(url, key), version)
    assert raised.value.hint
