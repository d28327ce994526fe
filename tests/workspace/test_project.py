"""What a project says about itself, in the shapes that are in use."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import UsageError
from harness_executor.kernel.report import Origin, Side
from harness_executor.workspace.detect.audit import audit
from harness_executor.workspace.project import PLACES, Project, Readiness, Start, as_project, read_project
from tests.odd import oddities

V2 = {
    "version": "2.0",
    "project": {"name": "shop", "type": "web-api", "language": "python"},
    "runtime": {
        "build_command": "make build",
        "test_command": "make test",
        "lint_command": "make lint",
        "typecheck_command": "make types",
    },
    "startup": {
        "command": "python",
        "args": ["-m", "shop", "--port", "{port}"],
        "working_dir": "server",
        "env": {"MODE": "test", "WORKERS": 2},
        "readiness": {
            "type": "http",
            "config": {"endpoint": "/health", "port": 8000, "expected_status": 204, "timeout_seconds": 12},
        },
    },
    "env_vars": {
        "required": {
            "TOKEN": {"test_value_ok": True, "test_value": "t"},
            "REAL_KEY": {"test_value_ok": False, "test_value": "k"},
            "MODE": {"test_value_ok": True, "test_value": "overridden"},
        }
    },
    "test_environment": {"env_vars": {"DATABASE_URL": "sqlite://"}},
}
V1 = {"project_name": "shop", "runtime": {"dev_command": "npm start", "test_command": "npm test"}}


def tree_with(tmp_path: Path, data: Any, place: str = "harness/environment.json") -> Path:
    """A tree whose project says this."""
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return tmp_path


def startup(**fields: Any) -> dict[str, Any]:
    """A project that says how it is started."""
    return {"startup": {"command": "run", **fields}}


def readiness(tmp_path: Path, data: Any) -> Readiness:
    """The readiness a project asks for."""
    found = read_project(tree_with(tmp_path, startup(readiness=data))).start
    assert found is not None
    return found.readiness


def test_reads_the_second_version(tmp_path: Path) -> None:
    """Commands, folder, variables and readiness are read from a version 2 file."""
    project = read_project(tree_with(tmp_path, V2))
    assert project.start == Start(
        "python -m shop --port {port}",
        "server",
        {"TOKEN": "t", "MODE": "test", "DATABASE_URL": "sqlite://", "WORKERS": "2"},
        Readiness("http", "/health", 204, "", 8000, 12.0),
    )
    assert project.checks == {
        "build": "make build",
        "lint": "make lint",
        "typecheck": "make types",
        "test": "make test",
    }
    assert project.notes == ("commands come from harness/environment.json",)


def test_reads_the_first_version(tmp_path: Path) -> None:
    """A version 1 file gives its dev command and waits for the port."""
    project = read_project(tree_with(tmp_path, V1))
    assert project.start == Start("npm start")
    assert project.start.readiness == Readiness("", "", None, "", None, 30.0)
    assert project.checks == {"test": "npm test"}


@pytest.mark.parametrize("place", PLACES)
def test_reads_every_place_in_use(tmp_path: Path, place: str) -> None:
    """The file is found wherever earlier tools have put it."""
    project = read_project(tree_with(tmp_path, V1, place))
    assert project.start == Start("npm start")
    assert project.notes == (f"commands come from {place}",)


def test_the_first_place_wins(tmp_path: Path) -> None:
    """Of two files the one in the hidden folder counts."""
    tree_with(tmp_path, V1)
    tree_with(tmp_path, V2, ".harness/environment.json")
    assert read_project(tmp_path).notes == ("commands come from .harness/environment.json",)


def test_a_project_may_say_nothing(tmp_path: Path) -> None:
    """Without a file there is no command, and the note says so."""
    assert read_project(tmp_path) == Project(None, {}, ("there is no harness/environment.json",))


def test_a_project_without_a_server_has_checks_only(tmp_path: Path) -> None:
    """A file without a start command is read for its checks."""
    project = read_project(tree_with(tmp_path, {"runtime": {"test_command": "make test"}}))
    assert project.start is None
    assert project.checks == {"test": "make test"}


def test_a_start_command_of_the_user_wins(tmp_path: Path) -> None:
    """The user's command is used, in the project's folder and with its variables."""
    project = read_project(tree_with(tmp_path, V2), start="./mine --port {port}")
    assert project.start is not None
    assert project.start.command == "./mine --port {port}"
    assert project.start.working_dir == "server"
    assert project.start.readiness.endpoint == "/health"
    assert read_project(tmp_path / "nowhere", start="./mine").start == Start("./mine", origin=Origin.OPTION)


def test_a_command_may_be_a_list(tmp_path: Path) -> None:
    """Words of a command are joined."""
    assert read_project(tree_with(tmp_path, startup(command=["a", "b"]))).start == Start("a b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "environment.json: line 1 column 2"),
        ('{"a": 1, "a": 2}', "environment.json: key 'a' appears twice"),
        ("[]", "environment.json is not a JSON object"),
        ("", "environment.json: line 1 column 1"),
        ('{"a": NaN}', "environment.json: NaN is not JSON"),
    ],
)
def test_bad_json_is_named(tmp_path: Path, text: str, said: str) -> None:
    """A file that cannot be read says which one it is and where it is wrong."""
    with pytest.raises(UsageError) as caught:
        read_project(tree_with(tmp_path, text))
    assert caught.value.message.startswith(said)
    assert caught.value.hint == "correct harness/environment.json"


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    """A file in another encoding is refused by its name."""
    tree_with(tmp_path, "{}")
    (tmp_path / "harness" / "environment.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(UsageError, match=r"environment\.json: 'utf-8' codec"):
        read_project(tmp_path)


@pytest.mark.parametrize(
    "data", [{"startup": []}, {"startup": "run"}, {"runtime": 3, "env_vars": {"required": []}}]
)
def test_a_section_of_another_shape_is_taken_as_absent(tmp_path: Path, data: Any) -> None:
    """A section that is no object says nothing."""
    assert read_project(tree_with(tmp_path, data)).start is None


def test_readiness_is_read_with_and_without_its_config(tmp_path: Path) -> None:
    """Fields may stand in `config` or beside the type."""
    flat = readiness(tmp_path, {"type": "http", "endpoint": "/up", "timeout_seconds": 2.5})
    assert flat == Readiness("http", "/up", None, "", None, 2.5)
    log = readiness(tmp_path, {"type": "log_pattern", "config": {"pattern": "ready on \\d+"}})
    assert log == Readiness("log", "", None, "ready on \\d+", None, 30.0)
    assert readiness(tmp_path, {"type": "tcp", "config": {"port": "9000"}}).port == 9000
    assert readiness(tmp_path, {"config": {"port": "{port}"}}).port is None


def test_an_endpoint_begins_at_the_root(tmp_path: Path) -> None:
    """An endpoint without its slash is the same endpoint."""
    assert readiness(tmp_path, {"type": "http", "config": {"endpoint": "health"}}).endpoint == "/health"


def test_an_unknown_readiness_is_named(tmp_path: Path) -> None:
    """A readiness that cannot be waited for is refused, with those that can."""
    with pytest.raises(UsageError, match=r"startup.readiness.type is 'grpc'") as caught:
        readiness(tmp_path, {"type": "grpc"})
    assert "log_pattern" in caught.value.hint


@pytest.mark.parametrize(
    "config",
    [
        {"timeout_seconds": "soon"},
        {"expected_status": [200, 204]},
        {"expected_status": "ok"},
        {"pattern": "("},
    ],
)
def test_a_readiness_that_makes_no_sense_is_named(tmp_path: Path, config: Any) -> None:
    """A number or a pattern that is none is refused where it stands."""
    with pytest.raises(UsageError, match=r"environment\.json: startup.readiness"):
        readiness(tmp_path, {"type": "http", "config": config})


@pytest.mark.parametrize("folder", ["/srv/app", "..", "server/../../other"])
def test_a_folder_outside_the_project_is_refused(tmp_path: Path, folder: str) -> None:
    """A server that would run other code than the exported one is not started."""
    with pytest.raises(UsageError, match="leads out of the project"):
        read_project(tree_with(tmp_path, startup(working_dir=folder)))


def test_the_old_code_may_be_started_otherwise(tmp_path: Path) -> None:
    """A start command of the old side is read; the user's own wins."""
    tree = tree_with(tmp_path, startup(base_command="run --old"))
    assert read_project(tree).needed_start().base_command == "run --old"
    assert read_project(tree, base_start="mine").needed_start().base_command == "mine"
    assert read_project(tree, start="run --new").needed_start().base_command == ""


@pytest.mark.parametrize(
    ("given", "base", "change"),
    [
        ({}, ("old", Origin.PROJECT), ("run", Origin.PROJECT)),
        ({"start": "new"}, ("new", Origin.OPTION), ("new", Origin.OPTION)),
        ({"base_start": "mine"}, ("mine", Origin.OPTION), ("run", Origin.PROJECT)),
        ({"start": "run", "base_start": "old"}, ("old", Origin.PROJECT), ("run", Origin.PROJECT)),
        ({"start": "new", "base_start": "run"}, ("run", Origin.PROJECT), ("new", Origin.OPTION)),
    ],
)
def test_it_is_known_who_said_a_command(
    tmp_path: Path, given: dict[str, str], base: object, change: object
) -> None:
    """What an option repeats of the project's own words, the project said."""
    tree = tree_with(tmp_path, startup(command="run", base_command="old"))
    start = read_project(tree, **given).needed_start()
    found = [(one.command, one.origin) for one in (start.on(Side.BASE), start.on(Side.CHANGE))]
    assert found == [base, change]


def test_further_ports_are_read(tmp_path: Path) -> None:
    """Ports have names, and a number or none."""
    found = read_project(tree_with(tmp_path, startup(ports={"admin": 0, "grpc": 50051})))
    assert found.needed_start().ports == {"admin": 0, "grpc": 50051}


@pytest.mark.parametrize("ports", [{"a-b": 1}, {"a": "1"}, {"a": 70_000}, {"a": True}])
def test_a_port_that_is_none_is_named(tmp_path: Path, ports: Any) -> None:
    """Names that cannot stand in a placeholder, and numbers of no port, are refused."""
    with pytest.raises(UsageError, match=r"startup\.ports"):
        read_project(tree_with(tmp_path, startup(ports=ports)))


def test_checks_have_variables_of_their_own(tmp_path: Path) -> None:
    """What is for the checks does not reach the server, and the other way round."""
    data = {
        "startup": {"command": "run", "env": {"A": "server"}},
        "test_environment": {"env_vars": {"B": "both"}, "check_env": {"A": "checks"}},
        "secrets": [{"name": "KEY", "test_value_ok": True, "test_value": "k"}],
    }
    project = read_project(tree_with(tmp_path, data))
    assert project.check_env == {"A": "checks", "B": "both", "KEY": "k"}
    assert project.needed_start().env == {"A": "server", "B": "both", "KEY": "k"}


def test_a_project_with_nothing_to_wait_for_has_no_server(tmp_path: Path) -> None:
    """The readiness `none` says that there is no server, until the user names one."""
    tree = tree_with(tmp_path, startup(readiness={"type": "none"}))
    assert read_project(tree).start is None
    assert read_project(tree, start="run").needed_start().command == "run"


def test_a_start_of_the_user_keeps_what_comes_before_it(tmp_path: Path) -> None:
    """Steps and services stay those of the project."""
    data = {"services": [{"type": "redis"}], "test_environment": {"setup_commands": ["make data"]}}
    start = read_project(tree_with(tmp_path, data), start="run").needed_start()
    assert [chore.command for chore in start.chores] == ["make data"]
    assert [service.type for service in start.services] == ["redis"]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("data", [V2, V1])
def test_what_is_odd_is_read_or_named(tmp_path: Path, data: dict[str, Any]) -> None:
    """Whatever stands in one of its places, an environment.json ends in no trace."""
    for odd in oddities(data):
        if isinstance(odd, dict):
            with suppress(UsageError):
                as_project(odd, tmp_path / "environment.json")


def test_a_score_is_given_to_what_is_odd(tmp_path: Path) -> None:
    """Sections of another shape count as absent."""
    place = tmp_path / "harness" / "environment.json"
    place.parent.mkdir()
    for odd in oddities({"project": {"type": "cli"}, "_meta": {"confirmed": True}, "startup": {"args": []}}):
        place.write_text(json.dumps(odd))
        assert 0 <= audit(tmp_path).score <= 100


def test_arguments_may_be_one_text(tmp_path: Path) -> None:
    """A text stays what it is."""
    data = {"startup": {"command": "serve", "args": "--port 1"}}
    assert as_project(data, tmp_path).needed_start().command == "serve --port 1"


def test_a_command_may_be_a_list_of_words_wherever_one_is_asked_for() -> None:
    """Each word reaches the program as it is, and a shell does not read it."""
    listed = ["run", "my app.py", "--port={port}"]
    text = "run 'my app.py' --port={port}"
    commands = {"install_command": listed, "build_command": listed, "test_command": listed}
    waited = {"type": "process", "config": {"command": listed}}
    started = {"command": listed, "args": ["a b"], "build": True, "readiness": waited}
    filled = {"type": "postgresql", "setup": {"migration_command": listed, "seed_command": listed}}
    found = as_project({"runtime": commands, "startup": started, "services": [filled]}, Path("e.json"))
    start = found.needed_start()
    assert start.command == f"{text} 'a b'"
    assert start.readiness.command == text
    assert dict(found.checks) == {"build": text, "test": text}
    assert {chore.command for chore in start.chores} == {text}


@pytest.mark.parametrize("odd", [3, True, {"a": "b"}, ["a", ["b"]], ["a", None]])
@pytest.mark.parametrize(
    ("where", "data"),
    [
        ("runtime.test_command", lambda odd: {"runtime": {"test_command": odd}}),
        ("runtime.install_command", lambda odd: {"runtime": {"install_command": odd}}),
        ("startup.command", lambda odd: {"startup": {"command": odd}}),
        ("startup.readiness.command", lambda odd: startup(readiness={"type": "process", "command": odd})),
        ("pg.setup.seed_command", lambda odd: {"services": [{"type": "pg", "setup": {"seed_command": odd}}]}),
    ],
)
def test_what_is_no_command_is_refused_by_name(where: str, data: Any, odd: Any) -> None:
    """A check that only looks like one would fail on both sides, and decide nothing."""
    with pytest.raises(UsageError, match=rf"e\.json: {where} is") as refused:
        as_project(data(odd), Path("e.json"))
    assert "list of its words" in refused.value.hint
