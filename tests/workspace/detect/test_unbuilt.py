"""Builds that a program turns out to need."""

import json
from pathlib import Path

import pytest

from tests.workspace.detect.trees import found


def needed(root: Path, said: str, **scripts: str) -> str:
    """What a program with these scripts needs after what it said."""
    data = {"dependencies": {"express": "5"}, "scripts": scripts}
    seen = found(root, {"package.json": json.dumps(data), "index.js": "app.listen(3000)"})
    return seen.build(seen.stacks[0], said)


@pytest.mark.parametrize(
    "said",
    [
        "Error: Cannot find module './dist/server/entry.mjs'",
        "Error: Could not find a production build in the '.next' directory. Try building your app",
        "Error: ENOENT: no such file or directory, open '/home/me/build/NAME/dist/index.html'",
        "Error: Cannot find 'frontend-dist/index.html', did you install correctly?",
    ],
)
def test_what_lies_where_builds_put_things_is_made(tmp_path: Path, said: str) -> None:
    """However the program says that it is not there."""
    assert needed(tmp_path, said.replace("NAME", tmp_path.name), build="it") == "npm run build"


@pytest.mark.parametrize(
    "said",
    [
        "Error: Cannot find module './routes/users'",
        "Error: Cannot find module '/home/me/x/node_modules/it/dist/i.js'",
        "Error: ENOENT: no such file or directory, open '/home/me/build/NAME/data/users.json'",
    ],
)
def test_what_no_build_makes_needs_none(tmp_path: Path, said: str) -> None:
    """Sources, packages and data are not made, wherever the project lies."""
    assert not needed(tmp_path, said.replace("NAME", tmp_path.name), build="it")


def test_the_pages_of_a_server_are_made_by_their_own_script(tmp_path: Path) -> None:
    """Where that is the only one, or they are what is not there."""
    said = "Error: ENOENT: no such file or directory, stat 'client/dist/index.html'"
    assert needed(tmp_path / "a", said, **{"build:frontend": "vite build"}) == "npm run build:frontend"
    scripts = {"build": "tsc", "build:client": "vite build"}
    assert needed(tmp_path / "b", said, **scripts) == "npm run build:client"
    assert needed(tmp_path / "c", said.replace("client/", ""), **scripts) == "npm run build"
    assert not needed(tmp_path / "d", said)
