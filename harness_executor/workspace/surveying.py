"""Looking at a change without running it: which files it touches, and what might read them."""

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from harness_executor.kernel.inert import differs_in_comments, is_known, is_text_only, why_not
from harness_executor.kernel.survey import PLAIN, Survey, Touched, objections
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import PLACES, Project, Start
from harness_executor.workspace.trees import Entry, list_tree

_FEW = 5
_MOST = 100
"""Changed documents that are looked for in the code."""
_PACKAGING = (
    *("pyproject.toml", "setup.cfg", "setup.py", "manifest.in", "package.json", "package-lock.json"),
    *("cargo.toml", "composer.json", "*.gemspec", "dockerfile*", ".dockerignore", ".npmignore"),
)
"""Files that name documents in order to hand them out with the program."""
_OF_THE_MANUAL = ("mkdocs.yml", "*/conf.py", "*/make.bat", "*/makefile", "book.toml")
"""Files that say how documents become a manual."""
_MANUALS = ("docs/", "doc/", "documentation/", "mkdocs.yml", "book.toml")
_COLLECTS = (
    "doctest[-_.]?(glob|file)|docfilesuite|[.]testfile[(]|sybil|mktestdocs|phmdoctest|byexample"
    "|markdown[-_]pytest|pytest[-_]markdown|pytest[-_]examples|doc-?test.*[.](md|rst|txt)"
)
"""What makes tests of documents."""
_RENDERS = (
    "docusaurus|vitepress|vuepress|nextra|eleventy|11ty|gatsby|astro|contentlayer|hexo|docsify"
    "|next-mdx|@next/mdx|nuxt/content|mkdocs|jekyll|hugo|sphinx-autobuild|mdbook"
)
"""Programs that make pages of documents."""

Hits = Callable[[str], bool]
"""Does a file that matches count?"""


def survey(desk: Desk, old: str, new: str, project: Project) -> Survey:
    """What a change touches; documents are looked for in the code only if nothing else speaks against it."""
    touched = tuple(_touched(desk, old, new))
    programs = runnable(desk, (old, new), project)
    seen = Survey(touched, programs)
    if objections(seen) or not programs:
        return seen
    papers = [file for file in touched if not file.comments]
    return Survey(touched, programs, dict(_doubts(desk, new, papers, project)))


def runnable(desk: Desk, trees: Iterable[str], project: Project) -> tuple[str, ...]:
    """The first few things that could be run: commands that are known, and files that may be programs."""
    listed = [entry for tree in dict.fromkeys(trees) for entry in list_tree(desk.git, tree)]
    files = [_printable(entry.name) for entry in listed if not _is_still(entry)]
    return tuple(dict.fromkeys((*(f"`{one}`" for one in commands(project)), *files)))[:_FEW]


def commands(project: Project) -> tuple[str, ...]:
    """What the project is started and checked with."""
    start = (project.start.command,) if project.start else ()
    return tuple(filter(None, (*start, *project.checks.values())))


def _is_still(entry: Entry) -> bool:
    return entry.mode == PLAIN and is_text_only(_printable(entry.name))


def _touched(desk: Desk, old: str, new: str) -> Iterator[Touched]:
    raw = desk.git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", "--full-index", old, new)
    parts = raw.decode(errors="surrogateescape").split("\0")
    for about, name in zip(parts[0::2], parts[1::2], strict=False):
        before, after, was, now, _ = about.removeprefix(":").split()
        old_mode, new_mode = ("" if mode == "000000" else mode for mode in (before, after))
        comments = before == after and before.startswith("100") and _only_comments(desk, name, was, now)
        yield Touched(_printable(name), old_mode, new_mode, comments)


def _only_comments(desk: Desk, name: str, was: str, now: str) -> bool:
    if not name.endswith(".py"):
        return False
    try:
        old, new = (desk.git.run("cat-file", "blob", one).decode() for one in (was, now))
    except UnicodeDecodeError:
        return False
    return differs_in_comments(name, old, new)


def _doubts(desk: Desk, tree: str, papers: list[Touched], project: Project) -> Iterator[tuple[str, str]]:
    """Why a program might read these documents, as far as the code tells."""
    everywhere = _of_all(desk, tree, commands(project))
    if len(papers) > _MOST:
        everywhere = f"more than {_MOST} documents changed, too many to be looked for in the code"
    packages = _packages(desk, tree)
    for file in papers:
        why = everywhere or _packaged(file.path, packages) or _started_with(project, file.path)
        why = why or _read_by(desk, tree, file)
        if why:
            yield file.path, why


def _of_all(desk: Desk, tree: str, known: tuple[str, ...]) -> str:
    where = _first(desk, tree, _COLLECTS, _is_code) or _among(known, _COLLECTS)
    if where:
        return f"{where} makes tests of documents"
    where = _first(desk, tree, _RENDERS, _is_manifest) or _among(known, _RENDERS)
    return f"{where} makes pages of documents" if where else ""


def _packages(desk: Desk, tree: str) -> set[str]:
    """The folders of Python packages."""
    names = (PurePosixPath(entry.name) for entry in list_tree(desk.git, tree))
    return {str(name.parent) for name in names if name.name == "__init__.py"} - {"."}


def _packaged(path: str, packages: set[str]) -> str:
    above = [str(parent) for parent in PurePosixPath(path).parents]
    package = next((folder for folder in above if folder in packages), "")
    return f"it lies in the package {package}, which may read it" if package else ""


def _started_with(project: Project, path: str) -> str:
    start = project.start or Start("")
    told = (start.command, start.base_command, *start.env.values())
    name = PurePosixPath(path).name
    return "the server is started with its name" if any(name in words for words in told) else ""


def _read_by(desk: Desk, tree: str, file: Touched) -> str:
    """Who names the document, its kind of files, or the folder it lies in."""
    path = PurePosixPath(file.path)
    if "\ufffd" in file.path:
        return "its name cannot be looked for in the code"
    stays = bool(file.before and file.after)
    counts = _is_reader if stays and is_known(file.path) else _is_code_or_packaging
    if where := _first(desk, tree, _name_of(path), counts):
        return f"{where} names it"
    if path.suffix and (where := _first(desk, tree, _kind_of(path), _is_reader)):
        return f"{where} looks for *{path.suffix} files"
    for folder in (str(parent) for parent in list(path.parents)[:-1]):
        if where := _first(desk, tree, _folder_of(folder), _is_reader):
            return f"{where} names its folder {folder}/"
    return ""


def _name_of(path: PurePosixPath) -> str:
    name = _literal(path.name)
    return name if "." in path.name else f"[\"'`/]{name}[\"'`]"


def _kind_of(path: PurePosixPath) -> str:
    return f"[\"'`*}}\\\\]{_literal(path.suffix)}([^a-z0-9_]|$)"


def _folder_of(folder: str) -> str:
    name = _literal(folder)
    return f"[\"'`]([.]{{1,2}}/)*{name}(/[^\"'`]*)?[\"'`]|(dirname|__dir__|cwd[(][)]).*[\"'`]/{name}[/\"'`]"


def _literal(text: str) -> str:
    return re.sub(r"[][\\.^$*+?{}()|]", r"\\\g<0>", text)


def _first(desk: Desk, tree: str, pattern: str, counts: Hits) -> str:
    """The first file of a tree that has a text and counts."""
    words = ("grep", "-a", "-i", "-l", "-z", "-E", "-e", pattern, tree)
    found = desk.git.find(*words).decode(errors="surrogateescape").split("\0")
    names = (_printable(line.removeprefix(f"{tree}:")) for line in found if line)
    return next(filter(counts, names), "")


def _among(known: tuple[str, ...], pattern: str) -> str:
    return next((f"`{one}`" for one in known if re.search(pattern, one, re.IGNORECASE)), "")


def _is_code(path: str) -> bool:
    """Is it more than a document itself?"""
    return bool(why_not(path))


def _is_code_or_packaging(path: str) -> bool:
    """Code and packaging, without what makes a manual of documents or says how they are checked."""
    is_manual = path.startswith(_MANUALS) and _fits(f"/{path}", (*_OF_THE_MANUAL, "*/mkdocs.yml"))
    return _is_code(path) and not is_manual and path not in PLACES


def _is_reader(path: str) -> bool:
    """Code that could read a document while it runs."""
    hidden = any(part.startswith(".") for part in path.split("/"))
    return _is_code_or_packaging(path) and not hidden and not _fits(path.rsplit("/", 1)[-1], _PACKAGING)


def _is_manifest(path: str) -> bool:
    return path.rsplit("/", 1)[-1] in ("package.json", "Gemfile")


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


def _printable(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="replace")
