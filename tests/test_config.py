"""Settings and the environment: the only place that reads either."""

import os
import re
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

import pytest

from harness_executor import config
from harness_executor.config import (
    DEFAULT_BUDGET,
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
from harness_executor.kernel.retries import Policy
from harness_executor.subagents.jobs import Role
from harness_executor.tables import Service, caps_of

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


def _write_user(text: str) -> Path:
    path = config.config_home() / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


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


def test_a_project_lowers_caps_and_never_raises_them(harness: Path) -> None:
    """The user's caps are the user's; the project's count where they are lower."""
    _write_user("[caps]\nrespawn = 9\nverification = 1\n")
    _write(harness, "[caps]\nself_fix = 0\nrespawn = 5\nvalidation = 99\nverification = 99\n")
    assert read_settings(harness).caps == {
        "self_fix": 0,
        "respawn": 5,
        "validation": Policy().validation,
        "verification": 1,
        "attempts": Policy().attempts,
    }


def test_nothing_is_asked_for_without_a_file(harness: Path) -> None:
    """Without any file there are no models, and the caps are the usual ones."""
    settings = read_settings(harness)
    assert (settings.models, settings.services, settings.prices, settings.night) == ({}, {}, {}, "")
    assert settings.caps == asdict(Policy())
    assert settings.budget == DEFAULT_BUDGET


def test_a_project_narrows_the_budget_and_a_flag_decides(harness: Path) -> None:
    """The user's file raises, the project's lowers, and what stands on the command line wins."""
    _write_user("[budget.task]\nusd = 50\nturns = 900\n[budget.day]\nusd = 80\n[budget.call]\ntokens = 7\n")
    _write(harness, "[budget.task]\nusd = 2.5\nturns = 5000\n[budget.day]\nusd = 1000\nminutes = 3\n")
    budget = read_settings(harness).budget
    assert (budget.task.micros, budget.task.turns) == (2_500_000, 900)
    assert (budget.day.micros, budget.day.seconds) == (80_000_000, 180)
    assert budget.call.tokens == 7
    flagged = read_settings(harness, caps=caps_of(usd=20)).budget.task
    assert (flagged.micros, flagged.turns) == (20_000_000, 900)


def test_services_and_prices_are_the_users(harness: Path) -> None:
    """A server by its address, and what its models cost."""
    _write_user(
        '[providers.box]\nbase_url = "http://127.0.0.1:8000/v1"\nkey_env = "BOX_KEY"\nwindow = 4096\n'
        '[prices."box:tiny"]\ninput = 0.5\noutput = 1\n'
    )
    settings = read_settings(harness)
    assert settings.services == {"box": Service("chat", "http://127.0.0.1:8000/v1", "BOX_KEY", 4096)}
    assert settings.prices == {"box:tiny": {"input": 0.5, "output": 1}}


@pytest.mark.parametrize("table", ["providers", "prices", "keys", "secrets"])
def test_a_repository_names_no_service_price_or_key(harness: Path, table: str) -> None:
    """What decides where a key goes is never read from a project, even if it was granted something."""
    before = read_settings(harness)
    _write(harness, f"[{table}]\nx = 1\n")
    after = read_settings(harness, granted=before.wish.digest)
    assert replace(after, notes=()) == before
    assert after.notes == (
        f"{table} in the project's config.toml is ignored: only your own file can have it",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[budget]\nweek = {usd = 1}", "budget.week"),
        ("[budget]\ntask = 5", "budget.task = 5"),
        ("[budget.task]\neuro = 5", "budget.task.euro"),
        ("[budget.task]\nusd = -1", "budget.task.usd = -1"),
        ("[budget.task]\nusd = true", "budget.task.usd = True"),
        ("[budget.task]\nusd = nan", "budget.task.usd = nan"),
        ("[providers]\nbox = 1", "providers.box = 1"),
        ("[providers.box]\nkey_env = 'X'", "providers.box"),
        ("[providers.box]\nbase_url = 'http://x'\napi = 'soap'", "providers.box"),
        ("[providers.box]\nbase_url = 'http://x'\nkey = 'sk'", "providers.box"),
        ("[providers.box]\nbase_url = 'http://x'\nwindow = '8k'", "providers.box"),
        ("[providers.box]\nbase_url = 7", "providers.box"),
        ("[providers.box]\nbase_url = 'http://x'\nstream = 1", "providers.box"),
        ("[prices.m]\ninput = 1", "prices.m"),
        ("[prices.m]\ninput = 1\noutput = 'x'", "prices.m"),
        ("[prices]\nm = 1", "prices.m = 1"),
    ],
)
def test_a_mistake_in_the_users_file_is_named(harness: Path, text: str, said: str) -> None:
    """The file, the key and what may stand there."""
    _write_user(text)
    with pytest.raises(UsageError, match=re.escape(said)) as refused:
        read_settings(harness)
    assert refused.value.hint


def test_keys_of_the_users_file_reach_the_model_and_nobody_else(harness: Path) -> None:
    """A key in the file is as good as one in the environment, if others cannot read the file."""
    path = _write_user('[keys]\nANTHROPIC_API_KEY = "sk-from-the-file"\n')
    path.chmod(0o644)
    with pytest.raises(UsageError, match="others can read it") as refused:
        read_settings(harness)
    assert refused.value.hint == f"chmod 600 {path}"
    path.chmod(0o600)
    assert model_environment(["anthropic"])["ANTHROPIC_API_KEY"] == "sk-from-the-file"
    assert config.has_key("ANTHROPIC_API_KEY")
    assert "sk-from-the-file" in config.known_secrets()
    assert "ANTHROPIC_API_KEY" not in safe_environment()


def test_the_key_of_a_named_service_reaches_its_subagent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable the user named is passed on, no other."""
    _write_user('[providers.box]\nbase_url = "http://127.0.0.1:1/v1"\nkey_env = "BOX_KEY"\n')
    monkeypatch.setenv("BOX_KEY", "k")
    monkeypatch.setenv("OTHER_KEY", "k")
    assert model_environment(["box"])["BOX_KEY"] == "k"
    assert "OTHER_KEY" not in model_environment(["box"])
    assert "BOX_KEY" not in model_environment(["anthropic"])


def test_the_variable_of_a_named_service_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is called, and wherever the user's file lies."""
    _write_user('[providers.box]\nbase_url = "http://127.0.0.1:1/v1"\nkey_env = "MINE"\n')
    monkeypatch.setenv("MINE", "a-value-of-its-own")
    assert "a-value-of-its-own" in config.known_secrets()
    assert model_environment(["box"])["HARNESS_CONFIG_HOME"] == str(config.config_home())


def test_values_of_secret_names_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, tokens, secrets and passwords of the environment are known by value; short ones are not."""
    monkeypatch.setenv("SOME_TOKEN", "a-long-enough-value")
    monkeypatch.setenv("TINY_KEY", "short")
    assert "a-long-enough-value" in config.known_secrets()
    assert "short" not in config.known_secrets()


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
        name
        for name in os.environ
        if name.upper().startswith(("SSL_CERT", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"))
    ]:
        monkeypatch.delenv(name)
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    for name in ("HTTPS_PROXY", "https_proxy", "no_proxy", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, "x")
    assert set(model_environment(["anthropic"])) - set(safe_environment()) == {
        *config.KEY_NAMES["anthropic"],
        "HARNESS_CONFIG_HOME",
        *("HTTPS_PROXY", "https_proxy", "no_proxy", "SSL_CERT_FILE"),
    }


def test_the_key_is_not_in_the_environment_of_the_tests() -> None:
    """No test has a key to spend."""
    assert not config.has_key(*chain(*config.KEY_NAMES.values()))


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


def test_what_commands_may_reach_and_read_is_the_users(harness: Path) -> None:
    """Hosts, folders, the box and allowed secrets come from the user's file."""
    _write_user(
        '[network]\nallow = ["pypi.org"]\n[sandbox]\nuse = "bubblewrap"\nread = ["/opt"]\n'
        '[secrets]\nallow = ["tests/*.pem"]\n'
    )
    settings = read_settings(harness)
    assert (settings.network, settings.readable, settings.sandbox) == (("pypi.org",), ("/opt",), "bubblewrap")
    assert settings.secrets == ("tests/*.pem",)
    assert read_settings(harness).notes == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[network]\nallow = 'pypi.org'", "network.allow = 'pypi.org'"),
        ("[network]\nallow = ['']", "network.allow = ['']"),
        ("[network]\nallow = ['https://pypi.org/simple']", "network.allow: "),
        ("[network]\ndeny = []", "unknown key network.deny"),
        ("[sandbox]\nuse = 'docker'", "sandbox.use = 'docker'"),
        ("[sandbox]\nuse = []", "sandbox.use = []"),
        ("[sandbox]\nread = ['opt']", "sandbox.read = ['opt']"),
        ("[secrets]\nallow = [1]", "secrets.allow = [1]"),
        ("[secrets]\nshow = []", "unknown key secrets.show"),
    ],
)
def test_a_users_file_that_says_something_else_about_boxes_is_refused(
    harness: Path, text: str, said: str
) -> None:
    """A value that could be read in two ways is an error of usage."""
    _write_user(text)
    with pytest.raises(UsageError) as error:
        read_settings(harness)
    assert said in error.value.message


def test_a03_a_project_is_heard_only_with_the_digest_of_its_wish(harness: Path) -> None:
    """Another digest, or none, leaves the settings as they were."""
    _write(harness, '[network]\nallow = ["pypi.org"]\n')
    wish = read_settings(harness).wish
    assert read_settings(harness).network == ()
    assert read_settings(harness, granted="0" * 64).network == ()
    heard = read_settings(harness, granted=wish.digest)
    assert (heard.network, heard.notes) == (("pypi.org",), ())
