"""Which files speak to people, and to no program?"""

import pytest

from harness_executor.kernel.inert import differs_in_comments, is_text_only, why_not


@pytest.mark.parametrize(
    "path",
    [
        *("README.md", "readme.rst", "LICENSE", "LICENSE.txt", "COPYING", "CHANGELOG.md", "design.adoc"),
        *("docs/guide.md", "docs/images/a.png", "docs/notes.txt", "apps/api/docs/routes.rst"),
        *("packages/shop/README.md", ".gitignore", ".editorconfig", "CITATION.cff", "CODEOWNERS"),
        *(".github/workflows/ci.yml", ".github/ISSUE_TEMPLATE/bug.md", ".circleci/config.yml", ".travis.yml"),
    ],
)
def test_documents_and_files_of_forges_are_for_people(path: str) -> None:
    """What every project has for its readers."""
    assert why_not(path) == ""


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("app.py", "it is not documentation"),
        ("docs/conf.py", "it is not documentation"),
        ("docs/index.html", "it is not documentation"),
        ("docs/app.mdx", "it is not documentation"),
        ("shop/help.md", "it is not documentation"),
        ("notes.txt", "it is not documentation"),
        ("logo.png", "it is not documentation"),
        ("README", ""),
        ("README.py", "it is not documentation"),
        ("app.md.py", "it is not documentation"),
        ("Makefile", "it is not documentation"),
        ("config.yml", "it is not documentation"),
        (".gitattributes", "it is not documentation"),
        (".gitmodules", "it is not documentation"),
        (".github/actions/x/index.js", "it is not documentation"),
        ("requirements.txt", "programs read files of this name"),
        ("docs/requirements.txt", "programs read files of this name"),
        ("docs/test_guide.txt", "programs read files of this name"),
        ("docs/CMakeLists.txt", "programs read files of this name"),
        ("static/README.md", "it lies in static/, whose files programs read"),
        ("docs/templates/mail.md", "it lies in templates/, whose files programs read"),
        ("content/posts/first.md", "it lies in content/, whose files programs read"),
        ("PUBLIC/about.md", "it lies in public/, whose files programs read"),
        ("harness/scenarios/a.md", "it lies in harness/, whose files programs read"),
        ("", "it is not documentation"),
    ],
)
def test_in_doubt_a_program_reads_it(path: str, why: str) -> None:
    """Code, data, pages, lists of packages, and everything in folders that are served."""
    assert why_not(path) == why


@pytest.mark.parametrize(
    ("path", "still"),
    [
        *(("README.md", True), ("notes/2026.md", True), ("people.csv", True), ("paper.tex", True)),
        *(("harness/environment.json", True), ("poem.txt", True), ("mkdocs.yml", True)),
        *(("app.py", False), ("site.yml", False), ("package.json", False), ("index.html", False)),
        *(("run", False), ("requirements.txt", False), ("main.tf", False), ("schema.sql", False)),
    ],
)
def test_a_repository_of_texts_is_known_by_its_files(path: str, still: bool) -> None:
    """Whatever could be run, or could say how something is run, is no mere text."""
    assert is_text_only(path) is still


CODE = '"""Adds."""\n\n\ndef add(a, b):\n    return a + b  # a sum\n'


@pytest.mark.parametrize(
    ("new", "same"),
    [
        (CODE.replace("a sum", "the sum"), True),
        (CODE.replace("    return", "    # why\n    return"), True),
        (CODE + "\n\n# the end\n", True),
        (CODE.replace("a + b", "a - b"), False),
        (CODE.replace("Adds", "Subtracts"), False),
        (CODE.replace("\n\n\n", '\n\n\n"""more"""\n'), False),
        ("# coding: latin-1\n" + CODE, False),
        ("#!/bin/sh\n" + CODE, False),
        (CODE + "(", False),
        (CODE + "\0", False),
    ],
)
def test_comments_are_told_from_code(new: str, same: bool) -> None:
    """The program is the same; its docstrings, which can be asked for, belong to it."""
    assert differs_in_comments("app.py", CODE, new) is same


def test_comments_are_known_in_python_only() -> None:
    """Of other languages, and of very long files, nothing is said."""
    assert not differs_in_comments("app.js", "// a\n", "// b\n")
    long = CODE + "# x\n" * 300_000
    assert not differs_in_comments("app.py", CODE, long)
