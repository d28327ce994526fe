"""`harness approve`, and runs whose change makes other programs run something."""

from pathlib import Path
from typing import Any

import pytest

from harness_executor.demo.sample import REQUEST
from tests.claims.ledger import add_fact
from tests.cli.scripted import HONEST_LINES, use, with_executor, work, write_script
from tests.cli.terminal import at_terminal
from tests.conftest import Cli, Ran, git

STATS = HONEST_LINES["executor"][0]["replies"]
SERVERS = '{"mcpServers": {"x": {"command": "touch", "args": ["marker"]}}}\n'


def writes(*paths: str) -> dict[str, Any]:
    """The honest change, and some files beside it."""
    extra = [use("write_file", path=path, content=SERVERS) for path in paths]
    return with_executor({"replies": [*extra, *STATS]})


def run(cli: Cli, repo: Path, tmp_path: Path, lines: Any) -> Ran:
    """One request with a scripted model."""
    return cli("run", REQUEST, "--repo", repo, "--model", write_script(tmp_path, lines), "--json")


def test_a34_a_new_control_file_parks_the_task_until_a_person_approves(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """The change is kept on its branch, listed and not judged; approved and resumed, it is complete."""
    ran = run(cli, sample, tmp_path, writes(".mcp.json", ".github/workflows/x.yml"))
    outcome = ran.json()
    assert (ran.code, outcome["status"], outcome["waiting_for"]) == (3, "blocked", "human")
    assert [file["path"] for file in outcome["control_files"]] == [".github/workflows/x.yml", ".mcp.json"]
    assert "- .mcp.json (created): a coding agent starts" in outcome["summary"]
    assert SERVERS.strip() in git(sample, "show", f"{outcome['branch']}:.mcp.json")
    assert outcome["report"] is None
    approved = cli("approve", outcome["task_id"], "--repo", sample, "--yes")
    assert approved.code == 0, approved.err
    assert "+" + SERVERS.strip() in approved.out
    resumed = cli("resume", outcome["task_id"], "--repo", sample, "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.json()["commit"] == outcome["commit"]


@pytest.mark.parametrize("path", [".Mcp.Json", ".claude/settings.json", "tests/conftest.py", ".env\u200brc"])
def test_a31_a34_each_of_them_waits(path: str, sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Files that were not there, under their own name or a disguise, are not taken without a person."""
    ran = run(cli, sample, tmp_path, writes(path))
    assert ran.code == 3, ran.err
    assert [file["path"] for file in ran.json()["control_files"]] == [path]


def test_ordinary_work_waits_for_nobody(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """The same change without the control file is complete at once."""
    ran = run(cli, sample, tmp_path, writes("docs/notes.md"))
    assert ran.code == 0, ran.err
    assert ran.json()["control_files"] == []


def test_a20_a_nested_repository_and_a_file_of_submodules_are_refused(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """A `.gitmodules` or a `.git` in a folder is never committed."""
    assert run(cli, sample, tmp_path, writes("vendored/.gitmodules")).code == 1
    nested = with_executor({"replies": [use("shell", command="git init -q vendored"), *STATS]})
    ran = run(cli, sample, tmp_path, nested)
    assert ran.code == 1
    assert "holds a .git of its own" in ran.json()["summary"]
    assert ran.json()["branch"] is None


def test_resuming_without_approval_asks_again(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Sending a task on is not looking at its files."""
    run(cli, sample, tmp_path, writes(".mcp.json"))
    again = cli("resume", "--repo", sample)
    assert again.code == 3
    assert "harness approve" in again.out


def test_a82_a_change_that_differs_from_what_was_approved_is_asked_for_again(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """Work that is sent back after the approval, and mended, has another tree, and waits again."""
    wrong = [use("edit_file", path="app.py", old='{"total": len', new='{"total": 7 + len')]
    mended = [use("edit_file", path="app.py", old='"total": 7 + len', new='"total": len'), work()]
    first = [use("write_file", path=".mcp.json", content=SERVERS), *STATS[:3], *wrong, work()]
    lines = with_executor({"when": "expected 0, got 7", "replies": mended}, {"replies": first})
    ran = run(cli, sample, tmp_path, lines)
    assert ran.code == 3, ran.err
    assert cli("approve", "--repo", sample, "--yes").code == 0
    resumed = cli("resume", "--repo", sample, "--json")
    assert resumed.code == 3, resumed.err
    assert resumed.json()["commit"] != ran.json()["commit"]
    assert cli("approve", "--repo", sample, "--yes").code == 0
    assert cli("resume", "--repo", sample).code == 0


def test_nobody_at_the_terminal_approves_nothing(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """Without a terminal and without --yes the command refuses, and the task still waits."""
    run(cli, sample, tmp_path, writes(".mcp.json"))
    refused = cli("approve", "--repo", sample)
    assert refused.code == 3
    assert "not a terminal" in refused.err
    assert cli("resume", "--repo", sample).code == 3


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 3), ("\n", 3)])
def test_a_person_at_a_terminal_is_asked(
    answer: str, code: int, sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """Only a yes is a yes."""
    run(cli, sample, tmp_path, writes(".mcp.json"))
    assert at_terminal(answer, sample, "approve") == code
    assert cli("resume", "--repo", sample).code == code


def test_there_is_nothing_to_approve_in_an_ordinary_task(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """A task without control files, or one that is closed, takes no approval."""
    task_id = run(cli, sample, tmp_path, HONEST_LINES).json()["task_id"]
    refused = cli("approve", task_id, "--repo", sample, "--yes")
    assert refused.code == 2
    assert "waits to be approved" in refused.err


def test_a82_an_approval_written_into_the_log_by_hand_is_not_believed(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """A line with the right tree and a chain that fits is refused for want of the seal."""
    outcome = run(cli, sample, tmp_path, writes(".mcp.json")).json()
    tree = git(sample, "rev-parse", f"{outcome['commit']}^{{tree}}")
    log = sample / "harness" / "tasks" / outcome["task_id"] / "events.jsonl"
    add_fact(log, "ChangeApproved", {"tree": tree, "by": "user", "task_id": outcome["task_id"], "seal": ""})
    resumed = cli("resume", outcome["task_id"], "--repo", sample)
    assert resumed.code == 1
    assert "nobody did so here" in resumed.err
