"""Honest work with nothing to run: it ends unverified, which is neither refused nor proved."""

from pathlib import Path

from tests.claims.app import COUNT, environment
from tests.claims.asking import COUNTS
from tests.claims.case import Corpus, Outcome
from tests.claims.script import call
from tests.claims.unrun import README, documented, passed, run, skipped

CORPUS = Corpus()
MORE = README + "\nMore about items.\n"
TEXTS = dict.fromkeys(("web_dot_py", "app_dot_py", "routes_dot_py", "harness__environment_dot_json"), "")
"""A repository without any program."""


@CORPUS.honest("documentation alone, unverified")
def documents(place: Path) -> Outcome:
    """Changed, added and removed documents, and a picture."""
    project = documented(place)
    project.write("README.md", MORE)
    project.write("docs/more.rst", "More\n====\n")
    project.write("docs/images/items.svg", "<svg/>\n")
    (project.root / "docs" / "guide.md").unlink()
    return passed(skipped(project))


@CORPUS.honest("files for git and continuous integration, unverified")
def for_tools(place: Path) -> Outcome:
    """No client ever sees what they do."""
    project = documented(place, LICENSE="as you like\n")
    project.write("LICENSE", "as I like\n")
    project.write(".gitignore", "*.pyc\n")
    project.write(".github/workflows/ci.yml", "on: push\njobs: {}\n")
    return passed(skipped(project))


@CORPUS.honest("comments alone, unverified")
def comments(place: Path) -> Outcome:
    """The program is the same."""
    project = documented(place)
    project.append("\n# more routes may come\n")
    return passed(skipped(project))


@CORPUS.honest("documentation with a check that stays green, unverified")
def checked(place: Path) -> Outcome:
    """The check is run on both sides all the same."""
    files = {"harness__environment_dot_json": environment(lint_command="grep -q list README.md")}
    project = documented(place, **files)
    project.write("README.md", MORE)
    outcome = passed(skipped(project))
    return outcome if "check lint: pass → pass" in outcome.said else Outcome(False, outcome.said)


@CORPUS.honest("a coding agent's task of documentation, unverified")
def by_agent(place: Path) -> Outcome:
    """Opened, looked at and completed."""
    project = documented(place)
    task_id = project.open_task("say more")
    project.write("README.md", MORE)
    project.outcome("verify")
    outcome = project.complete()
    shown = project.outcome("show", task_id).said
    return passed(outcome) if "completed_unverified" in shown else Outcome(False, shown)


@CORPUS.honest("a run that documents what is there, unverified")
def by_model(place: Path) -> Outcome:
    """The verifier promises nothing new, and the harness finds documents alone."""
    return passed(run(documented(place), call("write_file", path="README.md", content=MORE)))


@CORPUS.honest("a run in a repository of texts, unverified")
def texts(place: Path) -> Outcome:
    """There is nothing that scenarios could be carried out on, so nobody is asked for any."""
    project = documented(place, **TEXTS, poems__one_dot_md="A rose.\n")
    return passed(run(project, call("write_file", path="poems/one.md", content="Two roses.\n"), scenarios=()))


@CORPUS.honest("documentation with code, proved")
def with_code(place: Path) -> Outcome:
    """Scenarios are run as ever, and decide."""
    project = documented(place)
    project.write("README.md", MORE)
    project.append(COUNT)
    return project.verify(COUNTS)
