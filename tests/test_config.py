"""Settings and the environment: the only place that reads either."""

import os
from pathlib import Path

import pytest

from harness_executor import config
from harness_executor.config import (
    model_environment,
    program,
    read_settings,
    safe_environment,
    state_home,
    take_faults,
    wants_colour,
    work_home,
)
from harness_executor.errors import UsageError
from harness_executor.subagents.jobs import Role

SECRETS = {
    "ANTHROPIC_API_KEY": "sk-canary",
    "ANTHROPIC_AUTH_TOKEN": "token-canary",
    "ANTHROPIC_BASE_URL": "http://canary",
    "OPENAI_API_KEY": "sk-canary",
    "AWS_SECRET_ACCESS_KEY": "canary",
    "GITHUB_TOKEN": "canary",
    "SSH_AUTH_SOCK": "/canary",
    "HARNESS_MODEL": "anthropic:canary",
    "HARNESS_FAULT": "canary#1=kill",
    "PYTHONPATH": "/canary",
    "LD_PRELOAD": "",
    "GIT_DIR": "/canary",
}


@pytest.fixture
def harness(tmp_path: Path) -> Path:
    """The harness folder of a project."""
    (tmp_path / "harness").mkdir()
    return tmp_path / "harness"


def _write(harness: Path, text: str) -> None:
    (harness / "config.toml").write_text(text, encoding="utf-8")


def _tool(folder: Path, name: str = "git") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder / name


def test_a_flag_wins_over_the_environment_over_the_project(
    harness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is the flag's, else the environment's, else the project's, else none."""
    assert read_settings(harness).model("executor") == ""
    _write(harness, '[models]\ndefault = "anthropic:project"\n')
    assert read_settings(harness).model("executor") == "anthropic:project"
    monkeypatch.setenv("HARNESS_MODEL", "anthropic:environment")
    assert read_settings(harness).model("executor") == "anthropic:environment"
    assert read_settings(harness, model="anthropic:flag").model("executor") == "anthropic:flag"


def test_a_flag_serves_every_role(harness: Path) -> None:
    """A model chosen for a run replaces all models of the project."""
    _write(harness, '[models]\nverifier = "anthropic:project"\n')
    assert {read_settings(harness, model="a:b").model(role.value) for role in Role} == {"a:b"}


def test_a_role_has_its_own_model_or_the_default(harness: Path) -> None:
    """A role without a model takes the default."""
    _write(harness, '[models]\ndefault = "anthropic:one"\nverifier = "anthropic:two"\n')
    settings = read_settings(harness)
    assert (settings.model("planner"), settings.model("verifier")) == ("anthropic:one", "anthropic:two")


@pytest.mark.parametrize("role", ["default", *Role])
def test_every_role_can_be_given_a_model(harness: Path, role: str) -> None:
    """The project's file knows each role there is."""
    _write(harness, f'[models]\n{role} = "anthropic:x"\n')
    assert read_settings(harness).model(role) == "anthropic:x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("retries = 3", "unknown key retries"),
        ("[model]\ndefault = 'x'", "unknown key model"),
        ("[models]\nexecuter = 'x'", "models.executer = 'x'"),
        ("[models]\nplanner = 3", "models.planner = 3"),
        ("[models.planner]\nname = 'x'", "models.planner = "),
        ("models = 'anthropic:x'", "models is not a table"),
        ("caps = 3", "caps is not a table"),
        ("caps = [1]", "caps is not a table"),
        ("[caps]\nvalidations = 1", "caps.validations = 1"),
        ("[caps]\nvalidation = -1", "caps.validation = -1"),
        ("[caps]\nvalidation = 1.5", "caps.validation = 1.5"),
        ("[caps]\nvalidation = true", "caps.validation = True"),
        ("[caps]\nvalidation = '1'", "caps.validation = '1'"),
        ("[caps", "config.toml: "),
        ("a = 1\na = 2", "config.toml: "),
    ],
)
def test_a_file_that_says_something_else_is_refused(harness: Path, text: str, words: str) -> None:
    """A key, a role, a cap or a value that is not known is an error of usage that names it."""
    _write(harness, text)
    with pytest.raises(UsageError) as error:
        read_settings(harness)
    assert words in error.value.message
    assert error.value.hint


def test_a_file_that_is_not_text_is_refused(harness: Path) -> None:
    """Bytes in another encoding are an error of usage."""
    (harness / "config.toml").write_bytes(b"# \xff\n")
    with pytest.raises(UsageError, match=r"config\.toml"):
        read_settings(harness)


def test_caps_are_read_as_they_stand(harness: Path) -> None:
    """Every cap is a whole number, and zero is one."""
    _write(harness, "[caps]\nself_fix = 0\nrespawn = 1\nvalidation = 2\nverification = 99\n")
    assert read_settings(harness).caps == {
        "self_fix": 0,
        "respawn": 1,
        "validation": 2,
        "verification": 99,
    }


def test_without_a_file_nothing_is_set(harness: Path) -> None:
    """A project without a file has no models and no caps."""
    assert (read_settings(harness).models, read_settings(harness).caps) == ({}, {})


def test_a_program_of_the_project_sees_no_secret(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Only a path, a home, a language, a time zone and a folder for scratch are handed on."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    made = safe_environment()
    assert set(made) <= {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"}
    assert "canary" not in str(made)
    assert made["HOME"] == str(home)


def test_a_program_of_the_project_gets_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the project are added, and win."""
    assert safe_environment({"PORT": "8000", "PATH": "/x"})["PORT"] == "8000"
    assert safe_environment({"PATH": "/x"})["PATH"] == "/x"
    monkeypatch.delenv("PATH")
    assert safe_environment()["PATH"] == os.defpath


def test_a_subagent_gets_the_key_of_its_model_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches the model is handed on; everything else of the user is not."""
    for name in [
        name for name in os.environ if name.upper().startswith(("SSL_CERT", "HTTPS_PROXY", "NO_PROXY"))
    ]:
        monkeypatch.delenv(name)
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    for name in ("HTTPS_PROXY", "https_proxy", "no_proxy", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, "x")
    assert set(model_environment()) - set(safe_environment()) == {
        *config.KEY_NAMES,
        *("HTTPS_PROXY", "https_proxy", "no_proxy", "SSL_CERT_FILE"),
    }


def test_the_key_is_not_in_the_environment_of_the_tests() -> None:
    """No test has a key to spend."""
    assert not config.has_key(*config.KEY_NAMES)


def test_a_program_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first folder of the path that has it wins."""
    first, second = _tool(tmp_path / "a"), _tool(tmp_path / "b")
    monkeypatch.setenv("PATH", f"{first.parent}:{second.parent}")
    assert program("git", outside=tmp_path / "project") == str(first)
    assert program("absent", outside=tmp_path / "project") is None


@pytest.mark.parametrize(
    "entry", ["{project}", "{project}/bin", "{project}/../project/bin", "{link}", "{alias}"]
)
def test_a_program_inside_the_project_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """However the path leads into the project, the program of the machine is taken."""
    project, real = tmp_path / "project", _tool(tmp_path / "real")
    _tool(project)
    _tool(project / "bin")
    (tmp_path / "link").symlink_to(project / "bin")
    (tmp_path / "alias").mkdir()
    (tmp_path / "alias" / "git").symlink_to(project / "git")
    folder = entry.format(project=project, link=tmp_path / "link", alias=tmp_path / "alias")
    monkeypatch.setenv("PATH", f"{folder}:{real.parent}")
    assert program("git", outside=project) == str(real)


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin"])
def test_a_path_that_depends_on_where_we_are_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """An empty or relative entry of the path is skipped."""
    _tool(tmp_path)
    _tool(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", entry)
    assert program("git", outside=tmp_path / "elsewhere") is None


def test_armed_faults_are_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the faults removes them, so that no child inherits them."""
    monkeypatch.setenv("HARNESS_FAULT", "log.append.written#1=kill")
    monkeypatch.setenv("HARNESS_FAULT_LOG", "/tmp/points")
    assert take_faults() == ("log.append.written#1=kill", "/tmp/points")
    assert "HARNESS_FAULT" not in os.environ
    assert "HARNESS_FAULT_LOG" not in os.environ
    assert take_faults() == ("", "")


def test_state_and_work_have_their_places(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own variable wins over the desktop's, which wins over the home folder."""
    assert state_home() == home / ".local" / "state" / "harness-executor"
    assert work_home() == home / ".cache" / "harness-executor"
    monkeypatch.setenv("XDG_STATE_HOME", "/xdg/state")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg/cache")
    assert state_home() == Path("/xdg/state/harness-executor")
    assert work_home() == Path("/xdg/cache/harness-executor")
    monkeypatch.setenv("HARNESS_STATE_HOME", "/ours/state")
    monkeypatch.setenv("HARNESS_WORK_HOME", "/ours/work")
    assert (state_home(), work_home()) == (Path("/ours/state"), Path("/ours/work"))


def test_plain_text_is_what_a_user_gets_who_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR and a dumb terminal turn colour off; an empty NO_COLOR does not."""
    assert not wants_colour()
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour()
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour()
