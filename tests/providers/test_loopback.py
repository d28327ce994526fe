"""A model server on this machine that speaks the Anthropic wire protocol and plays a script."""

import json
import socket
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness_executor.providers.loopback import ROLES, LoopbackModel
from harness_executor.providers.script import Script
from harness_executor.resources import guide

SCRIPT = Script({role: [{"replies": [{"text": f"I am the {role}"}]}] for role in ROLES})


def _asked(system: Any, *said: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
    return {"model": "m", "system": system, "messages": messages, "max_tokens": 1}


def _post(url: str, asked: dict[str, Any]) -> Any:
    request = urllib.request.Request(f"{url}/v1/messages", json.dumps(asked).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def test_listens_on_this_machine_only() -> None:
    """Its address is loopback, with a port of its own."""
    with LoopbackModel(SCRIPT) as one, LoopbackModel(SCRIPT) as other:
        assert urlsplit(one.url).hostname == urlsplit(other.url).hostname == "127.0.0.1"
        assert one.url != other.url


def test_is_gone_when_its_block_ends() -> None:
    """Nobody listens on its port afterwards."""
    with LoopbackModel(SCRIPT) as model:
        port = urlsplit(model.url).port
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("role", ROLES)
def test_knows_each_role_by_its_guide(role: str) -> None:
    """The guide that a subagent sends as system text chooses the lines."""
    blocks = [{"type": "text", "text": guide(role)}]
    with LoopbackModel(SCRIPT) as model:
        for system in (guide(role), blocks):
            (block,) = _post(model.url, _asked(system, "add"))["content"]
            assert block == {"type": "text", "text": f"I am the {role}"}


def test_what_it_has_no_line_for_is_a_bad_request() -> None:
    """A script that has ended is answered as the service answers a bad request."""
    with LoopbackModel(SCRIPT) as model:
        with pytest.raises(urllib.error.HTTPError) as error:
            _post(model.url, _asked(guide("planner"), "add", "one", "go on"))
        body = json.load(error.value)
    assert error.value.code == 400
    assert body["error"]["type"] == "invalid_request_error"
    assert "has 1 replies, reply 2 was asked for" in body["error"]["message"]


def test_gives_every_call_an_id_of_its_own() -> None:
    """No two calls of a conversation share an id."""
    calls = {"calls": [{"name": "search", "arguments": {"pattern": "a"}}, {"name": "search"}]}
    with LoopbackModel(Script({"planner": [{"replies": [calls, calls]}]})) as model:
        first = _post(model.url, _asked(guide("planner"), "add"))
        second = _post(model.url, _asked(guide("planner"), "add", "x", "go on"))
    blocks = [*first["content"], *second["content"]]
    assert len({block["id"] for block in blocks}) == 4
    assert blocks[1]["input"] == {}
    assert first["stop_reason"] == "tool_use"


def test_remembers_what_it_was_asked() -> None:
    """Every request is kept as it came, also when many come at once."""
    with LoopbackModel(SCRIPT) as model, ThreadPoolExecutor(8) as pool:
        asked = [_asked(guide("planner"), f"request {number}") for number in range(16)]
        list(pool.map(lambda one: _post(model.url, one), asked))
    assert sorted(json.dumps(one) for one in model.requests) == sorted(json.dumps(one) for one in asked)
