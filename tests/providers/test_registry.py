"""The provider of a model name, `provider:model`."""

import json
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Literal

import pytest

from harness_executor.config import KEY_NAMES
from harness_executor.errors import ModelUnknown
from harness_executor.providers.anthropic import AnthropicProvider
from harness_executor.providers.base import Request, Said
from harness_executor.providers.chat import ChatProvider
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.opening import Opened
from harness_executor.providers.registry import KNOWN, Recording, api, check, connect, split
from harness_executor.providers.responses import ResponsesProvider
from harness_executor.providers.script import Script
from harness_executor.providers.scripted import ScriptedProvider
from harness_executor.tables import Service

ASKED = Request("executor", "m", "You are the executor.", (Said("x"),))
SCRIPT = Script({"executor": [{"replies": [{"text": "hello"}]}]})
SET = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL", "AWS_REGION"),
    "vertex": (
        *("GOOGLE_OAUTH_ACCESS_TOKEN", "ANTHROPIC_VERTEX_BASE_URL"),
        *("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID"),
    ),
    "foundry": ("ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_BASE_URL"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "azure": ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"),
    "chat": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
}
"""For each provider the variables it needs: the key, the address, and the rest."""


def _loaded(code: str, *words: str, cwd: Path | None = None) -> set[str]:
    """The modules a program has loaded when it ends."""
    tail = "\nimport json, sys\nsys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + tail, *words],
        cwd=cwd,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("anthropic:claude-x", ("anthropic", "claude-x")),
        ("anthropic/claude-x", ("anthropic", "claude-x")),
        ("scripted:/a/b:c.json", ("scripted", "/a/b:c.json")),
        ("anthropic:us/claude:1", ("anthropic", "us/claude:1")),
        ("ollama/llama3:8b", ("ollama", "llama3:8b")),
        ("openrouter/maker/model", ("openrouter", "maker/model")),
        ("anthropic", ("anthropic", "")),
        ("", ("", "")),
    ],
)
def test_a_name_has_a_provider_and_a_model(name: str, parts: tuple[str, str]) -> None:
    """The first colon or slash divides a name."""
    assert split(name) == parts


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "no model was chosen"),
        ("anthropic", "'anthropic' is not a model"),
        ("anthropic:", "'anthropic:' is not a model"),
        ("oracle:1", "'oracle:1' is not a model"),
        ("Anthropic:claude", "'Anthropic:claude' is not a model"),
        (":claude", "':claude' is not a model"),
        ("anthropic:claude", "there is no key for anthropic"),
        ("openai:gpt", "there is no key for openai"),
        ("openrouter:any/model", "there is no key for openrouter"),
        ("bedrock:claude", "there is no key for bedrock"),
        ("vertex:claude", "vertex cannot be reached without ANTHROPIC_VERTEX_PROJECT_ID"),
        ("foundry:claude", "there is no key for foundry"),
        ("azure:gpt", "there is no key for azure"),
        ("chat:llama", "chat cannot be reached without OPENAI_BASE_URL"),
        ("replay:", "'replay:' is not a model"),
        ("scripted:/nonexistent.json", "there is no script /nonexistent.json"),
        ("scripted:/", "there is no script /"),
    ],
)
def test_a_name_that_cannot_work_is_refused_before_anything_starts(name: str, words: str) -> None:
    """The refusal says what is wrong and what to do, and is an error of usage."""
    with pytest.raises(ModelUnknown, match=words) as error:
        check(name)
    assert error.value.hint
    assert error.value.exit_code == 2


@pytest.mark.parametrize("key", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_either_key_is_enough(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """A key or a token lets a name pass; an empty one does not."""
    monkeypatch.setenv(key, "")
    with pytest.raises(ModelUnknown, match="there is no key"):
        check("anthropic:claude")
    monkeypatch.setenv(key, "sk-test")
    check("anthropic:claude")


def test_a_script_that_is_there_passes(tmp_path: Path) -> None:
    """A scripted model needs no key, only its file."""
    (tmp_path / "script.json").write_text("{}")
    check(f"scripted:{tmp_path / 'script.json'}")


def test_a_refusal_names_the_variables_and_the_demo() -> None:
    """Whoever has no key learns where one is looked for, and how to see the program without."""
    with pytest.raises(ModelUnknown) as error:
        check("anthropic:claude")
    assert error.value.hint == "set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; `harness demo` needs none"


@pytest.mark.parametrize("name", ["ollama:llama3", "lmstudio:a/b", "vllm:x", "replay:task-1"])
def test_what_runs_here_needs_no_key(name: str) -> None:
    """A server on this machine and a recording are used as they are."""
    check(name)


@pytest.mark.parametrize(
    ("name", "package", "variables"),
    [
        ("bedrock:m", "botocore", ("AWS_ACCESS_KEY_ID", "AWS_REGION")),
        ("vertex:m", "google", ("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID")),
    ],
)
def test_a_cloud_that_cannot_sign_in_is_refused(
    name: str, package: str, variables: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a token, the package that signs in has to be there; the refusal says how to get it."""
    for variable in variables:
        monkeypatch.setenv(variable, "x")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelUnknown, match="needs the package") as error:
        check(name)
    assert f"pip install 'anthropic[{name.removesuffix(':m')}]'" in error.value.hint


def test_every_variable_of_a_provider_reaches_a_subagent() -> None:
    """No provider looks for a variable that a subagent is not given."""
    for provider, known in KNOWN.items():
        named = (
            *known.keys,
            *known.secrets,
            *known.base,
            *(name for one_of in known.needs for name in one_of),
        )
        assert set(named) <= set(KEY_NAMES.get(provider, ()))


@pytest.mark.parametrize("provider", SET)
def test_each_provider_is_reached_by_its_variables(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key and the address of the environment are used, and no other key of it is sent."""
    key, address, *others = SET[provider]
    for name in chain(*KEY_NAMES.values()):
        monkeypatch.setenv(name, f"other-{name}")
    for name in others:
        monkeypatch.setenv(name, "2026-10-01")
    with LoopbackModel(SCRIPT) as model:
        monkeypatch.setenv(key, "sk-mine")
        monkeypatch.setenv(address, model.url)
        check(f"{provider}:m")
        assert _unstreamed(connect(f"{provider}:m")).complete(ASKED).text == "hello"
    sent = json.dumps(model.headers)
    assert "sk-mine" in sent
    assert "other-" not in sent


def _unstreamed(provider: object) -> Opened:
    """The same provider without streams, which every installation can read."""
    assert isinstance(provider, AnthropicProvider | ResponsesProvider | ChatProvider)
    provider.stream = False
    return provider


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("anthropic:m", AnthropicProvider),
        ("openai:m", ResponsesProvider),
        ("openrouter:m", ChatProvider),
        ("ollama:m", ChatProvider),
    ],
)
def test_a_name_is_connected_through_its_protocol(
    name: str, kind: type[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each provider is spoken to as it speaks."""
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(variable, "sk-test")
    assert type(connect(name)) is kind


def test_a_script_is_connected(tmp_path: Path) -> None:
    """A scripted model is read from its file, and a name nobody knows is refused."""
    (tmp_path / "script.json").write_text("{}")
    assert isinstance(connect(f"scripted:{tmp_path / 'script.json'}"), ScriptedProvider)
    with pytest.raises(ModelUnknown, match="'oracle:1' is not a model"):
        connect("oracle:1")


def test_a_recording_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """`replay:` answers from the folder it is given."""
    with pytest.raises(ModelUnknown, match="no recording"):
        connect("replay:task-1", recording=Recording(str(tmp_path)))


@pytest.mark.parametrize("spoken", ["messages", "responses", "chat"])
@pytest.mark.parametrize("stream", [True, False])
def test_a_service_the_user_named_is_reached(
    spoken: Literal["messages", "responses", "chat"], stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its address, its protocol and its own variable decide, also for a name that is known otherwise."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("MY_KEY", "sk-mine")
    with LoopbackModel(SCRIPT) as model:
        url = model.url if spoken == "messages" else f"{model.url}/v1"
        service = Service(spoken, url, "MY_KEY", stream=stream)
        check("ollama:m", {"ollama": service})
        assert connect("ollama:m", service).complete(ASKED).text == "hello"
    assert api("ollama", service) == spoken
    assert model.requests[0].get("stream", False) is stream
    assert model.headers[0]["authorization"] == "Bearer sk-mine"
    assert not {"thinking", "cache_control", "prompt_cache_key", "include"} & set(model.requests[0])


@pytest.mark.parametrize(
    ("service", "words"),
    [
        (Service(base_url="http://127.0.0.1:1/v1", key_env="NO_SUCH_KEY"), "there is no key for mine"),
        (Service(base_url="127.0.0.1:1"), "the service mine has the address '127.0.0.1:1'"),
    ],
)
def test_a_service_that_cannot_work_is_refused(service: Service, words: str) -> None:
    """A missing key or an address that is none is known before anything starts."""
    with pytest.raises(ModelUnknown, match=words) as error:
        check("mine:m", {"mine": service})
    assert error.value.hint


def test_bytes_that_come_are_told() -> None:
    """Whoever connects can follow how much of an answer has come."""
    heard: list[int] = []
    with LoopbackModel(SCRIPT) as model:
        service = Service("chat", f"{model.url}/v1")
        connect("mine:m", service, heard.append).complete(ASKED)
    assert "authorization" not in model.headers[0]
    assert sum(heard) > 100
    assert min(heard) > 0


def test_checking_a_name_loads_no_sdk() -> None:
    """Whether a model can be reached is known without loading the SDK that reaches it."""
    code = "import os; os.environ['ANTHROPIC_API_KEY'] = os.environ['OPENAI_API_KEY'] = 'k'\n"
    code += "from harness_executor.providers.registry import check\n"
    code += "check('anthropic:claude'); check('openai:gpt'); check('ollama:x')"
    loaded = _loaded(code)
    assert "harness_executor.providers.registry" in loaded
    assert not {"anthropic", "openai", "httpx2", "pydantic"} & loaded


@pytest.mark.parametrize("words", [["--help"], ["--version"], []], ids=" ".join)
def test_help_is_there_before_anything_is_loaded(words: list[str]) -> None:
    """Help needs no parser, no types, no SDK and no terminal library."""
    loaded = _loaded("import sys\nfrom harness_executor.cli.door import harness\nharness()", *words)
    assert "harness_executor.cli.door" in loaded
    assert not {"argparse", "pydantic", "anthropic", "openai", "jinja2", "rich", "httpx2"} & loaded


@pytest.mark.parametrize(
    "words", [["list"], ["list", "--json"], ["show", "absent"], ["status"]], ids=" ".join
)
def test_looking_at_tasks_loads_no_sdk(sample: Path, words: list[str]) -> None:
    """Reading what happened needs no model."""
    code = "from harness_executor.cli.door import harness\nharness()"
    loaded = _loaded(code, *words, cwd=sample)
    assert "harness_executor.cli.tasks" in loaded
    assert not {"anthropic", "openai"} & loaded
