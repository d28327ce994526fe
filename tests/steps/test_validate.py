"""Checks of a project find what it needs: what comes before a start, and services of their own."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness_executor.clock import SystemClock
from harness_executor.kernel.checked import CheckResult, FindingKind
from harness_executor.sandbox.base import Sandbox
from harness_executor.steps.validate import Inspection, inspect
from harness_executor.workspace.export import open_desk
from harness_executor.workspace.project import read_project
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git
from tests.rooms import BOX, NO_BOX, sandbox_named

CACHE = {"name": "cache", "type": "redis", "connection": {"url_env": "CACHE_URL"}}
ASKS = 'redis-cli -u "$CACHE_URL" get greeting | grep -qx hello'
FILLS = 'redis-cli -u "$CACHE_URL" set greeting hello'


@dataclass(frozen=True)
class Subject:
    """A repository with a base, and a change that adds a file."""

    folder: Path
    sandbox: Sandbox

    def checked(self, **environment: Any) -> dict[str, CheckResult]:
        """What the checks of base say of the change, by their names."""
        repo = self.folder / "repo"
        (repo / "harness").mkdir(parents=True)
        git(repo, "init", "--quiet", "--initial-branch=main")
        (repo / "harness/environment.json").write_text(json.dumps(environment))
        base = commit_all(repo, "base")
        (repo / "changed").touch()
        commit_all(repo, "change")
        repository = open_repository(repo)
        desk, project = open_desk(repository, self.folder / "desk"), read_project(repo)
        trees = repository.tree_of(base), repository.tree_of("HEAD")
        inspection = Inspection(desk, self.sandbox, SystemClock(), *trees, lambda _: None)
        return {result.name: result for result in inspect(inspection, project, project.checks)}


@pytest.fixture(params=[NO_BOX, BOX])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Subject:
    """What holds of checks holds without a box and in one."""
    return Subject(tmp_path, sandbox_named(request.param))


def passed(result: CheckResult) -> tuple[bool, bool]:
    """How a check ended on both sides."""
    return result.base_passed, result.change_passed


def test_tests_find_their_service_and_what_filled_it(subject: Subject) -> None:
    """A test that needs a database is green where the steps of the project filled one for it."""
    results = subject.checked(
        services=[CACHE],
        startup={"steps": [FILLS, "touch made.txt"]},
        runtime={"lint_command": "test -e made.txt", "test_command": ASKS},
    )
    assert [passed(results[name]) for name in ("setup", "lint", "test")] == [(True, True)] * 3
    assert results["setup"].command == f"start cache; {FILLS}; touch made.txt"


def test_each_side_has_data_of_its_own(subject: Subject) -> None:
    """What the tests of one side write is not seen by those of the other."""
    counts = 'test "$(redis-cli -u "$CACHE_URL" incr seen)" = 1'
    results = subject.checked(services=[CACHE], runtime={"test_command": counts})
    assert passed(results["test"]) == (True, True)


def test_where_a_service_is_wins_unless_the_checks_are_told_otherwise(subject: Subject) -> None:
    """A value for server and checks gives way to the real address; one for checks alone stays."""
    said = {"CACHE_URL": "redis://nowhere:1", "PLAIN": "x", "AT": "{service.cache.port}"}
    service = {**CACHE, "connection": {"url_env": "CACHE_URL", "host_env": "CACHE_HOST"}}
    results = subject.checked(
        services=[service],
        test_environment={"env_vars": said, "check_env": {"CACHE_HOST": "mine"}},
        runtime={
            "build_command": 'redis-cli -u "$CACHE_URL" ping && test "$PLAIN" = x',
            "lint_command": 'redis-cli -p "$AT" ping',
            "test_command": 'test "$CACHE_HOST" = mine',
        },
    )
    assert [passed(result) for result in results.values()] == [(True, True)] * 4


def test_a_service_that_cannot_be_had_is_named_and_stops_nothing_else(subject: Subject) -> None:
    """Checks that do without it are compared as ever, and what is missing does not count as new."""
    services = [{"name": "documents", "type": "mongodb"}, CACHE]
    commands = {"lint_command": "true", "test_command": 'redis-cli -u "$CACHE_URL" ping'}
    results = subject.checked(services=services, runtime=commands)
    assert [passed(results[name]) for name in ("setup", "lint", "test")] == [
        (False, False),
        (True, True),
        (True, True),
    ]
    (finding,) = results["setup"].findings
    assert finding.kind is FindingKind.UNPREPARED
    assert "the service documents could not be made ready: the service documents needs MongoDB" in str(
        finding
    )
    assert not results["setup"].blocks


def test_a_service_that_does_not_start_is_named_and_stops_nothing_else(tmp_path: Path) -> None:
    """Nobody in a box may listen on port 80; a check that needs nothing of it passes."""
    refused = {"name": "low", "type": "redis", "connection": {"default_port": 80}}
    subject = Subject(tmp_path, sandbox_named(BOX))
    results = subject.checked(
        services=[refused, CACHE], runtime={"test_command": 'redis-cli -u "$CACHE_URL" ping'}
    )
    assert passed(results["setup"]) == (False, False)
    assert passed(results["test"]) == (True, True)
    said = "\n".join(map(str, results["setup"].findings))
    assert "setup on base could not be made ready: the service low ended" in said
    assert "the service low on the change could not be made ready" in said


def test_a_step_that_only_the_change_fails_is_newly_red(subject: Subject) -> None:
    """What comes before the checks is compared like a check, and its output is told."""
    results = subject.checked(
        services=[CACHE],
        startup={"steps": ["echo looking; test ! -e changed"]},
        runtime={"test_command": 'redis-cli -u "$CACHE_URL" ping'},
    )
    assert passed(results["setup"]) == (True, False)
    assert results["setup"].blocks
    assert "looking" in results["setup"].output
    assert passed(results["test"]) == (True, True)


def test_nothing_to_prepare_is_no_result(subject: Subject) -> None:
    """A project that needs nothing has the results of its checks alone."""
    assert list(subject.checked(runtime={"test_command": "true"})) == ["test"]


def test_setup_commands_come_before_the_checks_of_every_copy(subject: Subject) -> None:
    """What they make is there, once, in each fresh copy."""
    results = subject.checked(
        test_environment={"setup_commands": ["printf x >> made"], "check_env": {"WHO": "checks"}},
        runtime={"test_command": "test x = $(cat made)"},
    )
    assert [passed(results[name]) for name in ("setup", "test")] == [(True, True)] * 2


def test_an_install_that_fails_is_told_and_does_not_count_as_new(subject: Subject) -> None:
    """Packages that cannot be fetched here are no fault of the change."""
    results = subject.checked(runtime={"install_command": "npm-is-not-there ci", "test_command": "true"})
    assert passed(results["setup"]) == (True, True)
    assert "install on base could not be made ready: installing with" in str(results["setup"].findings[0])
