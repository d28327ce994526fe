"""Which files of a change make some other program run something?"""

import pytest

from harness_executor.kernel.control import RULES, ControlFile, control_files, listed
from harness_executor.workspace.project import PLACES

ALWAYS = (
    *(".mcp.json", "sub/.mcp.json", ".claude/settings.json", ".claude/hooks/x.sh", ".claude/agents/a.md"),
    *(".claude/commands/do.md", ".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json"),
    *(".opencode/command/x.md", ".aider.conf.yml", ".vscode/tasks.json", ".vscode/settings.json"),
    *(".vscode/launch.json", ".idea/runConfigurations/x.xml", ".devcontainer/devcontainer.json"),
    *(".github/workflows/ci.yml", ".github/actions/x/action.yml", ".gitlab-ci.yml", ".circleci/config.yml"),
    *("Jenkinsfile", "azure-pipelines.yml", "sitecustomize.py", "lib/usercustomize.py", ".envrc"),
    *(".pre-commit-config.yaml", ".husky/pre-commit", "vendored/.git/config", ".gitmodules"),
    *("sub/.gitmodules", ".gitattributes", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", "CLAUDE.md"),
    *("AGENTS.md", "docs/GEMINI.md", "harness/config.toml", ".harness/config.toml", "GIT~1/config"),
    *(".venv/bin/python", "web/node_modules/.bin/jest", "venv"),
    *PLACES,
)
WHEN_NEW = (
    *("conftest.py", "tests/conftest.py", "x.pth", "Makefile", "sub/GNUmakefile"),
    *("pluggy/__init__.py", "src/_pytest/__init__.py", "unittest.py", "x-1.0.dist-info/entry_points.txt"),
)
NEVER = (
    *("app.py", "test_app.py", "README.md", "package.json", "pyproject.toml", "Dockerfile", ".gitignore"),
    *("docs/github/workflows/x.yml", "templates/.github/workflows/ci.yml", "src/claude/settings.json"),
    *(
        "conftest.pyi",
        "my_conftest.py",
        "agents.py",
        "app/pathlib.py",
        "pluggy/_callers.py",
        "gitmodules",
        "src/harness/config.toml",
    ),
    *("requirements.txt", ".github/dependabot.yml", ".github/ISSUE_TEMPLATE/bug.md", "git/config", ""),
)


def _found(path: str, *, created: bool) -> bool:
    return bool(control_files((), (path,)) if created else control_files((path,), ()))


@pytest.mark.parametrize("path", ALWAYS)
def test_a34_what_makes_programs_run_is_found_new_or_changed(path: str) -> None:
    """Files that agents, editors, CI, git, shells and package managers obey are control files."""
    assert _found(path, created=True)
    assert _found(path, created=False)


@pytest.mark.parametrize("path", WHEN_NEW)
def test_a34_what_work_often_changes_is_found_when_it_is_new(path: str) -> None:
    """A conftest.py or Makefile that was there is ordinary work; one that was not is looked at."""
    assert _found(path, created=True)
    assert not _found(path, created=False)


@pytest.mark.parametrize("path", NEVER)
def test_ordinary_files_are_no_control_files(path: str) -> None:
    """Code, tests, documentation and manifests need nobody's approval."""
    assert not _found(path, created=True)
    assert not _found(path, created=False)


@pytest.mark.parametrize(
    "path",
    [
        ".GIT/config",
        ".Mcp.Json",
        ".claude./settings.json ",
        "\uff0e\uff45\uff4e\uff56\uff52\uff43",
        "conf\u200btest.py",
    ],
)
def test_a31_a_disguise_does_not_help(path: str) -> None:
    """Names are compared folded, and shown as they are."""
    (found,) = control_files((), (path,))
    assert found.path == path


def test_says_what_each_could_make_run() -> None:
    """Each finding has its path, whether it is new, and what it is for."""
    found = control_files([".mcp.json"], ["conftest.py"])
    assert [(file.path, file.created) for file in found] == [(".mcp.json", False), ("conftest.py", True)]
    said = listed(found)
    assert "- .mcp.json (changed): a coding agent starts" in said
    assert "- conftest.py (created): pytest runs it" in said
    assert str(ControlFile("x", "it runs", created=True)) == "x (created): it runs"


def test_every_rule_is_written_as_names_are_compared() -> None:
    """A pattern with a capital letter would never fit."""
    names = [name for rule in RULES for name in rule.names]
    assert names == [name.casefold() for name in names]
    assert len(names) == len(set(names))


def test_a_kept_scenario_may_be_added_and_not_altered_unseen() -> None:
    """A new file is what a completed task leaves; another version of an old one judges later changes."""
    assert not _found("harness/scenarios/a.yaml", created=True)
    assert _found("harness/scenarios/a.yaml", created=False)
