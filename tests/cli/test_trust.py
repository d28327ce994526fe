"""`harness trust`, and what a project's settings can do without it."""

import json
from pathlib import Path

from harness_executor.config import config_home, read_settings, state_home
from harness_executor.home import open_home
from tests.cli.scripted import HONEST_LINES, write_script
from tests.conftest import Cli

WANTS = '[network]\nallow = ["pypi.org"]\n[sandbox]\nread = ["/opt/data"]\n'


def wants(repo: Path, text: str) -> None:
    """Give the project settings of its own."""
    (repo / "harness" / "config.toml").write_text(text)


def given(repo: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hosts and folders that a run in the project would have."""
    home = open_home(repo)
    settings = read_settings(home.layout.harness, granted=home.trust.granted())
    return settings.network, settings.readable


def test_a03_what_a_project_asks_for_is_granted_by_a_person_only(sample: Path, cli: Cli) -> None:
    """Without a terminal or --yes nothing is granted; with it, exactly what was shown."""
    wants(sample, WANTS)
    assert given(sample) == ((), ())
    refused = cli("trust", "--repo", sample)
    assert refused.code == 3
    assert "network.allow: pypi.org\nsandbox.read: /opt/data" in refused.out
    assert given(sample) == ((), ())
    assert cli("trust", "--repo", sample, "--yes").code == 0
    assert given(sample) == (("pypi.org",), ("/opt/data",))
    assert "this is granted" in cli("trust", "--repo", sample).out
    (kept,) = (state_home() / "trust").iterdir()
    assert json.loads(kept.read_text())["network"] == ["pypi.org"]


def test_a82_a_wish_that_changes_is_asked_for_again(sample: Path, cli: Cli) -> None:
    """One more host, and nothing of it is granted any more until a person looks."""
    wants(sample, WANTS)
    cli("trust", "--repo", sample, "--yes")
    wants(sample, WANTS.replace('"pypi.org"', '"pypi.org", "evil.example"'))
    assert given(sample) == ((), ())
    assert cli("trust", "--repo", sample).code == 3


def test_a_grant_is_for_one_project(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Another project with the same wish has to be granted it as well."""
    wants(sample, WANTS)
    cli("trust", "--repo", sample, "--yes")
    other = sample.rename(tmp_path / "moved")
    assert given(other) == ((), ())


def test_what_the_user_gave_already_is_no_wish(sample: Path, cli: Cli) -> None:
    """A project that asks for less than the user's own file has needs nobody."""
    config_home().mkdir(parents=True)
    (config_home() / "config.toml").write_text(WANTS)
    wants(sample, '[network]\nallow = ["pypi.org"]\n')
    assert given(sample) == (("pypi.org",), ("/opt/data",))
    ran = cli("trust", "--repo", sample)
    assert (ran.code, "nothing that can be granted" in ran.out) == (0, True)


def test_a03_keys_services_prices_and_boxes_are_never_granted(sample: Path, cli: Cli) -> None:
    """A yes is for hosts and folders; the rest is named and stays ignored."""
    own = '[keys]\nX_API_KEY = "x"\n[providers.x]\nbase_url = "http://x"\n[secrets]\nallow = ["*"]\n'
    wants(sample, own + WANTS.replace("[sandbox]\n", '[sandbox]\nuse = "none"\n'))
    ran = cli("trust", "--repo", sample, "--yes")
    assert ran.code == 0
    assert all(
        f"{name} in the project's config.toml is ignored" in ran.out
        for name in ("keys", "providers", "secrets", "sandbox.use")
    )
    home = open_home(sample)
    settings = read_settings(home.layout.harness, granted=home.trust.granted())
    assert (settings.services, settings.secrets, settings.sandbox) == ({}, (), "auto")
    assert settings.network == ("pypi.org",)


def test_a03_a_run_says_what_it_ignores(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Whoever runs a task hears what the project asked for in vain, and the run goes on without it."""
    wants(sample, "[caps]\nrespawn = 99\n[budget.task]\nusd = 999\n" + WANTS)
    ran = cli(
        "run", "count", "--repo", sample, "--model", write_script(tmp_path, HONEST_LINES), "--mode", "plan"
    )
    assert ran.code == 0, ran.err
    assert "caps.respawn = 99 in the project's config.toml is ignored: yours is 2" in ran.err
    assert "budget.task.usd = 999 in the project's config.toml is ignored: yours is 10" in ran.err
    assert "asks for more than you gave (network.allow: pypi.org, sandbox.read: /opt/data)" in ran.err
