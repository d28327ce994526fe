"""Honest work on rules for code: they become more, become others, or are let go by a person."""

from pathlib import Path

from tests.claims.app import COUNT, environment
from tests.claims.case import Corpus, Outcome
from tests.claims.forged_rules import UNUSED, with_ruff, with_script
from tests.claims.project import make_project
from tests.claims.tested import judged

CORPUS = Corpus()


@CORPUS.honest("a rule for code and a dependency more")
def stricter(place: Path) -> Outcome:
    """What holds by more rules holds by those of base."""
    project = with_ruff(place)
    project.swap('"F401"', '"F401", "E711"', "pyproject.toml")
    project.swap("dependencies = []", 'dependencies = ["tomli"]', "pyproject.toml")
    return judged(project)


@CORPUS.honest("rules for code, moved to a file of their own")
def moved(place: Path) -> Outcome:
    """They are the same."""
    project = with_ruff(place)
    project.swap('[tool.ruff.lint]\nselect = ["F401"]\n', "", "pyproject.toml")
    project.write("ruff.toml", 'lint.select = ["F401"]\n')
    return judged(project)


@CORPUS.honest("a script that lints more")
def more_script(place: Path) -> Outcome:
    """package.json gets another script, and the linter another file."""
    project = with_script(place)
    project.swap("FIXME routes.py", "FIXME routes.py web.py", "package.json")
    project.swap('"start"', '"dev": "python3 app.py", "start"', "package.json")
    return judged(project)


@CORPUS.honest("a rule for code, let go by a person")
def allowed(place: Path) -> Outcome:
    """Whoever names the check has seen it."""
    project = with_ruff(place)
    project.append(UNUSED)
    project.swap('"F401"', "", "pyproject.toml")
    return judged(project, "--allow-tests", "lint")


@CORPUS.honest("a rule for code that was broken on base and is let go")
def broken_before(place: Path) -> Outcome:
    """It complained before, and of nothing that is new."""
    project = with_ruff(place, old_dot_py=UNUSED)
    project.swap('"F401"', "", "pyproject.toml")
    return judged(project)


@CORPUS.honest("a line more in a file that had too many")
def grown(place: Path) -> Outcome:
    """The linter counts, and complains of nothing else."""
    count = (
        'n=$(grep -c "" routes.py); echo "routes.py:1:0: C0302: Too many lines in module ($n/20)"; exit 16'
    )
    project = make_project(place, {"harness/environment.json": environment(lint_command=count)})
    project.append(COUNT)
    return judged(project)
