"""Looking at a change without running it."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_executor.kernel.survey import Survey, Touched, objections
from harness_executor.workspace.export import Desk, open_desk
from harness_executor.workspace.project import Project, Start
from harness_executor.workspace.repository import open_repository
from harness_executor.workspace.surveying import runnable, survey
from tests.conftest import commit_all, git

PROJECT = Project(None, {})
BASE = {
    "app.py": "print('hello')\n",
    "README.md": "# Hello\n",
    "LICENSE": "as you like\n",
    "docs/guide.md": "how to\n",
    "pyproject.toml": '[project]\nname = "x"\nreadme = "README.md"\n',
}
Files = Mapping[str, str | None]


def desk_over(tmp_path: Path, *commits: Files) -> tuple[Desk, list[str]]:
    """A repository with a commit for each set of files, and their trees."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    trees = []
    for files in commits:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text)
        commit_all(root, "Work")
        trees.append(git(root, "rev-parse", "HEAD^{tree}").strip())
    return open_desk(open_repository(root), tmp_path / "desk"), trees


def surveyed(tmp_path: Path, change: Files, base: Files | None = None, project: Project = PROJECT) -> Survey:
    """What is seen of a change of the base."""
    desk, (old, new) = desk_over(tmp_path, {**BASE, **(base or {})}, change)
    return survey(desk, old, new, project)


def test_sees_files_and_modes_as_git_tells_them(tmp_path: Path) -> None:
    """Changed, added and removed, each with the modes on both sides."""
    seen = surveyed(tmp_path, {"README.md": "# Hi\n", "docs/new.md": "x\n", "docs/guide.md": None})
    assert seen.touched == (
        Touched("README.md", "100644", "100644"),
        Touched("docs/guide.md", "100644", ""),
        Touched("docs/new.md", "", "100644"),
    )
    assert seen.programs == ("app.py", "pyproject.toml")
    assert objections(seen) == ()


def test_a_comment_is_told_from_code(tmp_path: Path) -> None:
    """Of Python, whose program can be compared."""
    code = "import sys\n\nsys.exit(0)\n"
    seen = surveyed(tmp_path, {"app.py": f"{code}# done\n"}, {"app.py": code})
    assert seen.touched[0].comments
    assert objections(seen) == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"app.py": "print('bye')\n"}, "app.py: it is not documentation"),
        ({"app.py": None, "docs/app.md": "print('hello')\n"}, "app.py: it is not documentation"),
        ({"app.py": "print('hello'"}, "app.py: it is not documentation"),
        ({"README.md": None}, "README.md: pyproject.toml names it"),
    ],
)
def test_code_has_to_be_run_whatever_it_is_called_now(tmp_path: Path, change: Files, why: str) -> None:
    """Also if it was renamed to a document, and a document that packaging needs may not go."""
    assert objections(surveyed(tmp_path, change)) == (why,)


@pytest.mark.parametrize(
    ("reader", "text", "why"),
    [
        ("web.py", "PAGE = open('docs/guide.md').read()\n", "web.py names it"),
        ("web.py", "PAGE = open('guide.md').read()\n", "web.py names it"),
        ("web.py", "for one in ROOT.glob('*.md'): print(one)\n", "web.py looks for *.md files"),
        ("web.py", "PAGE = open(f'{name}.md').read()\n", "web.py looks for *.md files"),
        ("web.py", "PAGES = os.listdir('docs')\n", "web.py names its folder docs/"),
        ("server.js", "app.use(express.static(__dirname + '/docs'))\n", "server.js names its folder docs/"),
        ("server.js", "app.use(express.static('./docs/'))\n", "server.js names its folder docs/"),
        ("package.json", '{"main": "server.js", "files": ["docs/guide.md"]}\n', "package.json names it"),
        ("package.json", '{"dependencies": {"vitepress": "1"}}\n', "package.json makes pages of documents"),
        ("pytest.ini", "[pytest]\naddopts = --doctest-glob='*.md'\n", "pytest.ini makes tests of documents"),
        ("conftest.py", "from sybil import Sybil\n", "conftest.py makes tests of documents"),
        ("docs/__init__.py", "", "it lies in the package docs, which may read it"),
        (".env", "MANUAL=guide.md\n", ".env names it"),
    ],
)
def test_a_document_that_a_program_may_read_has_to_be_run(
    tmp_path: Path, reader: str, text: str, why: str
) -> None:
    """As far as the code tells: by its name, its kind, its folder, or what makes tests and pages of it."""
    seen = surveyed(tmp_path, {"docs/guide.md": "how not to\n"}, {reader: text})
    assert objections(seen) == (f"docs/guide.md: {why}",)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("pyproject.toml", '[project]\nname = "x"\nreadme = "README.md"\n'),
        ("setup.py", "setup(long_description=open('README.md').read())\n"),
        ("Dockerfile", "COPY README.md pyproject.toml ./\n"),
        ("docs/conf.py", "source_suffix = ['.md']\nmaster_doc = 'README.md'\n"),
        ("mkdocs.yml", "nav:\n  - README.md\n"),
        ("docs/guide.md", "see README.md\n"),
        (".editorconfig", "[*.md]\nindent_size = 2\n"),
        ("web.py", 'app = FastAPI(docs_url="/docs")  # LICENSE: see above\n'),
    ],
)
def test_naming_a_document_is_not_always_reading_it(tmp_path: Path, reader: str, text: str) -> None:
    """Packaging hands it out, a manual is made of it, and other documents speak of it."""
    seen = surveyed(tmp_path, {"README.md": "# Hi\n", "LICENSE": "as I like\n"}, {reader: text})
    assert objections(seen) == ()


def test_commands_that_are_known_count_too(tmp_path: Path) -> None:
    """A check that no file of the project names may make tests of documents."""
    checks = {"test": "pytest --doctest-glob=*.md"}
    seen = surveyed(tmp_path, {"README.md": "# Hi\n"}, project=Project(None, checks))
    assert objections(seen) == ("README.md: `pytest --doctest-glob=*.md` makes tests of documents",)
    assert seen.programs[0] == "`pytest --doctest-glob=*.md`"


def test_what_a_server_is_started_with_is_read_and_what_is_checked_is_not(tmp_path: Path) -> None:
    """A check of documents is run on both sides anyway."""
    checks = {"lint": "markdownlint docs/guide.md"}
    about = {"harness/environment.json": '{"runtime": {"lint_command": "markdownlint docs/guide.md"}}'}
    change = {"docs/guide.md": "how not to\n"}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert objections(surveyed(tmp_path / "a", change, about, Project(None, checks))) == ()
    started = Project(Start("serve docs/guide.md"), {})
    said = objections(surveyed(tmp_path / "b", change, about, started))
    assert said == ("docs/guide.md: the server is started with its name",)


def test_a_link_a_mode_and_a_strange_name_have_to_be_looked_at(tmp_path: Path) -> None:
    """Each is more than text."""
    desk, (old,) = desk_over(tmp_path, BASE)
    root = tmp_path / "project"
    (root / "README.md").chmod(0o755)
    (root / "docs" / "link.md").symlink_to("../app.py")
    commit_all(root, "Work")
    new = git(root, "rev-parse", "HEAD^{tree}").strip()
    assert [why.partition(" (mode")[2] for why in objections(survey(desk, old, new, PROJECT))] == [
        " 100644 → 100755)",
        " 120000)",
    ]
    Path(os.fsdecode(os.fsencode(root / "docs") + b"/\xff.md")).write_text("x")
    (root / "docs" / "link.md").unlink()
    (root / "README.md").chmod(0o644)
    commit_all(root, "Work")
    strange = git(root, "rev-parse", "HEAD^{tree}").strip()
    (why,) = objections(survey(desk, old, strange, PROJECT))
    assert why.endswith("its name cannot be looked for in the code")


def test_a_repository_of_texts_has_nothing_to_run(tmp_path: Path) -> None:
    """Unless somebody said how it is checked or started, or a file of it may be run."""
    texts = {"README.md": "# Poems\n", "poems/one.md": "a rose\n", "poems.csv": "one\n"}
    desk, (old, new) = desk_over(tmp_path, texts, {"poems/one.md": "two roses\n", "poems.csv": "two\n"})
    assert runnable(desk, (old, new), PROJECT) == ()
    assert objections(survey(desk, old, new, PROJECT)) == ()
    assert runnable(desk, (old,), Project(Start("serve"), {"test": "check"})) == ("`serve`", "`check`")
    (tmp_path / "project" / "poems" / "one.md").chmod(0o755)
    commit_all(tmp_path / "project", "Work")
    tree = git(tmp_path / "project", "rev-parse", "HEAD^{tree}").strip()
    assert runnable(desk, (old, tree), PROJECT) == ("poems/one.md",)
