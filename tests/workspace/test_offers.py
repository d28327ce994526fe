"""What a change adds that a client can ask for."""

from pathlib import Path

import pytest

from harness_executor.kernel.offering import ANY, RUN, Offer
from harness_executor.workspace.export import open_desk
from harness_executor.workspace.offers import offered_routes, offered_words
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git

FLASK = """
from flask import Flask

app = Flask(__name__)


@app.get("/items")
def items():
    return []
"""
EXPRESS = """
const express = require('express')
const app = express()
app.get('/items', (req, res) => res.json([]))
app.listen(process.env.PORT)
"""
STDLIB = """
from http.server import BaseHTTPRequestHandler


class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/items":
            return self.answer(200)

    def do_POST(self):
        if self.path == "/items":
            return self.answer(201)
"""
NESTED = """
from fastapi import APIRouter, FastAPI

router = APIRouter()
app = FastAPI()


@router.get("/items")
def items():
    return []


app.include_router(router, prefix="/api")
"""


def routes(tmp_path: Path, name: str, old: str, new: str, *others: str) -> tuple[Offer, ...]:
    """The routes that a change of one file offers."""
    for folder, text in (("base", old), ("change", new)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
        (tmp_path / folder / "package.json").write_text('{"name": "x", "dependencies": {"express": "5"}}')
        (tmp_path / folder / "requirements.txt").write_text("flask\nfastapi\n")
    return offered_routes(tmp_path / "base", tmp_path / "change", others or (name,))


@pytest.mark.parametrize(
    ("name", "old", "new", "offers"),
    [
        (
            "app.py",
            FLASK,
            FLASK + '\n\n@app.delete("/items/<int:number>")\ndef remove(number):\n    return ""\n',
            (Offer("DELETE", "/items/<int:number>", "app.py"),),
        ),
        (
            "server.js",
            EXPRESS,
            EXPRESS + "app.post('/items', (req, res) => res.json({}))\n",
            (Offer("POST", "/items", "server.js"),),
        ),
        (
            "app.py",
            STDLIB,
            STDLIB + '        if self.path == "/items/clear":\n            return self.answer(204)\n',
            (Offer(ANY, "/items/clear", "app.py"),),
        ),
        (
            "app.py",
            NESTED,
            NESTED.replace(
                "\n\napp.include", '\n\n@router.get("/count")\ndef count():\n    return 0\n\n\napp.include'
            ),
            (Offer("GET", "/count", "app.py"),),
        ),
        ("app.py", FLASK, FLASK.replace("return []", "return [1]"), ()),
        ("app.py", FLASK, "import os, (\n", ()),
    ],
    ids=["flask", "express", "standard library", "below a prefix", "nothing new", "damaged"],
)
def test_new_routes_are_found(
    tmp_path: Path, name: str, old: str, new: str, offers: tuple[Offer, ...]
) -> None:
    """Each once, as the code writes it, with its method where that is known."""
    assert routes(tmp_path, name, old, new) == offers


def test_only_code_that_changed_offers_anything(tmp_path: Path) -> None:
    """Not what was left lying about, and not a test."""
    assert routes(tmp_path, "app.py", FLASK, FLASK.replace("/items", "/all"), "README.md") == ()
    (tmp_path / "more").mkdir()
    assert routes(tmp_path / "more", "test_app.py", FLASK, FLASK.replace("/items", "/all")) == ()


def test_words_of_command_lines_are_found(tmp_path: Path) -> None:
    """Options and subcommands of the usual libraries, in added lines of code that is no test."""
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    (root / "cli.py").write_text('parser.add_argument("--old")\n')
    commit_all(root, "Work")
    lines = [
        *('parser.add_argument("--old")', 'parser.add_argument("-c", "--count", type=int)'),
        *('commands.add_parser("list")', '@click.option("--loud/--quiet")', '@cli.command("send-all")'),
    ]
    (root / "cli.py").write_text("\n".join(lines) + "\n")
    (root / "cli.js").write_text("program.command('serve <dir>').option('-p, --port <n>')\n")
    (root / "tests" / "test_cli.py").write_text('parser.add_argument("--only-here")\n')
    (root / "notes.md").write_text('`parser.add_argument("--written")`\n')
    commit_all(root, "Work")
    old, new = (git(root, "rev-parse", f"{ref}^{{tree}}").strip() for ref in ("HEAD~1", "HEAD"))
    desk = open_desk(open_repository(root), tmp_path / "desk")
    words = {(offer.method, offer.path, offer.file) for offer in offered_words(desk, old, new)}
    assert words == {
        *((RUN, "--port", "cli.js"), (RUN, "serve", "cli.js"), (RUN, "--count", "cli.py")),
        *((RUN, "list", "cli.py"), (RUN, "--loud", "cli.py"), (RUN, "send-all", "cli.py")),
    }
