"""The rules of the house that no linter knows."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "harness_executor"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "files" not in path.relative_to(PACKAGE).parts)
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}

HOMES = {
    "cryptography": ("store/signing.py",),
    "anthropic": ("providers/anthropic.py",),
    "openai": ("providers/openai.py",),
    "jinja2": ("prompting.py",),
    "filelock": ("store/lock.py",),
    "tenacity": ("providers/retrying.py",),
    "genai_prices": ("providers/prices.py",),
    "pathspec": ("tools/ignoring.py",),
    "regex": ("kernel/patterns.py",),
    "pydantic": ("shapes.py", "wording.py"),
    "yaml": ("evidence/documents.py", "workspace/detect/reading.py"),
    "rich": ("ui/live.py",),
    "httpcore2": ("evidence/carrying.py", "providers/wire.py"),
    "httpx2": ("evidence/carrying.py", "evidence/exchange.py", "providers/wire.py"),
    "websockets": ("evidence/websocket.py",),
    "subprocess": ("sandbox/plain.py", "sandbox/process.py"),
    "time": ("clock.py",),
    "uuid": ("clock.py",),
    "secrets": ("clock.py",),
    "random": (),
}
"""The only modules that may import each package."""


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _imports(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_one_idea_per_file(path: Path) -> None:
    """A file has at most 400 lines, a function at most 40 lines and 5 arguments."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    for function in _functions(_tree(path)):
        assert (function.end_lineno or 0) - function.lineno < 40, f"{function.name} is too long"
        arguments = [
            arg for arg in (*function.args.args, *function.args.kwonlyargs) if arg.arg not in ("self", "cls")
        ]
        assert len(arguments) <= 5, f"{function.name} has {len(arguments)} arguments: make a value"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_values_are_made_by_our_own_decorator(path: Path) -> None:
    """A frozen dataclass compiles methods at import that most commands never call; `@frozen` does not."""
    if _name(path) != "errors.py" and not _name(path).startswith("demo/"):
        assert "@dataclass(frozen=True" not in path.read_text(encoding="utf-8")


def _depth(node: ast.AST) -> int:
    nested = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)
    inner = max((_depth(child) for child in ast.iter_child_nodes(node)), default=0)
    is_elif = isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    return inner + (1 if isinstance(node, nested) and not is_elif else 0)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_code_is_not_nested_deeper_than_three(path: Path) -> None:
    """Branches and loops stand at most three deep."""
    for function in _functions(_tree(path)):
        assert _depth(function) <= 3, f"{function.name} is nested {_depth(function)} deep"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_every_module_opens_with_one_sentence(path: Path) -> None:
    """The first line of a module says what it is, and ends."""
    first = (ast.get_docstring(_tree(path)) or "").split("\n")[0]
    assert first.endswith((".", "?", ":"))


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_no_module_is_a_drawer(path: Path) -> None:
    """No module is called utils, common, helpers or manager."""
    assert not set(path.relative_to(PACKAGE).with_suffix("").parts) & FORBIDDEN_NAMES


@pytest.mark.parametrize("package", HOMES)
def test_each_outside_package_has_one_home(package: str) -> None:
    """Only its home imports an outside package, and every home is real."""
    users = {_name(path) for path in MODULES if package in _imports(_tree(path))}
    assert users == set(HOMES[package])


def _is_environment(node: ast.AST) -> bool:
    owner = node.value if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") else None
    return isinstance(owner, ast.Name) and owner.id == "os"


def test_the_environment_is_read_in_one_place() -> None:
    """Only config.py reads os.environ; the demo sets up its own model there."""
    users = {_name(path) for path in MODULES if any(map(_is_environment, ast.walk(_tree(path))))}
    assert users == {"config.py", "cli/demo.py"}


def test_every_ignore_names_its_rule_and_its_reason() -> None:
    """A noqa or type: ignore says which rule, and why."""
    for path in MODULES:
        for line in path.read_text(encoding="utf-8").splitlines():
            if "# noqa" in line:
                assert "# noqa: " in line, f"{path.name}: {line}"
                assert " - " in line.split("# noqa: ")[1], f"{path.name}: {line}"
            if "type: ignore" in line:
                assert "type: ignore[" in line, f"{path.name}: {line}"
                assert line.rstrip().count("#") == 2, f"{path.name}: {line}"


def test_importing_does_nothing() -> None:
    """No module calls a function of the world at import."""
    for path in MODULES:
        for node in _tree(path).body:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                assert path.name == "__main__.py", f"{path.name}:{node.lineno} acts at import"


def test_code_folders_without_packages_stay_so() -> None:
    """prompts, agents, scripts and harness hold no Python package."""
    for name in ("prompts", "agents", "scripts", "harness"):
        assert not (ROOT / name / "__init__.py").exists()


TESTS = sorted(
    path
    for path in (ROOT / "tests").rglob("test_*.py")
    if not {"base", "feature"} & set(path.relative_to(ROOT).parts)
)
"""Our own tests; those of the projects under tests/apps are theirs."""


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_test_says_what_it_claims(path: Path) -> None:
    """Each test has a docstring."""
    for function in _functions(_tree(path)):
        if function.name.startswith("test_"):
            assert ast.get_docstring(function), f"{path.name}: {function.name}"


def test_the_root_is_clean() -> None:
    """Only what belongs there is tracked at the root."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.split("/")[0] for line in listed.splitlines()}
    allowed = {
        ".ci",
        ".gitignore",
        ".importlinter",
        "AGENTS.md",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "README.md",
    }
    allowed |= {
        "SKILL.md",
        "agents",
        "bench",
        "constraints.txt",
        "docs",
        "harness",
        "harness_executor",
        "prompts",
    }
    allowed |= {"pyproject.toml", "scripts", "tests"}
    assert top <= allowed
