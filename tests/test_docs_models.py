"""What docs/MODELS.md claims, held against the program."""

import dataclasses
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness_executor import config, errors, tables
from harness_executor.config import known_secrets, read_settings
from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.errors import AgentError, BudgetSpent, HarnessError, ProviderError, UsageError
from harness_executor.kernel import breaker, budget
from harness_executor.kernel.events import Cause
from harness_executor.kernel.retries import Policy
from harness_executor.providers import opening, wire
from harness_executor.providers.base import Patience
from harness_executor.providers.failures import answered
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.registry import KNOWN, check
from harness_executor.providers.retrying import LONGEST_BACKOFF
from harness_executor.redaction import MARK, SHORTEST, Redactor
from harness_executor.steps.treasury import WINDOW
from harness_executor.subagents import context, loop, repetition
from harness_executor.subagents.jobs import Job
from harness_executor.subagents.spawn import Agents
from harness_executor.tables import Service
from harness_executor.tools.place import MAX_RESULT
from tests.conftest import Cli
from tests.pages import blocks, in_code, table, text

PAGE = "docs/MODELS.md"
PROSE = " ".join(text(PAGE).split())
SECRETS = text(PAGE).split("\n## Secrets\n")[1]


def _block(language: str) -> str:
    return next(block.text for block in blocks(PAGE) if block.language == language)


def _default(kind: Any, name: str) -> Any:
    return next(field.default for field in dataclasses.fields(kind) if field.name == name)


def _kinds(root: type[HarnessError]) -> set[type[HarnessError]]:
    below = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, root)}
    return below | {root}


def _named(cell: str) -> str:
    found = re.search(r"`([^`]+)`", cell)
    assert found, cell
    return found[1]


PROVIDERS = {_named(row[0]): " ".join(row[1:]) for row in table(PAGE, "provider")}
FAULTS = {_named(row[1]): row for row in table(PAGE, "what happens")}
FATES = {_named(row[0]): row[1] for row in table(PAGE, "name")}


def test_every_provider_has_a_row() -> None:
    """The table has the providers of the registry, in their order, and no other."""
    assert list(PROVIDERS) == list(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_what_a_provider_needs_is_in_its_row(name: str) -> None:
    """Each key, each variable that has to be set, the address and the package stand in the provider's row."""
    known = KNOWN[name]
    needed = [*known.keys, *(one for one_of in known.needs for one in one_of), *known.secrets]
    assert [variable for variable in needed if f"`{variable}`" not in PROVIDERS[name]] == []
    assert known.url in PROVIDERS[name]
    assert not known.package or f"anthropic[{name}]" in PROVIDERS[name]


def test_every_variable_that_is_passed_on_is_named() -> None:
    """Each variable a subagent can be given for its model is on the page."""
    given = {variable for names in config.KEY_NAMES.values() for variable in names}
    assert sorted(given - in_code(PAGE)) == []


def test_every_key_of_the_users_file_has_a_row() -> None:
    """Each table of config.toml, each key of a service and each price is explained."""
    keys = {_named(row[0]) for row in table(PAGE, "key")}
    services = {_named(row[0]) for row in table(PAGE, "key of `providers.NAME`")}
    prices = {name for row in table(PAGE, "key of `prices.MODEL`") for name in re.findall(r"`(\w+)`", row[0])}
    assert keys == config._USER_KEYS
    assert services == {field.name for field in dataclasses.fields(Service)}
    assert prices == tables._PRICES
    assert in_code(PAGE) >= tables._ROLES.union(tables._APIS)


def test_the_example_shows_every_key() -> None:
    """The config.toml has every table, every span and unit of a budget, and every key of a service."""
    shown = tomllib.loads(_block("toml"))
    assert set(shown) == config._USER_KEYS
    assert set(shown["budget"]) == set(tables._SPANS)
    assert set(shown["budget"]["task"]) == set(tables._UNITS)
    assert set(shown["providers"]["local"]) == {field.name for field in dataclasses.fields(Service)}
    assert set(shown["prices"]["local:qwen3-coder"]) == tables._PRICES


def _own_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = folder / "config.toml"
    path.write_text(_block("toml"))
    path.chmod(0o600)
    monkeypatch.setenv("HARNESS_CONFIG_HOME", str(folder))
    return path


def test_the_example_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the config.toml of the page every role has a model that can be reached, under the default caps."""
    _own_file(tmp_path, monkeypatch)
    settings = read_settings(tmp_path / "harness")
    assert settings.budget.task == config.DEFAULT_BUDGET.task
    assert settings.budget.day.micros == 50_000_000
    assert settings.caps == dataclasses.asdict(Policy())
    assert settings.model("executor") == "local:qwen3-coder"
    for role in tables._ROLES:
        check(settings.model(role), settings.services)
    passed_on = config.model_environment(("anthropic", "local"))
    assert {"ANTHROPIC_API_KEY", "LOCAL_API_KEY"} <= set(passed_on)


def test_the_example_is_refused_when_others_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with keys that is open to others is refused, and the hint is the command of the page."""
    _own_file(tmp_path, monkeypatch).chmod(0o644)
    with pytest.raises(UsageError) as refused:
        read_settings(tmp_path / "harness")
    assert "chmod 600" in refused.value.hint
    assert "`chmod 600`" in text(PAGE)


def test_the_first_that_names_a_model_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models come from where the page says, in that order."""
    _own_file(tmp_path, monkeypatch)
    project = tmp_path / "harness"
    project.mkdir()
    assert read_settings(project).model("planner") == "anthropic:MODEL"
    (project / "config.toml").write_text('[models]\nplanner = "ollama:project"\n')
    assert read_settings(project).model("planner") == "ollama:project"
    assert read_settings(project).model("executor") == "local:qwen3-coder"
    monkeypatch.setenv("HARNESS_MODEL", "ollama:environment")
    assert read_settings(project).model("executor") == "ollama:environment"
    assert read_settings(project, model="ollama:flag").model("executor") == "ollama:flag"


@pytest.mark.parametrize("key", sorted(config._USER_KEYS - config._PROJECT_KEYS))
def test_a_repository_cannot_set_what_is_the_users(key: str, tmp_path: Path) -> None:
    """A project's config.toml with services, prices or keys changes nothing, and the user is told."""
    before = read_settings(tmp_path)
    (tmp_path / "config.toml").write_text(f"[{key}]\nx = 1\n")
    after = read_settings(tmp_path)
    assert dataclasses.replace(after, notes=()) == before
    assert [note for note in after.notes if key in note and "ignored" in note]


def test_a_repository_lowers_and_never_raises(tmp_path: Path) -> None:
    """A project's budget and caps hold where they are lower, and only there."""
    wanted = "[caps]\nattempts = 99\nrespawn = 1\n[budget.task]\nusd = 99\nturns = 7\n"
    (tmp_path / "config.toml").write_text(wanted)
    settings = read_settings(tmp_path)
    assert (settings.caps["attempts"], settings.caps["respawn"]) == (Policy.attempts, 1)
    assert (settings.budget.task.micros, settings.budget.task.turns) == (10_000_000, 7)


def test_the_default_budget_is_the_one_shown() -> None:
    """Each span and unit of the table has its default."""
    _, *units = (_named(cell) if "`" in cell else cell for cell in _head("span"))
    assert units == list(tables._UNITS)
    rows = {_named(row[0]): row[1:] for row in table(PAGE, "span")}
    assert list(rows) == list(tables._SPANS)
    for span, cells in rows.items():
        caps = getattr(config.DEFAULT_BUDGET, span)
        shown = {
            unit: float(cell.replace(",", ""))
            for unit, cell in zip(units, cells, strict=True)
            if cell[0].isdigit()
        }
        assert tables.caps_of(**shown) == caps  # type: ignore[arg-type]  # floats are cut to whole numbers


def _head(first: str) -> list[str]:
    line = next(line for line in text(PAGE).splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_of_a_pause_is_named(cause: Cause) -> None:
    """Each word in `parked (…)` is on the page."""
    assert cause.value in in_code(PAGE)


def test_every_error_of_a_service_has_a_row() -> None:
    """Each way a service can fail is in the table, and none that is gone."""
    assert set(FAULTS) == {kind.__name__ for kind in _kinds(ProviderError) | _kinds(BudgetSpent)}


def test_every_error_of_a_subagent_has_a_row() -> None:
    """Each way a subagent can fail is in the table, and none that is gone."""
    assert set(FATES) == {kind.__name__ for kind in _kinds(AgentError)}


@pytest.mark.parametrize("name", FAULTS)
def test_what_the_harness_does_about_a_fault_is_true(name: str) -> None:
    """A row says that a task is parked exactly when the error parks it, with its cause and exit code."""
    kind = getattr(errors, name)
    _, _, does = FAULTS[name]
    assert ("parks" in does) == bool(kind.pause)
    if kind.pause:
        assert f"parks the task: `{kind.pause}`, exit {6 if kind.pause == 'budget' else 3}" in does
    if name in ("RequestRefused", "ModelUnknown"):
        assert f"exit {kind.exit_code}" in does


@pytest.mark.parametrize("name", ["ProviderFault", "KeyRefused", "QuotaSpent", "RequestRefused"])
def test_a_status_means_what_the_table_says(name: str) -> None:
    """An answer with a status of a row is the error of that row."""
    happens = FAULTS[name][0].split(";")
    plain = list(map(int, re.findall(r"\b[45]\d\d\b", happens[0])))
    assert plain
    assert {type(answered(status, {}, {})).__name__ for status in plain} == {name}
    if name == "QuotaSpent":
        said = {"error": {"message": "you reached your spend limit"}}
        spoken = list(map(int, re.findall(r"\b4\d\d\b", happens[1])))
        assert {type(answered(status, {}, said)).__name__ for status in spoken} == {name}
    if name == "ProviderFault":
        assert "500 and above" in happens[0]
        assert {type(answered(status, {}, {})).__name__ for status in range(500, 530)} == {name}


NUMBERS = [
    f"sent at most {Policy.attempts} times (`caps.attempts`)",
    f"sent at most {Patience().attempts} times",
    f"at most {LONGEST_BACKOFF:g} s.",
    f"a wait of more than {'an hour' if Patience().longest == 3600 else Patience().longest}",
    f"{wire.CONNECT_SECONDS:g} s to connect",
    f"{wire.Limits().first:g} s until a streamed answer begins",
    f"{wire.Limits().idle:g} s of silence within it (OpenAI's Responses: {opening.REASONING.idle:g} s)",
    f"{wire.Limits().seconds:g} s in all",
    f"an answer of more than {wire.Limits().most // 1_000_000} MB",
    f"After {breaker.FAILURES} failed attempts in a row",
    f"nothing is sent to it for {breaker.COOLING.total_seconds() / 60:g} minutes",
    f"With {budget.ALERT * 100:g} % of a task's budget used",
    f"when {context.FULL * 100:g} % of it is used",
    f"the last {context.KEEP} messages stay",
    f"the {_default(Job, 'max_tokens'):,} tokens of an answer",
    f"more than {MAX_RESULT:,} characters",
    f"can read at once ({WINDOW:,})",
    f"or else {WINDOW:,} tokens",
    f"at most {Policy.respawn} times (`caps.respawn`)",
    f"no sign of life for {_default(Agents, 'silence'):g} s",
    f"no byte from the service for {_default(Agents, 'stale'):g} s",
    f"no result within {_default(Job, 'seconds'):g} s",
    f"more than {_default(Job, 'memory') >> 30} GiB",
    f"the same results, {repetition.STOP} times in a row",
    "at the third time it is told" if repetition.WARN == 3 else str(repetition.WARN),
    f"unacceptable {loop.ASK_AGAIN + 1} times",
    f"none after {_default(Job, 'max_turns')} turns",
    f"those of `[keys]`, with {SHORTEST} or more",
    f"`{MARK}` takes their place",
]


@pytest.mark.parametrize("claim", NUMBERS)
def test_a_number_is_the_one_in_the_code(claim: str) -> None:
    """Each number of the page is the one the program goes by."""
    assert claim in PROSE


@pytest.mark.parametrize("word", ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"])
def test_a_secret_is_known_by_its_name(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable with this word in its name and twelve characters is redacted; one with eleven is not."""
    assert f"`{word}`" in SECRETS
    monkeypatch.setenv(f"MY_{word}", "0123456789ab")
    monkeypatch.setenv(f"SHORT_{word}", "zyxwvutsrqp")
    secrets = known_secrets()
    assert "0123456789ab" in secrets
    assert "zyxwvutsrqp" not in secrets
    assert Redactor(secrets).clean("it is 0123456789ab") == f"it is {MARK}"


def test_a_cap_parks_a_task_as_shown(sample: Path, cli: Cli) -> None:
    """The line of the page is printed, with exit 6, and the command below it goes on."""
    command = next(words for words in _commands() if words[:2] == ["harness", "resume"])
    with LoopbackModel(HONEST) as model:
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": os.urandom(16).hex()}
        asked = ("run", REQUEST, "--repo", sample, "--model", "anthropic:scripted")
        parked = cli(*asked, "--max-turns", "2", env=env)
        resumed = cli("resume", "--repo", sample, *command[3:], env=env)
    assert parked.code == 6
    assert _block("text").strip() in parked.out.splitlines()
    assert resumed.code == 0, resumed.err


def _commands() -> list[list[str]]:
    shown = [block.text for block in blocks(PAGE) if block.language == "sh"]
    return [line.split() for line in "".join(shown).splitlines()]
