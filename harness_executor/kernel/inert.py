"""Which files speak to people, and to no program?"""

import ast
from fnmatch import fnmatchcase

from harness_executor.kernel.paths import folded

DOCUMENTS = (".md", ".markdown", ".rst", ".adoc", ".asciidoc")
"""What people write documentation in."""
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".pdf", ".puml", ".drawio", ".excalidraw")
_TABLES = (".csv", ".tsv", ".tex", ".bib")
"""What a repository of texts has besides; a program could well read it."""
_FOLDERS = ("docs", "doc", "documentation")
_SERVED = frozenset(
    (
        *("static", "public", "templates", "template", "content", "contents", "views", "www", "wwwroot"),
        *("htdocs", "site", "posts", "_posts", "pages", "partials", "snippets", "resources", "prompts"),
        *("data", "fixtures", "testdata", "__snapshots__", "locale", "locales", "i18n", "dist", "build"),
        *("harness", ".harness"),
    )
)
"""Folders whose files programs serve, fill in, compare or read."""
_KNOWN = frozenset(
    (
        *("readme", "license", "licence", "copying", "copyright", "notice", "authors", "contributors"),
        *("contributing", "changelog", "changes", "history", "news", "code_of_conduct", "security"),
        *("support", "governance", "maintainers", "codeowners", "upgrading", "roadmap", "credits"),
        *("thanks", "acknowledgements", "releasing", "hacking", "install", "patents"),
    )
)
"""Names that documents have everywhere."""
_FOR_TOOLS = (
    *(".gitignore", ".editorconfig", ".mailmap", ".git-blame-ignore-revs", "citation.cff"),
    *(".gitlab-ci.yml", ".travis.yml", "appveyor.yml", ".appveyor.yml", "azure-pipelines.y*ml"),
    *("bitbucket-pipelines.yml", ".readthedocs.y*ml", "codecov.y*ml", ".codecov.y*ml"),
)
"""Files in the root that git, an editor or continuous integration reads, and nothing else."""
_OF_FORGES = (".github", ".gitlab", ".circleci")
_NEVER = ("requirements*", "constraints*", "test*.txt", "cmakelists.txt")
"""Texts that programs read wherever they lie: lists of packages, and what pytest takes for a test."""
_LONGEST = 1_000_000


def is_known(path: str) -> bool:
    """Is it a document that every project has under this name, such as README.md or LICENSE?"""
    stem, suffix = _split(_name(path))
    return stem in _KNOWN and suffix in ("", *DOCUMENTS, ".txt")


def why_not(path: str) -> str:
    """What speaks against a file being read by people only, or nothing."""
    *folders, name = folded(path) or ("",)
    served = next((folder for folder in folders if folder in _SERVED), "")
    if served:
        return f"it lies in {served}/, whose files programs read"
    if any(fnmatchcase(name, pattern) for pattern in _NEVER):
        return "programs read files of this name"
    if is_known(path) or _is_for_tools(folders, name) or _is_document(folders, name):
        return ""
    return "it is not documentation"


def is_text_only(path: str) -> bool:
    """Is it nothing that could be run, in a repository where nothing else can be run either?"""
    folders, name = folded(path)[:-1], _name(path)
    if path in ("harness/environment.json", "harness/config.toml", "harness/.gitignore", "mkdocs.yml"):
        return True
    still = (*DOCUMENTS, *_PICTURES, *_TABLES, ".txt")
    if any(fnmatchcase(name, pattern) for pattern in _NEVER):
        return False
    return is_known(path) or _is_for_tools(list(folders), name) or _split(name)[1] in still


def differs_in_comments(path: str, old: str, new: str) -> bool:
    """Are two versions of a Python file the same program, docstrings included?"""
    if not path.endswith(".py") or max(len(old), len(new)) > _LONGEST:
        return False
    if old.splitlines()[:2] != new.splitlines()[:2]:
        return False  # the first lines may name an interpreter or an encoding
    try:
        return ast.dump(ast.parse(old)) == ast.dump(ast.parse(new))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _is_for_tools(folders: list[str], name: str) -> bool:
    if not folders:
        return any(fnmatchcase(name, pattern) for pattern in _FOR_TOOLS)
    return folders[0] in _OF_FORGES and _split(name)[1] in (".yml", ".yaml", ".md")


def _is_document(folders: list[str], name: str) -> bool:
    suffix = _split(name)[1]
    if any(folder in _FOLDERS for folder in folders):
        return suffix in (*DOCUMENTS, *_PICTURES, ".txt")
    return not folders and suffix in DOCUMENTS


def _name(path: str) -> str:
    return (folded(path) or ("",))[-1]


def _split(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return (stem, f".{suffix}") if dot and stem else (name, "")
