"""Changes that pose as having nothing to run."""

import json
from pathlib import Path

from tests.claims.app import COUNT, PYTHON, ROUTES, environment
from tests.claims.asking import COUNTS
from tests.claims.case import Corpus, Outcome
from tests.claims.ledger import add_fact, lines_of
from tests.claims.project import Project
from tests.claims.script import call
from tests.claims.tested import FILE, broken, judged, project_with_tests
from tests.claims.unrun import README, documented, let_through, run, skipped

CORPUS = Corpus()
ROW = "A69"
CODE = "it is not documentation"
MANUAL = {"docs/guide.md": "It is used otherwise.\n"}


def _changed(project: Project) -> Outcome:
    project.write("docs/guide.md", MANUAL["docs/guide.md"])
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a skip of code beside documents", f"routes.py: {CODE}")
def beside(place: Path) -> Outcome:
    """Most of the change is documentation."""
    project = documented(place)
    project.append("More.\n", "README.md")
    project.append(COUNT)
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a skip of code that is called a document now", f"routes.py: {CODE}")
def renamed(place: Path) -> Outcome:
    """It was renamed; the server is gone."""
    project = documented(place)
    (project.root / "routes.py").rename(project.root / "docs" / "routes.md")
    return let_through(skipped(project))


@CORPUS.forged(
    ROW, "a skip of a document that is a link now", "more than a plain file (mode 100644 → 120000)"
)
def linked(place: Path) -> Outcome:
    """The manual leads elsewhere."""
    project = documented(place)
    (project.root / "docs" / "guide.md").unlink()
    (project.root / "docs" / "guide.md").symlink_to("/etc/passwd")
    return let_through(skipped(project))


@CORPUS.forged(
    ROW, "a skip of a document that can be run now", "more than a plain file (mode 100644 → 100755)"
)
def executable(place: Path) -> Outcome:
    """Its mode is all that changed."""
    project = documented(place)
    (project.root / "README.md").chmod(0o755)
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a skip of a new submodule", "holds a .git of its own")
def submodule(place: Path) -> Outcome:
    """Documentation from elsewhere, of which nobody knows what it is."""
    project = documented(place)
    inner = project.root / "docs" / "more"
    inner.mkdir()
    for words in (("init", "-q"), ("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q")):
        last = ("--allow-empty", "-m", "x") if "commit" in words else ()
        project.git("-C", "docs/more", *words, *last)
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a skip of a document that the server sends", "docs/guide.md: pages.py names it")
def served(place: Path) -> Outcome:
    """A client sees it."""
    return _changed(documented(place, pages_dot_py="GUIDE = open('docs/guide.md').read()\n"))


@CORPUS.forged(
    ROW, "a skip of documents that the server looks for", "docs/guide.md: pages.py looks for *.md files"
)
def found_by_kind(place: Path) -> Outcome:
    """No file is named, and each is read."""
    return _changed(documented(place, pages_dot_py="import glob\n\nGUIDES = glob.glob('d*/*.md')\n"))


@CORPUS.forged(
    ROW, "a skip of documents that tests are made of", "docs/guide.md: pytest.ini makes tests of documents"
)
def tested(place: Path) -> Outcome:
    """The manual is code, as pytest collects it."""
    return _changed(documented(place, pytest_dot_ini="[pytest]\naddopts = --doctest-glob='*.md'\n"))


@CORPUS.forged(ROW, "a skip of a template that is a document", "templates/mail.md: it lies in templates/")
def template(place: Path) -> Outcome:
    """Clients get it by mail."""
    project = documented(place, templates__mail_dot_md="Hello\n")
    project.write("templates/mail.md", "Goodbye\n")
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a skip of a list of packages", "requirements.txt: programs read files of this name")
def packages(place: Path) -> Outcome:
    """It is only text."""
    project = documented(place, requirements_dot_txt="flask\n")
    project.write("requirements.txt", "flask\nleft-pad\n")
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a skip of a changed docstring", f"routes.py: {CODE}")
def docstring(place: Path) -> Outcome:
    """Programs can show it; it is no comment."""
    project = documented(place)
    project.write("routes.py", f'"""Items, and more."""\n{ROUTES}')
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a skip that turns a check red", "the check lint passes on base and fails on the change")
def red(place: Path) -> Outcome:
    """Documentation is checked too, where a project has a check for it."""
    files = {"harness__environment_dot_json": environment(lint_command="grep -q list README.md")}
    project = documented(place, **files)
    project.write("README.md", "# Items\n")
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a model that says documentation only, and changes code", "no scenario failed before")
def claims_documents(place: Path) -> Outcome:
    """What it says of its change is not asked."""
    work = call("write_file", path="routes.py", content=ROUTES + COUNT)
    return let_through(run(documented(place), work))


@CORPUS.forged(ROW, "a model that documents what it was to build", "fails on the change too")
def documents_instead(place: Path) -> Outcome:
    """The request promises something new, so the scenarios are run."""
    work = call("write_file", path="README.md", content=README + "\nGET /items/count counts them.\n")
    return let_through(run(documented(place), work, scenarios=(COUNTS,)))


@CORPUS.forged(ROW, "a survey written into the log by hand", "says that there was nothing to run")
def by_hand(place: Path) -> Outcome:
    """Everything fits but the seal."""
    project = documented(place)
    task_id = project.open_task()
    project.append(COUNT)
    opened = lines_of(project.log(task_id))[0]["data"]
    touched = [{"path": "README.md", "before": "100644", "after": "100644"}]
    bound = {name: opened[name] for name in ("task_id", "base_commit", "base_tree")}
    trees = {"tree": "7" * 40, "tree_after": "7" * 40}
    found = {"reason": "documentation", "survey": {"touched": touched, "programs": []}, "seal": "f" * 64}
    add_fact(project.log(task_id), "ChangeSurveyed", {**bound, **trees, **found})
    add_fact(project.log(task_id), "GateJudged", {"accepted": False, "reasons": [], "unverified": True})
    add_fact(project.log(task_id), "TaskClosed", {"status": "completed_unverified", "summary": "done"})
    return let_through(project.outcome("show", task_id))


@CORPUS.forged(ROW, "a skip of documents, and code afterwards", "the code changed after it was verified")
def afterwards(place: Path) -> Outcome:
    """What was found holds for the tree that was looked at."""
    project = documented(place)
    project.open_task()
    project.append("More.\n", "README.md")
    project.outcome("verify")
    project.append(COUNT)
    return let_through(project.complete())


@CORPUS.forged(ROW, "a skip in place of a verification that failed", "fails on the change too")
def instead(place: Path) -> Outcome:
    """What was seen of this very tree counts more than what it looks like."""
    project = documented(place)
    project.open_task()
    project.append("GET /items/count counts them.\n", "README.md")
    project.verify(COUNTS, words=())
    project.outcome("verify")
    return let_through(project.complete())


@CORPUS.forged(ROW, "a skip that a repository asks for", f"routes.py: {CODE}")
def asked_for(place: Path) -> Outcome:
    """Words in environment.json do not make code a document."""
    about = {**json.loads(environment()), "project": {"type": "documentation"}, "skip": True}
    project = documented(place, harness__environment_dot_json=json.dumps(about))
    project.append(COUNT)
    return let_through(skipped(project))


@CORPUS.forged(ROW, "a program brought into a repository of texts", f"run.py: {CODE}")
def first_program(place: Path) -> Outcome:
    """There was nothing to run; now there is."""
    nothing = {"web.py": "", "app.py": "", "routes.py": "", "harness/environment.json": ""}
    project = documented(place, **{name.replace("/", "__").replace(".", "_dot_"): "" for name in nothing})
    work = call("write_file", path="run.py", content=f"#!{PYTHON}\nprint('hello')\n")
    return let_through(run(project, work))


@CORPUS.forged(
    "A73", "the last tests of a project, deleted while one is allowed", "kept was removed", "nobody allowed"
)
def last_tests(place: Path) -> Outcome:
    """A runner that has nothing left says yes for no test that nobody named."""
    project = broken(place)
    project.git("rm", "-q", "--force", FILE)
    return judged(project, "--allow-tests", "*turned_away*")


@CORPUS.forged(
    "A72",
    "a runner that breaks, while every test is allowed to go",
    "the check test passes on base and fails",
)
def broken_runner(place: Path) -> Outcome:
    """It ends badly and does not say which tests there are."""
    project = project_with_tests(place)
    project.write("conftest.py", "raise RuntimeError('broken')\n")
    return judged(project, "--allow-tests", "*")
