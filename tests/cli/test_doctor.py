"""`harness doctor` on a machine that has a box, and on one that has none."""

from pathlib import Path

from tests.cli.nameless import run_without_namespaces
from tests.cli.scripted import HONEST_LINES, write_script
from tests.conftest import Cli


def test_says_what_a_run_would_have(sample: Path, cli: Cli) -> None:
    """Each layer is tried and named, for people and for programs."""
    ran = cli("doctor", "--repo", sample)
    assert ran.code == 0, ran.out
    assert ran.out.endswith("assurance of a run here: sandboxed\n")
    told = cli("doctor", "--repo", sample, "--json").json()
    assert told["assurance"] == "sandboxed"
    names = {row["name"] for row in told["rows"] if row["holds"]}
    assert {"start", "remounting", "capabilities", "network", "system call filter", "terminal"} <= names


def test_says_what_is_missing_and_what_mends_it(sample: Path) -> None:
    """Where no box can be made, the first layer fails with the reason and a command; exit 3."""
    ran = run_without_namespaces("doctor", "--repo", str(sample))
    assert ran.code == 3
    assert "FAIL  start" in ran.out
    assert "sysctl user.max_user_namespaces" in ran.out
    assert "a run is refused" in ran.out


def test_none_is_what_the_user_asked_for(sample: Path, cli: Cli) -> None:
    """Without a box on purpose, nothing fails and nothing is called sandboxed."""
    ran = cli("doctor", "--repo", sample, "--sandbox", "none")
    assert ran.code == 0
    assert ran.out.endswith("assurance of a run here: unsandboxed\n")


def test_a_run_is_refused_where_no_box_holds(sample: Path) -> None:
    """Nothing is opened, begun or written where commands could not be boxed; exit 3, and how to go on."""
    model = write_script(sample.parent, HONEST_LINES)
    ran = run_without_namespaces("run", "add it", "--repo", str(sample), "--model", model)
    assert ran.code == 3
    assert "does not hold" in ran.err
    assert "--sandbox none" in ran.err
    assert not list((sample / "harness").glob("tasks/*/events.jsonl"))
