"""What is loaded once, before subagents are forked: SDKs whose import costs more than a second."""

import json
import os
import subprocess
import sys

import pytest

from harness_executor.providers.base import Request, Said
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.loopback.chat import Chat
from harness_executor.providers.loopback.protocol import Answer, Used
from harness_executor.providers.opening import opened
from harness_executor.providers.registry import Reached
from harness_executor.providers.script import Script

FORKED = """
import json, os, sys
from harness_executor.subagents.warm import warm
warm([sys.argv[1]])
from harness_executor.providers.base import Request, Said, ToolSpec
from harness_executor.providers.registry import connect
before = set(sys.modules)
tool = ToolSpec("t", "d", {"type": "object"})
request = Request("executor", "m", "You are the executor.", (Said("x"),), (tool,))
if os.fork() == 0:
    reply = connect(sys.argv[1] + ":m").complete(request)
    print(json.dumps([reply.text, sorted(set(sys.modules) - before)]), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("anthropic", {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "{url}"}),
        ("openai", {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "{url}/v1"}),
        ("chat", {"OPENAI_BASE_URL": "{url}/v1"}),
    ],
)
def test_a_fork_has_nothing_left_to_load(provider: str, variables: dict[str, str]) -> None:
    """The first call of a forked child, with a tool and a stream, imports no module."""
    calls = [{"name": "t", "arguments": {"a": 1}}]
    script = Script({"executor": [{"replies": [{"text": "hello", "thinking": "hm", "calls": calls}]}]})
    with LoopbackModel(script) as model:
        given = {name: value.format(url=model.url) for name, value in variables.items()}
        done = subprocess.run(
            [sys.executable, "-c", FORKED, provider],
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            check=True,
        )
    assert json.loads(done.stdout) == ["hello", []]


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("anthropic", ["openai"]),
        ("ollama", ["anthropic"]),
        ("responses", ["anthropic"]),
        ("scripted", ["anthropic", "openai"]),
        ("a-service-of-the-user", ["anthropic", "openai"]),
    ],
)
def test_only_what_is_used_is_loaded(name: str, absent: list[str]) -> None:
    """A provider brings its own SDK and no other; what is not known brings none."""
    code = "import json, sys; from harness_executor.subagents.warm import warm; warm(sys.argv[1:])\n"
    code += "print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code, name], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    assert "harness_executor.subagents.worker" in loaded
    assert not set(absent) & loaded


def test_a_rehearsal_is_a_whole_call() -> None:
    """A wire that rehearses answers through the SDK from memory, with no socket."""
    answer = Answer({"text": "from memory"}, 1, "m", Used(1, 1))
    provider = opened("chat", Reached("http://127.0.0.1:9/v1", "none"))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    provider.sdk.wire.rehearse(head + b"".join(Chat().events(answer)))
    assert provider.complete(Request("executor", "m", "s", (Said("x"),))).text == "from memory"
