"""What the documentation claims, held against the program."""

import configparser
import dataclasses
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness_executor import config, errors, tables
from harness_executor.cli import task_state
from harness_executor.cli.door import COMMANDS, EXIT_CODES
from harness_executor.cli.run import EXIT
from harness_executor.config import read_settings
from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import LIES
from harness_executor.evidence.scenario_file import load_scenarios
from harness_executor.kernel.acts import Call
from harness_executor.kernel.events import StepName
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.report import Meaning
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.scenario import Kind, Scenario, Step
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.subagents.jobs import Role
from harness_executor.workspace.project import PLACES, read_project
from tests.conftest import Cli
from tests.pages import ROOT, Block, add_stats, blocks, in_code, text

PACKAGE = ROOT / "harness_executor"
DOCS = ROOT / "docs"
PAGES = sorted(
    path for pattern in ("*.md", "docs/*.md", "agents/*.md", "harness/*.md") for path in ROOT.glob(pattern)
)
SPEC_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
"""Every field the Agent Skills specification knows."""


def _name(value: Path | Block | str) -> str:
    match value:
        case Path():
            return value.relative_to(ROOT).as_posix()
        case Block():
            return f"{value.page}:{value.text[:30].strip()}"
    return value


def _front_matter(path: Path) -> tuple[dict[str, Any], str]:
    opening, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert opening == ""
    data = yaml.safe_load(front)
    assert isinstance(data, dict)
    return data, body


def _commands(*names: str) -> Iterator[list[str]]:
    """Every shell command in the fenced blocks of these pages, as words."""
    for block in blocks(*names):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                inner = re.sub(r"^\w+=\$\((.*)\)$", r"\1", line.strip())
                yield shlex.split(inner, comments=True)


def _scenario_blocks() -> list[Block]:
    found = blocks("README.md", "docs/SCENARIOS.md", "SKILL.md")
    return [block for block in found if block.language in ("json", "yaml")]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_subcommand_is_documented(command: str) -> None:
    """Each subcommand of `harness` is named in the README or in docs/."""
    pages = "".join(text(_name(path)) for path in (ROOT / "README.md", *DOCS.glob("*.md")))
    assert f"harness {command}" in pages


@pytest.mark.parametrize("words", list(_commands(*map(_name, PAGES))), ids=" ".join)
def test_every_command_that_is_shown_exists(words: list[str], cli: Cli) -> None:
    """A `harness` command in a page names a real subcommand and real options."""
    program = words[0].removeprefix(".venv/bin/") if words else ""
    if program not in ("harness", "harness-run"):
        return
    command = "run" if program == "harness-run" else words[1]
    offered = cli(command, "--help").out
    assert command in COMMANDS
    assert all(word in offered for word in words if word.startswith("--"))


def test_every_make_target_that_is_named_exists() -> None:
    """`make X` in any page is a target of the Makefile, and every target is in docs/DEVELOPMENT.md."""
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.M))
    named = {
        target for path in PAGES for target in re.findall(r"(?:^|`)make ([a-z]+)", text(_name(path)), re.M)
    }
    assert named <= targets
    assert all(f"`make {target}`" in text("docs/DEVELOPMENT.md") for target in targets)
    assert {"demo", "test"} <= set(re.findall(r"^make ([a-z]+)", text("README.md"), re.M))


def test_every_exit_code_is_documented() -> None:
    """Each code the program can end with, and each that `harness --help` lists, is in the README's table."""
    listed = set(map(int, re.findall(r"^\| (\d+) \|", text("README.md"), re.M)))
    raised = {kind.exit_code for kind in vars(errors).values() if hasattr(kind, "exit_code")}
    helped = set(map(int, re.findall(r"(?:^|\s)(\d+)  ", EXIT_CODES)))
    assert raised | helped | set(EXIT.values()) <= listed


@pytest.mark.parametrize("kind", [Scenario, Step, Call, Expect, JsonCheck])
def test_every_key_of_a_scenario_file_is_documented(kind: Any) -> None:
    """Each key has a row in a table of docs/SCENARIOS.md."""
    rows = set(re.findall(r"^\| `(\w+)` \|", text("docs/SCENARIOS.md"), re.M))
    assert {field.name for field in dataclasses.fields(kind)} <= rows


@pytest.mark.parametrize("choice", [*Kind, *Op, *Meaning])
def test_every_word_of_a_scenario_is_documented(choice: str) -> None:
    """Each kind, comparison and meaning is explained in docs/SCENARIOS.md."""
    assert choice in in_code("docs/SCENARIOS.md")


@pytest.mark.parametrize("block", _scenario_blocks(), ids=_name)
def test_every_scenario_example_loads(block: Block, tmp_path: Path) -> None:
    """Each JSON and YAML block of the README, SKILL.md and docs/SCENARIOS.md is a valid scenario file."""
    path = tmp_path / f"scenarios.{block.language}"
    path.write_text(block.text, encoding="utf-8")
    assert load_scenarios(path)


@pytest.mark.parametrize("page", ["README.md", "SKILL.md"])
def test_the_scenario_example_proves_the_change_it_is_about(page: str, sample: Path, cli: Cli) -> None:
    """The file shown fails on the sample project as it is, passes with the change, and is strong enough."""
    (sample / "scenarios.yaml").write_text(next(b.text for b in blocks(page) if b.language == "yaml"))
    words = ("verify", "--base", "HEAD", "--scenarios", "scenarios.yaml")
    add_stats(sample)
    assert cli(*words, cwd=sample).code == 0


def test_the_weak_example_is_refused_as_shown(sample: Path, cli: Cli) -> None:
    """The last YAML block of docs/SCENARIOS.md is refused with the reason printed above it."""
    shown = blocks("docs/SCENARIOS.md")
    (sample / "weak.yaml").write_text([block.text for block in shown if block.language == "yaml"][-1])
    add_stats(sample)
    ended = cli("verify", "--base", "HEAD", "--scenarios", "weak.yaml", cwd=sample)
    assert ended.code == 4
    assert next(block.text for block in shown if block.language == "text") in ended.out


def test_the_demo_prints_what_the_readme_shows(cli: Cli, tmp_path: Path) -> None:
    """Every line of the first output block of the README is a line of `harness demo`, in that order."""
    ended = cli("demo", cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    shown = next(block.text for block in blocks("README.md") if block.language == "text").splitlines()
    printed = iter([*ended.err.splitlines(), *ended.out.splitlines()])
    assert ended.code == 0
    assert [line for line in shown if line in printed] == shown


def test_the_lie_is_refused_as_the_readme_shows(sample: Path, cli: Cli) -> None:
    """Every line of the second output block of the README is printed when the model forges a report."""
    (sample / "harness" / "config.toml").write_text("[caps]\nverification = 0\n")
    with LoopbackModel(list(LIES.values())[1]) as model:
        key = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "scripted"}
        ended = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:scripted", env=key)
    shown = [block.text for block in blocks("README.md") if block.language == "text"][1].splitlines()
    printed = iter([*ended.err.splitlines(), *ended.out.splitlines()])
    assert ended.code == 4
    assert [line for line in shown if line in printed] == shown


def test_every_setting_of_a_project_is_documented() -> None:
    """Each key of config.toml, and each cap with its default, is in docs/DEVELOPMENT.md."""
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", text("docs/DEVELOPMENT.md"), re.M))
    assert set(rows) >= config._PROJECT_KEYS
    assert {field.name for field in dataclasses.fields(Policy)} == tables._CAPS
    for field in dataclasses.fields(Policy):
        assert f"({field.default})" in rows[f"caps.{field.name}"]


def test_every_environment_variable_is_documented() -> None:
    """Each variable that config.py reads is in docs/DEVELOPMENT.md, or in docs/MODELS.md."""
    source = (PACKAGE / "config.py").read_text(encoding="utf-8")
    read = set(re.findall(r"\"([A-Z][A-Z_]{1,})\"", source))
    assert {"HARNESS_MODEL", "NO_COLOR", "ANTHROPIC_API_KEY"} <= read
    pages = text("docs/DEVELOPMENT.md") + text("docs/MODELS.md")
    assert [name for name in sorted(read) if not re.search(rf"\b{name}\b", pages)] == []


def test_the_environment_example_is_read_in_full(tmp_path: Path) -> None:
    """The environment.json of docs/DEVELOPMENT.md gives a start, readiness, variables and every check."""
    example = next(block.text for block in blocks("docs/DEVELOPMENT.md") if block.language == "json")
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "environment.json").write_text(example)
    project = read_project(tmp_path)
    assert project.start is not None
    assert project.start.command == "python3 app.py --port {port}"
    assert project.start.readiness.endpoint == "/health"
    assert set(project.start.env) == {"LOG_LEVEL", "DATABASE_URL", "SESSION_SECRET"}
    assert list(project.checks) == ["build", "lint", "typecheck", "test"]


def test_every_place_of_the_environment_file_is_documented() -> None:
    """Each path where environment.json is looked for is in docs/DEVELOPMENT.md, in that order."""
    page = text("docs/DEVELOPMENT.md")
    found = [page.index(f"`{place}`") for place in PLACES]
    assert found == sorted(found)


def test_every_field_read_of_the_environment_file_is_documented() -> None:
    """Each field that the readers of environment.json ask for is in docs/DEVELOPMENT.md."""
    readers = ("project", "chores", "needs", "readiness")
    sources = [(PACKAGE / "workspace" / f"{name}.py").read_text(encoding="utf-8") for name in readers]
    source = "\n".join(sources)
    asked = set(re.findall(r"(?:\.get\(|section\(\w+, |section\(section\(\w+, )\"(\w+)\"", source))
    asked |= set(re.findall(r"\"(\w+_command)\"", source))
    assert {"command", "readiness", "test_value_ok", "lint_command", "steps", "sql"} <= asked
    assert [name for name in sorted(asked) if name not in text("docs/DEVELOPMENT.md")] == []


def test_the_settings_example_is_accepted(tmp_path: Path) -> None:
    """The config.toml of docs/DEVELOPMENT.md is read, and its caps are the defaults."""
    example = next(block.text for block in blocks("docs/DEVELOPMENT.md") if block.language == "toml")
    (tmp_path / "config.toml").write_text(example)
    settings = read_settings(tmp_path)
    assert settings.caps == dataclasses.asdict(Policy())
    assert settings.model("planner") == settings.models["default"]
    assert settings.model("verifier") == settings.models["verifier"]


@pytest.mark.parametrize(
    "path", sorted(path for path in PACKAGE.iterdir() if path.name[0] not in "_."), ids=_name
)
def test_every_module_is_on_the_map(path: Path) -> None:
    """Each top-level module, and each package with all its modules, has a line in docs/ARCHITECTURE.md."""
    if path.suffix not in ("", ".py"):
        return
    name = f"{path.name}/" if path.is_dir() else path.name
    line = re.search(rf"^\| `{re.escape(name)}` \|(.*)\|$", text("docs/ARCHITECTURE.md"), re.M)
    assert line, f"{name} has no line"
    inside = {module.stem for module in path.glob("*.py")} - {"__init__"} if path.is_dir() else set()
    assert {module for module in inside if f"`{module}`" not in line[1]} == set()


def test_the_map_names_nothing_that_is_gone() -> None:
    """Each line of the map in docs/ARCHITECTURE.md is about something that exists."""
    names = re.findall(r"^\| `([\w.]+(?:\.py|/))` \|", text("docs/ARCHITECTURE.md"), re.M)
    assert names
    assert [name for name in names if not (PACKAGE / name).exists()] == []


def test_the_import_order_is_the_one_that_is_held() -> None:
    """The order in docs/ARCHITECTURE.md is the order in .importlinter."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    layers = contracts["importlinter:contract:layers"]["layers"].strip()
    assert layers in "\n".join(block.text for block in blocks("docs/ARCHITECTURE.md"))


def test_every_fault_point_is_documented() -> None:
    """Each named fault point is in docs/ARCHITECTURE.md, and none that is gone."""
    source = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    table = text("docs/ARCHITECTURE.md").split("| where | points |")[1]
    assert set(re.findall(r"`([\w.]+)`", table)) == set(re.findall(r"faults\.point\(\"([\w.]+)\"\)", source))


def test_every_step_is_documented() -> None:
    """Each step has a row in docs/ARCHITECTURE.md."""
    assert set(StepName) <= set(re.findall(r"^\| (\w+) \|", text("docs/ARCHITECTURE.md"), re.M))


def test_the_skill_obeys_the_specification() -> None:
    """SKILL.md has valid front matter, with fields of the specification only, and a short body."""
    front, body = _front_matter(ROOT / "SKILL.md")
    assert set(front) <= SPEC_FIELDS
    assert front["name"] == "harness-executor"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", front["name"])
    assert 1 <= len(front["description"]) <= 1024
    assert "Use when" in front["description"]
    assert len(front.get("compatibility", "")) <= 500
    assert len(body.splitlines()) < 500


def _task_state_commands() -> list[list[str]]:
    lines = [
        words for words in _commands(*map(_name, PAGES)) if any("task_state.py" in word for word in words)
    ]
    return [
        words[next(at for at, word in enumerate(words) if "task_state.py" in word) + 1 :] for words in lines
    ]


@pytest.mark.parametrize("words", _task_state_commands(), ids=" ".join)
def test_every_task_state_command_that_is_shown_is_accepted(words: list[str]) -> None:
    """The real parser takes each `task_state.py` command of the pages, with its options."""
    assert task_state._options(words).command == words[0]


def test_the_skill_shows_every_task_state_command(cli: Cli) -> None:
    """SKILL.md has an example of each command that `task_state.py` knows."""
    known = re.search(r"\{([\w,]+)\}", cli("task-state", "--help").out)
    assert known
    assert set(known[1].split(",")) == {words[0] for words in _task_state_commands()}


def test_the_skill_shows_values_that_are_read(tmp_path: Path) -> None:
    """The JSON that SKILL.md gives to options is JSON."""
    given = [word for words in _task_state_commands() for word in words if word.startswith(("[", "{"))]
    assert given
    assert all(json.loads(word) for word in given)


@pytest.mark.parametrize("role", Role)
def test_every_role_has_a_guide(role: Role) -> None:
    """agents/ROLE.md has a name, a description, and says who the reader is."""
    front, body = _front_matter(ROOT / "agents" / f"{role}.md")
    assert front["name"] == role
    assert front["description"]
    assert f"You are the {role}" in body


def test_no_guide_is_without_a_role() -> None:
    """Each guide in agents/ is the guide of a role, or of the critic, which coding agents start."""
    assert {path.stem for path in (ROOT / "agents").glob("*.md")} == {*Role, "critic"}


def test_the_changelog_has_an_unreleased_section() -> None:
    """CHANGELOG.md has a section for what is not yet released, with at least one line."""
    section = text("CHANGELOG.md").split("\n## Unreleased\n")[1].split("\n## ")[0]
    assert re.search(r"^- \S", section, re.M)


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    """Each link to a file or a heading of this repository resolves."""
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        assert page.exists(), target
        assert not anchor or anchor in _anchors(page), target


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
