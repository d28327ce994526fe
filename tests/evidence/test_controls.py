"""What the harness tries of programs by itself, chosen by what the base has."""

from pathlib import Path

from harness_executor.evidence.controls import PACKAGES, controls_for
from harness_executor.kernel.acts import Language, Probe, Program
from harness_executor.kernel.scenario import Kind, Scenario, Step


def of(*steps: Step) -> tuple[Scenario, ...]:
    """One scenario of these steps."""
    return (Scenario("s", "w", steps),)


def probe(code: str, language: Language = Language.PYTHON) -> Step:
    """A step that probes."""
    return Step(probe=Probe(language, code))


def names(tree: Path, *steps: Step) -> list[str]:
    """What is tried."""
    return [control.name for control in controls_for(of(*steps), tree, ".")]


def write(tree: Path, *files: str) -> None:
    """Empty files."""
    for name in files:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()


def test_modules_of_the_base_are_imported(tmp_path: Path) -> None:
    """The deepest module that the base has of each import, and no package of others."""
    write(tmp_path, "src/pkg/__init__.py", "src/pkg/core.py")
    code = "import json\nfrom pkg.core import new\nimport pkg.later\nnew()"
    controls = controls_for(of(probe(code)), tmp_path, ".")
    assert [control.name for control in controls] == [PACKAGES, "`import pkg.core` works"]
    asked = controls[0].steps[0].probe
    assert asked is not None
    assert asked.args == ("pkg.core", "pkg")


def test_a_base_without_anything_of_it_must_have_the_interpreter(tmp_path: Path) -> None:
    """Where the whole package is new, there is nothing to import on base."""
    assert names(tmp_path, probe("import pkg\npkg.x")) == ["python works"]
    assert names(tmp_path, probe("require('./x.js')", Language.NODE)) == ["node works"]


def test_files_of_node_are_imported(tmp_path: Path) -> None:
    """Relative modules that the base has, with the end that Node would add."""
    write(tmp_path, "lib/a.js")
    code = "const a = require('./lib/a');\nimport b from './b.mjs';\na(b)"
    assert names(tmp_path, probe(code, Language.NODE)) == [PACKAGES, "`import ./lib/a.js` works"]


def test_commands_of_the_project_are_asked_for_help_and_for_nonsense(tmp_path: Path) -> None:
    """Those of the system are not, and few are."""
    write(tmp_path, "tool.py", "pkg/__init__.py")
    runs = [("python", "tool.py", "x"), ("cat", "x"), ("python", "-m", "pkg", "y"), ("sh", "-c", "true")]
    assert names(tmp_path, *(Step(run=Program(argv)) for argv in runs)) == [
        PACKAGES,
        "`import pkg` works",
        "`python tool.py --help` works",
        "`python tool.py` turns an unknown option away",
        "`python -m pkg --help` works",
        "`python -m pkg` turns an unknown option away",
    ]


def test_only_the_packages_are_taken_as_unchanged(tmp_path: Path) -> None:
    """A tool may learn `--help`; that it lacks a package on base says that base was not set up."""
    write(tmp_path, "pkg/__init__.py")
    controls = controls_for(of(probe("import pkg\n1")), tmp_path, ".")
    assert [control.kind for control in controls] == [Kind.UNCHANGED, Kind.NEW]
