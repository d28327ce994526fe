"""A command and a library without a server, and scenarios that use them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.claims.asking import Data
from tests.claims.project import Project

CORE = """
import re


def slug(text):
    found = re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    if not found:
        raise ValueError("nothing is left of the text")
    return found
"""
MAIN = """
import argparse
import sys

from words.core import slug

parser = argparse.ArgumentParser("words")
commands = parser.add_subparsers(dest="command", required=True)
make = commands.add_parser("slug")
make.add_argument("text")


def main():
    options = parser.parse_args()
    return COMMANDS[options.command](options) or 0


COMMANDS = {"slug": lambda options: print(slug(options.text))}
"""
START = """
from words.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
"""
COUNT = """
import collections
import json

counting = commands.add_parser("count")
counting.add_argument("file", nargs="?")
counting.add_argument("--out")


def count(options):
    try:
        text = open(options.file).read() if options.file else sys.stdin.read()
    except OSError as error:
        print(f"words: {options.file}: {error.strerror}", file=sys.stderr)
        return 2
    found = json.dumps(dict(collections.Counter(text.split())))
    if options.out:
        open(options.out, "w").write(found)
    else:
        print(found)


COMMANDS["count"] = count
"""
TITLE = """

def title(text):
    return " ".join(word[:1].upper() + word[1:] for word in text.split())
"""
ECHO = """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--name", default="x")
options, rest = parser.parse_args(), []
print(options.name, *rest)
"""

FILES = {
    "words/__init__.py": "",
    "words/core.py": CORE,
    "words/cli.py": MAIN,
    "words/__main__.py": START,
    "README.md": "# words\n",
}


def make_tool(place: Path, files: Mapping[str, str] | None = None) -> Project:
    """A repository with one commit of the tool; `files` takes the place of all its files."""
    project = Project(place, "words")
    for name, text in (FILES if files is None else files).items():
        project.write(name, text)
    project.git("init", "--quiet", "--initial-branch=main")
    project.commit("A tool for words")
    return project


def run(*argv: str, expect: Data | None = None, **more: Any) -> Data:
    """A step that runs a command of the tool."""
    made: Data = {"run": {"argv": ["python", "-m", "words", *argv], **more}}
    return made if expect is None else {**made, "expect": expect}


def words(*argv: str, expect: Data | None = None, **more: Any) -> Data:
    """A step that runs any command."""
    made: Data = {"run": {"argv": list(argv), **more}}
    return made if expect is None else {**made, "expect": expect}


def probe(code: str, expect: Data, *args: Any, language: str = "python") -> Data:
    """A step that uses the library."""
    return {"probe": {"language": language, "code": code, "args": list(args)}, "expect": expect}


def equals(value: Any, path: str = "$") -> Data:
    """The value of a probe, or of printed JSON."""
    return {"json": [{"path": path, "value": value}]}


def scenario(name: str, *steps: Data, kind: str = "new") -> Data:
    """A scenario, with a word drawn at run time as {{ name }}."""
    let = {"name": "{{ random.word }}"}
    return {"name": name, "why": f"the request says: {name}", "kind": kind, "steps": list(steps), "let": let}


COUNTS = scenario(
    "words are counted",
    run("count", stdin="{{ name }} b {{ name }}", expect=equals(2, "$['{{ name }}']")),
)
SLUGS = scenario(
    "slugs are made",
    run("slug", "A {{ name }}!", expect={"stdout_matches": ["^a-{{ name }}\n$"]}),
    kind="unchanged",
)
TITLES = scenario(
    "titles are made",
    probe("from words.core import title\ntitle(args[0])", equals("My Word-{{ name }}"), "my word-{{ name }}"),
)
KEEPS = scenario(
    "slug stays as it is",
    probe("from words.core import slug\nslug(args[0])", equals("a-{{ name }}"), "A {{ name }}"),
    kind="unchanged",
)
NOTHING = scenario(
    "nothing is an error",
    probe(
        "from words.core import slug\nslug('!')", {"exit_code": "nonzero", "stderr_contains": ["ValueError"]}
    ),
    kind="negative",
)


def manifest(**more: Any) -> str:
    """A package.json."""
    return json.dumps({"name": "thing", "version": "1.0.0", **more})
