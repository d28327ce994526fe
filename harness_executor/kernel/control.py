"""Which files of a change must a person look at, as they make other programs run something?"""

from collections.abc import Iterable

from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.paths import folded, matches
from harness_executor.kernel.secrecy import is_secret
from harness_executor.kernel.testfiles import RUNNERS


@frozen
class ControlFile:
    """A file of a change that a person should look at."""

    path: str
    runs: str
    """What it can make run."""
    created: bool
    """Was there none of that name on base?"""

    def __str__(self) -> str:
        return f"{self.path} ({'created' if self.created else 'changed'}): {self.runs}"


@frozen
class Rule:
    """Names of control files, and what they are for."""

    runs: str
    names: tuple[str, ...]
    changed: bool = True
    """Does a change of one that was there count too, or is that ordinary work?"""


_MODULE_ENDS = ("", ".py", "/__init__.py")

RULES = (
    Rule(
        "a coding agent starts the servers, hooks and commands it names",
        (
            *(".mcp.json", "mcp.json", ".claude/", ".claude.json", ".codex/", ".cursor/", ".gemini/"),
            *(".opencode/", "opencode.json", "opencode.jsonc", ".aider*", ".roo/", ".windsurf/", ".kiro/"),
            *(".continue/", ".junie/", ".amazonq/", ".agents/"),
        ),
    ),
    Rule(
        "a coding agent follows it as instructions",
        (
            *("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md"),
            *(".cursorrules", ".windsurfrules", ".clinerules", ".clinerules/", ".goosehints"),
            *("/.github/copilot-instructions.md", "/.github/instructions/", "/.github/prompts/"),
        ),
    ),
    Rule(
        "an editor or a debugger runs what it says when the folder is opened or a program is debugged",
        (
            *(".vscode/", "*.code-workspace", ".idea/", ".zed/", ".devcontainer/", ".devcontainer.json"),
            *(".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".gdbinit", ".lldbinit", ".pdbrc"),
        ),
    ),
    Rule(
        "continuous integration runs what it says, with the secrets it has there",
        (
            *("/.github/workflows/", "/.github/actions/", "/action.yml", "/action.yaml", "/.gitlab-ci.yml"),
            *("/.gitlab/ci/", "/.circleci/", "jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml"),
            *("/.azure-pipelines/", "/.travis.yml", "/.drone.yml", "/bitbucket-pipelines.yml"),
            *("/appveyor.yml", "/.appveyor.yml", "/.buildkite/", "/.woodpecker/", "/.woodpecker.yml"),
            *("/.gitea/workflows/", "/.forgejo/workflows/", "/cloudbuild.yaml", "/cloudbuild.yml"),
        ),
    ),
    Rule(
        "git runs hooks, filters or another repository's code through it",
        (
            *(".git/", "git~[0-9]/", ".gitmodules", ".gitattributes", ".gitconfig", ".githooks/", ".husky/"),
            *(".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.y*ml", ".lefthook.y*ml"),
            *("lefthook-local.y*ml", ".huskyrc*", ".overcommit.yml"),
        ),
    ),
    Rule("a shell runs it when the folder is entered", (".envrc", "mise.toml", ".mise.toml", ".mise/")),
    Rule("Python runs it whenever it starts", ("sitecustomize.py", "usercustomize.py")),
    Rule("Python runs lines of it whenever it starts, where it is installed", ("*.pth",), changed=False),
    Rule(
        "a package manager runs or loads what it names, or installs from where it says",
        (
            *(".npmrc", ".yarnrc*", ".pnp.cjs", ".pnp.loader.mjs", ".pnpmfile.*js", ".yarn/plugins/"),
            *(".yarn/releases/", ".cargo/config", ".cargo/config.toml", ".bundle/"),
        ),
    ),
    Rule(
        "it takes the place of what is installed, such as programs that build and test",
        (".venv/", "venv/", "node_modules/"),
    ),
    Rule("pytest runs it before every test", ("conftest.py",), changed=False),
    Rule(
        "Python takes it for a part of a test runner, or loads the plugins it names",
        (
            *("*.dist-info/", "*.egg-info/"),
            *(f"{folder}/{name}{end}" for folder in ("", "/src") for name in RUNNERS for end in _MODULE_ENDS),
        ),
        changed=False,
    ),
    Rule("`make` runs it, before a Makefile that was there", ("makefile", "gnumakefile"), changed=False),
    Rule(
        "it says how changes to this project are made and judged",
        (
            *("/.harness/", "/harness/config.toml", "/harness/environment.json"),
            *("/harness/config/", "/.claude/harness/"),
        ),
    ),
)

_KEPT = Rule("later changes are judged by the scenarios it keeps", ("/harness/scenarios/",))
"""Adding one is what completing a task does; only one that was there may not change unseen."""
_NAMED_SO = "it is named like a secret, which a model was not shown and history would keep"


def control_files(changed: Iterable[str], created: Iterable[str]) -> tuple[ControlFile, ...]:
    """The control files among the files that were changed and created since base."""
    touched = [(path, False) for path in changed] + [(path, True) for path in created]
    found = (_judged(path, created=is_new) for path, is_new in sorted(touched))
    return tuple(file for file in found if file)


def listed(files: Iterable[ControlFile]) -> str:
    """One line for each file."""
    return "\n".join(f"- {file}" for file in files)


def _judged(path: str, *, created: bool) -> ControlFile | None:
    parts = folded(path)
    for rule in RULES:
        if (created or rule.changed) and any(matches(parts, name) for name in rule.names):
            return ControlFile(path, rule.runs, created)
    if not created and any(matches(parts, name) for name in _KEPT.names):
        return ControlFile(path, _KEPT.runs, created)
    return ControlFile(path, _NAMED_SO, created) if is_secret(path) else None
