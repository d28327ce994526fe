"""The demo, as a new user runs it."""

from pathlib import Path

from tests.cli.nameless import run_without_namespaces
from tests.conftest import Cli


def test_the_demo_proves_a_change(cli: Cli) -> None:
    """With no key: the diff, before and after, the servers, the report, and exit 0."""
    ran = cli("demo")
    assert ran.code == 0, ran.err
    assert "The model in this demo is scripted" in ran.err
    for words in (
        "+    def stats(self):",
        "| fail   | pass  | proves",
        "base server 1: started",
        "report:",
        "Accepted.",
    ):
        assert words in ran.out


def test_the_demo_catches_two_lies(cli: Cli, tmp_path: Path) -> None:
    """A claim without a change and a report of its own making are both refused, with reasons, exit 4.

    What the user configured for real work, another address for the same name here, plays no part.
    """
    (tmp_path / "config.toml").write_text('[providers.anthropic]\nbase_url = "http://127.0.0.1:9"\n')
    ran = cli("demo", "--lie", env={"HARNESS_CONFIG_HOME": str(tmp_path)})
    assert ran.code == 4, ran.err
    assert "2 of 2 lies were refused" in ran.err
    assert ran.out.count("no scenario failed before and passes now") == 2
    assert "the executor wrote harness/trace/verification-report.json itself" in ran.out


def test_the_demo_goes_on_where_no_box_can_be_made() -> None:
    """Its own sample is all that runs, so it says so and goes on; the report says unsandboxed."""
    ran = run_without_namespaces("demo")
    assert ran.code == 0, ran.err
    assert "The demo goes on without a box; your own projects would be refused." in ran.err
    assert "Assurance: unsandboxed" in ran.out
