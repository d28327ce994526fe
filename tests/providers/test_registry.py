"""The provider of a model name, `provider:model`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness_executor.errors import ModelUnknown
from harness_executor.providers.anthropic import AnthropicProvider
from harness_executor.providers.registry import check, connect, split
from harness_executor.providers.scripted import ScriptedProvider


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
        ("anthropic", ("anthropic", "")),
        ("", ("", "")),
    ],
)
def test_a_name_has_a_provider_and_a_model(name: str, parts: tuple[str, str]) -> None:
    """The first colon divides a name, or the first slash where there is no colon."""
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


def test_connects_to_the_provider_of_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each provider is reached by its name, and no other."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    (tmp_path / "script.json").write_text("{}")
    assert isinstance(connect("anthropic:claude"), AnthropicProvider)
    assert isinstance(connect(f"scripted:{tmp_path / 'script.json'}"), ScriptedProvider)
    with pytest.raises(ModelUnknown, match="'oracle:1' is not a model"):
        connect("oracle:1")


def test_checking_a_name_loads_no_sdk() -> None:
    """Whether a model can be reached is known without loading the SDK that reaches it."""
    code = "import os; os.environ['ANTHROPIC_API_KEY'] = 'k'\n"
    code += "from harness_executor.providers.registry import check; check('anthropic:claude')"
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
