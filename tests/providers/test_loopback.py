"""A model server on this machine that speaks the real wire protocols and plays a script."""

import base64
import http.client
import json
import socket
import struct
import urllib.error
import urllib.request
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness_executor.providers.loopback import ROLES, LoopbackModel, Trouble
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


PATHS = {
    "/v1/messages": "messages",
    "/anthropic/v1/messages": "messages",
    "/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict": "messages",
    "/model/m/invoke": "messages",
    "/v1/responses": "responses",
    "/openai/responses?api-version=1": "responses",
    "/v1/chat/completions": "chat",
    "/openai/deployments/m/chat/completions?api-version=1": "chat",
}


def _body(spoken: str, *, stream: bool = False) -> dict[str, Any]:
    system, said = guide("planner"), {"role": "user", "content": "add"}
    match spoken:
        case "messages":
            return {"model": "m", "system": system, "messages": [said], "stream": stream}
        case "responses":
            return {"model": "m", "instructions": system, "input": [said], "stream": stream}
    return {"model": "m", "messages": [{"role": "system", "content": system}, said], "stream": stream}


def _exchange(
    model: LoopbackModel, path: str, body: Mapping[str, Any]
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(model.url).port or 0, timeout=10)
    connection.request("POST", path, json.dumps(body), {"x-api-key": "k", "X-Other": "Y"})
    answer = connection.getresponse()
    found = answer.read()
    connection.close()
    return answer, found


@pytest.mark.parametrize("path", PATHS)
def test_speaks_what_a_path_stands_for(path: str) -> None:
    """Each route of each cloud answers in its protocol, with the words of the script."""
    with LoopbackModel(SCRIPT) as model:
        answer, found = _exchange(model, path, _body(PATHS[path]))
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert "I am the planner" in found.decode()
    assert model.paths == [path]


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses", "/v1/chat/completions"])
def test_streams_when_it_is_asked_to(path: str) -> None:
    """A stream is made of events that add up to the words, and is closed."""
    closing = {"messages": "message_stop", "responses": "response.completed", "chat": "[DONE]"}[PATHS[path]]
    with LoopbackModel(SCRIPT, [None, Trouble(ends=False)]) as model:
        answer, found = _exchange(model, path, _body(PATHS[path], stream=True))
        _, unclosed = _exchange(model, path, _body(PATHS[path], stream=True))
    assert answer.headers["content-type"] == "text/event-stream"
    assert closing in found.decode()
    assert closing not in unclosed.decode()
    assert len(unclosed.split(b"\n\n")) > 3


def test_frames_a_stream_of_bedrock_as_amazon_does() -> None:
    """Every message has its lengths, its checksums and an event in base64."""
    with LoopbackModel(SCRIPT) as model:
        answer, found = _exchange(model, "/model/m/invoke-with-response-stream", _body("messages"))
    assert answer.headers["content-type"] == "application/vnd.amazon.eventstream"
    events = []
    while found:
        size, headers, check = struct.unpack("!III", found[:12])
        assert check == zlib.crc32(found[:8])
        assert struct.unpack("!I", found[size - 4 : size])[0] == zlib.crc32(found[: size - 4])
        assert b":event-type\x07\x00\x05chunk" in found[12 : 12 + headers]
        payload = json.loads(found[12 + headers : size - 4])
        events.append(json.loads(base64.b64decode(payload["bytes"])))
        found = found[size:]
    assert [event["type"] for event in events][:1] == ["message_start"]
    assert events[-1] == {"type": "message_stop"}


def test_remembers_how_it_was_asked() -> None:
    """Paths, header fields and bytes are kept beside what they mean."""
    with LoopbackModel(SCRIPT) as model:
        _exchange(model, "/v1/messages", _body("messages"))
    assert model.headers[0]["x-api-key"] == "k"
    assert model.headers[0]["x-other"] == "Y"
    assert json.loads(model.bodies[0]) == model.requests[0] == _body("messages")


def test_a_path_nobody_speaks_is_not_found() -> None:
    """A wrong address is told from a wrong request."""
    with LoopbackModel(SCRIPT) as model:
        answer, found = _exchange(model, "/v1/oracle", {})
    assert answer.status == 404
    assert b"nothing is spoken at /v1/oracle" in found


def test_troubles_come_one_for_each_request() -> None:
    """What was ordered happens in its turn, and afterwards all goes well."""
    troubles = [
        Trouble(429, headers={"retry-after": "5"}),
        None,
        Trouble(503, body=b"<h1>busy</h1>", headers={"content-type": "text/html"}),
    ]
    with LoopbackModel(SCRIPT, troubles) as model:
        seen = [_exchange(model, "/v1/messages", _body("messages")) for _ in range(4)]
    assert [answer.status for answer, _ in seen] == [429, 200, 503, 200]
    assert seen[0][0].headers["retry-after"] == "5"
    assert seen[2][1] == b"<h1>busy</h1>"
    assert [answer.headers["request-id"] for answer, _ in seen] == ["req_1", "req_2", "req_3", "req_4"]


@pytest.mark.parametrize("at", [-1, 0, 30])
def test_a_connection_can_be_dropped(at: int) -> None:
    """It is reset where it was ordered, and the next request is answered."""
    with LoopbackModel(SCRIPT, [Trouble(drop=at)]) as model:
        with pytest.raises((ConnectionError, http.client.IncompleteRead)) as lost:
            _exchange(model, "/v1/messages", _body("messages"))
        assert _exchange(model, "/v1/messages", _body("messages"))[0].status == 200
    assert len(getattr(lost.value, "partial", b"")) <= max(0, at)


def test_a_body_can_be_as_large_as_one_likes() -> None:
    """Bytes without a meaning come until so many have come."""
    with LoopbackModel(SCRIPT, [Trouble(fill=3_000_000)]) as model:
        _, found = _exchange(model, "/v1/messages", _body("messages"))
    assert len(found) >= 3_000_000


def test_a_sleeping_server_ends_with_its_block() -> None:
    """Nobody waits for trouble that is not over."""
    with LoopbackModel(SCRIPT, [Trouble(sleep=3600)]) as model:
        connection = socket.create_connection(("127.0.0.1", urlsplit(model.url).port or 0), timeout=30)
        body = json.dumps(_body("messages")).encode()
        connection.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    with connection, suppress(ConnectionResetError):
        assert connection.recv(100) == b""
