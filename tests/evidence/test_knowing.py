"""How a base is started when it says nothing itself."""

import json
from pathlib import Path

import pytest

from harness_executor.errors import UsageError
from harness_executor.evidence.inferring import lost
from harness_executor.evidence.knowing import Knower, Words, know
from harness_executor.evidence.trying import Attempt
from harness_executor.evidence.workbench import Bench
from harness_executor.store.written import Written
from harness_executor.workspace.detect.values import Candidate
from tests.workspace.detect.trees import grow

FLASK = {"requirements.txt": "flask", "app.py": "from flask import Flask\napp = Flask(__name__)\n"}
COMMAND = "python3 -m flask --app app:app run --host 127.0.0.1 --port {port}"


def no_bench() -> Bench:
    """Trying is not expected."""
    raise AssertionError("nothing was to be tried")


def knower(root: Path, given: Path | None = None) -> Knower:
    """Who knows a project whose state lies beside it."""
    return Knower(root, Written(root.parent / "state.json"), no_bench, given)


def places(tmp_path: Path) -> tuple[Path, Path]:
    """A base, and the user's working tree."""
    return grow(tmp_path / "base", FLASK), grow(tmp_path / "work", FLASK)


def put(root: Path, command: str, *, ours: bool) -> None:
    """An environment.json in the working tree."""
    text = json.dumps({"startup": {"command": command, "working_dir": "."}})
    grow(root, {"harness/environment.json": text})
    if ours:
        Written(root.parent / "state.json").remember(text)


def test_the_base_speaks_first(tmp_path: Path) -> None:
    """An environment.json of the base is used, whatever the working tree has."""
    base, work = places(tmp_path)
    grow(base, {"harness/environment.json": '{"startup": {"command": "theirs"}}'})
    put(work, COMMAND, ours=True)
    assert know(base, knower(work)).needed_start().command == "theirs"


def test_what_init_wrote_is_used_for_a_base_that_leads_to_the_same(tmp_path: Path) -> None:
    """And that is said."""
    base, work = places(tmp_path)
    put(work, COMMAND, ours=True)
    project = know(base, knower(work))
    assert project.needed_start().command == COMMAND
    assert "as `harness init` wrote it" in project.notes[0]


@pytest.mark.parametrize(("command", "ours"), [(COMMAND, False), ("python3 liar.py", True)])
def test_a_change_cannot_say_how_it_is_judged(tmp_path: Path, command: str, ours: bool) -> None:
    """Neither by a file that init did not write, nor by a command that only the change leads to."""
    base, work = places(tmp_path)
    put(work, command, ours=ours)
    with pytest.raises(AssertionError, match="to be tried"):
        know(base, knower(work))


def test_the_user_can_name_a_file_or_a_command(tmp_path: Path) -> None:
    """What the user says wins."""
    base, work = places(tmp_path)
    put(work, "mine", ours=False)
    named = knower(work, work / "harness" / "environment.json")
    assert know(base, named).needed_start().command == "mine"
    assert know(base, knower(work), Words("by hand")).needed_start().command == "by hand"


def test_a_project_without_a_server_has_none(tmp_path: Path) -> None:
    """A library is known as one from its files, and a server is still asked for by name."""
    base = grow(tmp_path / "base", {"pyproject.toml": "[project]\nname='x'\n", "x/__init__.py": ""})
    project = know(base, knower(tmp_path))
    assert project.start is None
    assert "nothing in its files starts a server" in project.notes[-1]
    with pytest.raises(UsageError, match="nothing says how the server is started"):
        project.needed_start()


def test_where_no_server_is_wanted_none_is_tried(tmp_path: Path) -> None:
    """A library whose files look like a server is known without starting anything, and that is said."""
    base, work = places(tmp_path)
    project = know(base, knower(work), Words(server=False))
    assert project.start is None
    assert "no scenario needs a server" in project.notes[-1]


def test_what_a_mere_guess_lacks_is_not_what_is_missing() -> None:
    """Only what the likeliest way did not find counts, with its steps or without."""
    likely, guessed = Candidate("python3 -m quart run", 80), Candidate("python3 -m uvicorn x:app", 60)
    failed = Attempt(likely, said="Connection refused")
    assert lost((failed, Attempt(guessed, missing="uvicorn"))) == ""
    assert lost((failed, Attempt(likely, missing="quart"), Attempt(guessed, missing="uvicorn"))) == "quart"
