"""A base that dies on the command of the change, and is healthy by its own."""

from dataclasses import replace

import pytest

from harness_executor.errors import ServerExited
from harness_executor.kernel.gate import Claim, judge
from harness_executor.kernel.report import Meaning, Side
from harness_executor.workspace.chores import Chore
from harness_executor.workspace.project import Start
from tests.evidence.apps import start
from tests.evidence.bench import BASE, CHANGE, ITEMS, STATS, Bench

HEAD = "import json, os, sys"
STRICT = f"{HEAD}\nif sys.argv[2:]: sys.exit('unknown option: ' + sys.argv[2])"
"""A program that takes a port and nothing else."""
NEW = f"{start().command} --new"
OLD = BASE.replace(HEAD, STRICT)


@pytest.fixture
def optional(bench: Bench) -> Bench:
    """A bench whose start has an option, and whose base says how it is started by itself."""
    bench.how = replace(start(), command=NEW)
    bench.otherwise = start
    return bench


def test_a_base_that_dies_on_a_new_option_is_asked_by_its_own_command(optional: Bench) -> None:
    """The feature is proved against a base that is up, and the record says how that was."""
    seen = optional.examine(OLD, CHANGE, STATS, ITEMS)
    meanings = {finding.name: finding.meaning for finding in seen.evidence.findings}
    assert (meanings["stats"], meanings["items"]) == (Meaning.PROVES, Meaning.HOLDS)
    details = {server.side: server.detail for server in seen.evidence.servers}
    assert f"base does not start with `{NEW}`" in details[Side.BASE]
    assert "unknown option: --new" in details[Side.BASE]
    assert details[Side.CHANGE] == ""
    assert {one.side: one.command for one in seen.evidence.launches} == {
        Side.BASE: start().command,
        Side.CHANGE: NEW,
    }
    assert [server.started for server in seen.evidence.servers] == [True] * 4


def test_a_change_that_only_takes_the_option_proves_nothing(optional: Bench) -> None:
    """That base dies on the command is no proof: its own answers count."""
    meanings = optional.meanings(OLD, BASE, STATS, ITEMS)
    assert (meanings["stats"], meanings["items"]) == (Meaning.MISSING, Meaning.HOLDS)


def test_the_change_has_to_start_with_the_command_given(optional: Bench) -> None:
    """A change that dies on it as well is not started by anything else."""
    broken = CHANGE.replace(HEAD, STRICT)
    seen = optional.examine(OLD, broken, STATS)
    assert [server.started for server in seen.evidence.servers] == [True, True, False, False]
    claim = Claim("task", seen.evidence.base_commit, seen.evidence.base_tree, seen.evidence.tree)
    verdict = judge(claim, seen.evidence, seal_is_valid=True)
    assert any("the server did not start on change" in reason for reason in verdict.reasons)


def test_a_base_that_starts_with_neither_is_an_error(optional: Bench) -> None:
    """Nothing is proved against a base that does not run, and the command given is named."""
    with pytest.raises(ServerExited, match="on base: the server ended") as caught:
        optional.examine("raise SystemExit('broken')", CHANGE, STATS)
    assert NEW in caught.value.message
    assert "--start-base CMD" in caught.value.hint


def test_a_base_that_takes_the_command_is_not_asked_for_another(bench: Bench) -> None:
    """Its own command is looked for only where it is needed."""

    def never() -> Start:
        raise AssertionError("asked")

    bench.how, bench.otherwise = replace(start(), command=NEW), never
    assert bench.meanings(BASE, CHANGE, STATS)["stats"] is Meaning.PROVES


def test_a_command_for_base_that_fails_stays_an_error(bench: Bench) -> None:
    """Who said how the old code is started is told that it does not work."""
    bench.how = replace(start(), base_command=NEW)
    bench.otherwise = start
    with pytest.raises(ServerExited, match="unknown option: --new"):
        bench.examine(OLD, CHANGE, STATS)


def test_a_step_that_fails_on_base_is_not_about_its_command(optional: Bench) -> None:
    """What comes before the start is the same, whichever command follows."""
    optional.how = replace(optional.how, chores=(Chore("exit 3"),))
    with pytest.raises(ServerExited, match="the setup step `exit 3` failed"):
        optional.examine(OLD, CHANGE, STATS)
