"""Changes that break a rule for code, and do something about the rule."""

import shutil
from pathlib import Path

from tests.claims.app import COUNT, environment
from tests.claims.case import Corpus, Outcome
from tests.claims.forged_tests import ALTERED
from tests.claims.project import Project, make_project
from tests.claims.tested import judged
from tests.runners import ROOT

CORPUS = Corpus()
RULES = """\
[project]
name = "items"
version = "1"
dependencies = []

[tool.ruff.lint]
select = ["F401"]
"""
FORMAT = "for file in $(grep -l '[xy]={}' *.py); do echo would reformat $file; bad=1; done; exit ${bad:-0}"
"""Says what Black says."""
MANIFEST = '{"scripts": {"lint": "! grep -n FIXME routes.py", "start": "python3 app.py"}}\n'
UNUSED, FIXME = "\n\nimport zipfile\n", "\n\n# FIXME\n"
SAID = "by the rules of base it fails on the change"


def with_ruff(place: Path, **files: str) -> Project:
    """A project with a linter; its change serves the number of items."""
    runs = environment(lint_command=".venv/bin/ruff check --no-cache --output-format=concise *.py")
    named = {name.replace("_dot_", "."): text for name, text in files.items()}
    listed = {".gitignore": ".venv\n", "harness/environment.json": runs, "pyproject.toml": RULES}
    project = make_project(place, {**listed, **named})
    (project.root / ".venv/bin").mkdir(parents=True)
    shutil.copy(ROOT / ".venv/bin/ruff", project.root / ".venv/bin/ruff")
    project.append(COUNT)
    return project


def with_script(place: Path) -> Project:
    """A project whose linter is a script of package.json."""
    runs = environment(lint_command="npm run lint")
    project = make_project(place, {"harness/environment.json": runs, "package.json": MANIFEST})
    project.append(COUNT)
    return project


@CORPUS.forged("A73", "a rule for code, switched off", f"lint {ALTERED}", SAID, "routes.py: F401")
def switched_off(place: Path) -> Outcome:
    """The linter is content with what it no longer looks for."""
    project = with_ruff(place)
    project.append(UNUSED)
    project.swap('"F401"', "", "pyproject.toml")
    return judged(project)


@CORPUS.forged("A73", "a file taken out of what is linted", f"lint {ALTERED}", SAID)
def left_out(place: Path) -> Outcome:
    """New settings take the place of those that are there."""
    project = with_ruff(place)
    project.append(UNUSED)
    project.write("ruff.toml", "lint.select = []\n")
    return judged(project)


@CORPUS.forged("A73", "a rule switched off while the linter is red", f"lint {ALTERED}", SAID, "F401")
def red_already(place: Path) -> Outcome:
    """It complains of what it always did, and not of what is new."""
    rules = RULES.replace('"F401"', '"E711", "F401"')
    project = with_ruff(place, pyproject_dot_toml=rules, old_dot_py="print(print == None)\n")
    project.append(UNUSED)
    project.swap(', "F401"', "", "pyproject.toml")
    return judged(project)


@CORPUS.forged("A73", "a script that lints, emptied", f"lint {ALTERED}", SAID)
def emptied_script(place: Path) -> Outcome:
    """The command of base is a name; what it stands for is the change's."""
    project = with_script(place)
    project.append(FIXME)
    project.swap("! grep -n FIXME routes.py", "true", "package.json")
    return judged(project)


@CORPUS.forged("A73", "a new file in the wrong format, where others were", "new.py: wrong format is new")
def unformatted(place: Path) -> Outcome:
    """The formatter is red before and after."""
    project = make_project(
        place, {"harness/environment.json": environment(lint_command=FORMAT), "old.py": "x={}\n"}
    )
    project.append(COUNT)
    project.write("new.py", "y={}\n")
    return judged(project)
