"""A coding agent that chooses how its own change is judged, and the person who has to allow it."""

import json
from pathlib import Path

import pytest

from tests.claims.ledger import add_fact
from tests.cli.terminal import at_terminal
from tests.cli.test_task_state import SCENARIOS, edit, state
from tests.conftest import Cli, Ran, commit_all, git

START = "python3 app.py --port {port}"
OLD = "sed 's#/todos/stats#/none#' app.py > old.py && python3 old.py --port {port}"
"""Base with its route taken away, so that a comment seems to bring it."""


@pytest.fixture
def opened(sample: Path) -> Path:
    """The sample with the route on base already, and a task whose change is a comment."""
    edit(sample)
    commit_all(sample, "stats")
    state(sample, "init", "stats", "--description", "add GET /todos/stats")
    app = sample / "app.py"
    app.write_text(app.read_text() + "\n# stats\n")
    return sample


def verify(cli: Cli, repo: Path, *words: str) -> Ran:
    """`harness verify` of the task."""
    scenarios = repo.parent / "scenarios.json"
    scenarios.write_text(json.dumps(SCENARIOS))
    return cli("verify", "--scenarios", scenarios, "--repo", repo, *words)


def complete(repo: Path) -> Ran:
    """What the agent tries at the end."""
    return state(repo, "complete", "--summary", "added stats")


def test_a_base_started_otherwise_waits_for_a_person(opened: Path, cli: Cli) -> None:
    """The agent is told who may allow it, cannot do so itself, and may complete once somebody did."""
    ran = verify(cli, opened, "--start-base", OLD)
    assert ran.code == 0, ran.out + ran.err
    assert "before the task is complete, a person has to allow:" in ran.out
    waits = complete(opened)
    assert waits.code == 3, waits.out
    assert f"base started with `{OLD}`, as an option says, and not as the change is" in waits.err
    assert "harness approve stats-" in waits.err
    assert cli("approve", "--repo", opened, "--yes").code == 3
    assert cli("approve", "--repo", opened).code == 3
    assert complete(opened).code == 3
    assert at_terminal("n\n", opened, "approve") == 3
    assert complete(opened).code == 3
    assert at_terminal("y\n", opened, "approve") == 0
    done = complete(opened)
    assert done.code == 0, done.err
    assert json.loads(state(opened, "list", "--json").out)[0]["status"] == "completed"


def test_an_environment_of_its_own_waits_too(opened: Path, cli: Cli) -> None:
    """A file that says it for base is the agent's word as much as an option."""
    own = opened.parent / "own.json"
    own.write_text(json.dumps({"startup": {"command": START, "base_command": OLD}}))
    ran = verify(cli, opened, "--environment", str(own))
    assert ran.code == 0, ran.out + ran.err
    waits = complete(opened)
    assert waits.code == 3, waits.out
    assert "as the file of --environment says" in waits.err


def test_a_verdict_that_nobody_allowed_is_not_believed(opened: Path, cli: Cli) -> None:
    """A line in the log that says accepted does not stand in for the person."""
    assert verify(cli, opened, "--start-base", OLD).code == 0
    task_id = json.loads(state(opened, "list", "--json").out)[0]["id"]
    log = opened / "harness" / "tasks" / task_id / "events.jsonl"
    add_fact(log, "GateJudged", {"accepted": True, "reasons": [], "unverified": False})
    shown = state(opened, "show", "--task-id", task_id)
    assert shown.code == 1, shown.out
    assert "its evidence does not bear that out" in shown.err


@pytest.fixture
def tested(sample: Path) -> Path:
    """The sample with a check of its own, and a task whose change removes one test and adds the route."""
    environment = {
        "startup": {"command": START},
        "runtime": {"test_command": "python3 -m unittest -v test_list"},
    }
    case = "import unittest\n\n\nclass List(unittest.TestCase):\n"
    tests = [f"    def test_{name}(self):\n        pass\n" for name in ("one", "two")]
    (sample / "harness").mkdir(exist_ok=True)
    (sample / "harness/environment.json").write_text(json.dumps(environment))
    (sample / "test_list.py").write_text(case + "\n".join(tests))
    commit_all(sample, "tests")
    state(sample, "init", "stats", "--description", "add GET /todos/stats")
    edit(sample)
    (sample / "test_list.py").write_text(case + tests[0])
    return sample


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--checks", "none"), "the check test of base was not run"),
        (("--allow-tests", "*"), "(allowed by '*')"),
    ],
)
def test_what_is_left_out_of_the_checks_waits(
    tested: Path, cli: Cli, words: tuple[str, str], said: str
) -> None:
    """Checks that were not run, and tests that the agent itself allowed to go, are named to a person."""
    assert verify(cli, tested).code == 4
    assert verify(cli, tested, *words).code == 0
    waits = complete(tested)
    assert waits.code == 3, waits.out
    assert said in waits.err
    git(tested, "checkout", "-q", "test_list.py")
    assert verify(cli, tested).code == 0
    assert complete(tested).code == 0


def test_a_file_that_leaves_a_check_of_base_out_waits(tested: Path, cli: Cli) -> None:
    """What base declares counts, whatever --environment says instead."""
    own = tested.parent / "own.json"
    own.write_text(json.dumps({"startup": {"command": START}, "runtime": {"test_command": "true"}}))
    ran = verify(cli, tested, "--environment", str(own))
    assert ran.code == 0, ran.out + ran.err
    waits = complete(tested)
    assert waits.code == 3, waits.out
    assert "the check test of base was not run" in waits.err


def test_an_honest_first_use_waits_for_nobody(sample: Path, cli: Cli) -> None:
    """Where nothing says how it starts, one command for both sides is nobody's trick."""
    if (sample / "harness/environment.json").exists():
        (sample / "harness/environment.json").unlink()
        commit_all(sample, "say nothing")
    state(sample, "init", "stats", "--description", "add GET /todos/stats")
    edit(sample)
    assert verify(cli, sample, "--start", START).code == 0
    done = complete(sample)
    assert done.code == 0, done.err


def test_a_base_that_falls_back_on_its_own_command_waits_for_nobody(sample: Path, cli: Cli) -> None:
    """A new option that base cannot take is given for the change alone."""
    (sample / "harness").mkdir(exist_ok=True)
    (sample / "harness/environment.json").write_text(json.dumps({"startup": {"command": START}}))
    commit_all(sample, "say how")
    state(sample, "init", "stats", "--description", "add GET /todos/stats")
    edit(sample)
    (sample / "serve.py").write_text("import runpy\nrunpy.run_path('app.py', run_name='__main__')\n")
    ran = verify(cli, sample, "--start", "python3 serve.py --port {port}")
    assert ran.code == 0, ran.out + ran.err
    assert f"base started with `{START}`, as the project says" in ran.out
    done = complete(sample)
    assert done.code == 0, done.err
