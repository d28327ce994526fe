"""The project's own scenarios: kept, loaded, and run for every later change."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.errors import UsageError
from harness_executor.evidence.scenario_file import load_scenarios
from harness_executor.evidence.suite import kept, load_suite
from harness_executor.kernel.acts import Call, Language, Listening, Probe, Program, Query
from harness_executor.kernel.expectation import Expect, FileCheck, JsonCheck, Op
from harness_executor.kernel.scenario import Effect, Kind, Scenario, Step, scenarios_digest
from tests.claims.app import COUNT
from tests.claims.asking import COUNTS, LISTS, at, scenario, step
from tests.claims.project import Project, make_project
from tests.kernel.examples import SCENARIO

NEVER = scenario("never there", step("/never", 200, at("$.a", 1)), kind="unchanged")


def keeping(place: Path, *scenarios: object) -> Project:
    """A project whose base keeps these scenarios."""
    return make_project(place, {"harness/scenarios/kept.json": json.dumps(list(scenarios))})


def test_what_is_kept_is_read_again_as_it_was(tmp_path: Path) -> None:
    """The file says where it comes from, and holds the same scenario."""
    path = kept(tmp_path / "harness", "count-1", "c" * 40, (SCENARIO,))
    assert path is not None
    assert path.read_text().startswith("# Kept from task count-1, proved on cccccccccccc.")
    assert load_scenarios(path) == (SCENARIO,)
    assert load_suite(tmp_path) == (SCENARIO,)


TEXTS = st.text(max_size=8)
MANY = st.lists(TEXTS, max_size=2).map(tuple)
PAIRS = st.dictionaries(TEXTS, TEXTS, max_size=2)
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
ANY = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
CODES = st.none() | st.integers(0, 999) | st.lists(st.integers(0, 999), max_size=2).map(tuple)
CHECKS = st.lists(
    st.builds(JsonCheck, st.just("$.a"), st.sampled_from([Op.EQUALS, Op.CONTAINS, Op.TYPE]), ANY), max_size=2
).map(tuple)
FILES = st.dictionaries(TEXTS, st.builds(FileCheck, contains=MANY, equals=st.none() | TEXTS), max_size=2)
ANSWERS = st.builds(
    Expect, CODES | st.just("4xx"), PAIRS, CHECKS, MANY, MANY, st.just(()) | st.just(("a+", ""))
)
ENDINGS = st.builds(
    Expect, json=CHECKS, exit_code=CODES | st.just("nonzero"), stdout_contains=MANY, files=FILES
)
CALLS = st.builds(Call, TEXTS.map("/{}".format), TEXTS, PAIRS, ANY)
RAW = st.builds(Call, st.just("/"), body=TEXTS, follow=st.integers(0, 3), port=TEXTS)
LISTENING = st.builds(
    Call, st.just("/"), listen=st.builds(Listening, send=st.lists(ANY, max_size=2).map(tuple))
)
RUNS = st.builds(
    Program, st.lists(TEXTS, min_size=1, max_size=2).map(tuple), TEXTS, PAIRS, PAIRS, st.floats(0, 60)
)
PROBES = st.builds(Probe, st.sampled_from(Language), TEXTS, st.lists(ANY, max_size=2).map(tuple))
SAID = {"description": TEXTS, "because": TEXTS, "effect": st.sampled_from(Effect)}
STEPS = (
    st.builds(Step, CALLS | RAW | LISTENING, ANSWERS, **SAID)
    | st.builds(Step, st.none(), ENDINGS, run=RUNS, **SAID)
    | st.builds(Step, st.none(), ENDINGS, probe=PROBES, **SAID)
    | st.builds(Step, st.none(), query=st.builds(Query, TEXTS, TEXTS), **SAID)
)
SCENARIOS = st.builds(
    Scenario,
    TEXTS,
    TEXTS,
    st.lists(STEPS, min_size=1, max_size=2).map(tuple),
    st.sampled_from([Kind.NEW, Kind.CHANGED, Kind.UNCHANGED]),
    PAIRS,
)


@settings(deadline=None)
@given(SCENARIOS)
def test_every_scenario_is_read_again_exactly(scenario: Scenario) -> None:
    """Zeros, empty texts, odd characters and defaults included."""
    with TemporaryDirectory() as folder:
        path = kept(Path(folder), "task", "c" * 40, (scenario,))
        assert path is not None
        (found,) = load_scenarios(path)
    assert found == scenario
    assert scenarios_digest((found,)) == scenarios_digest((scenario,))


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """A person may have changed it."""
    path = tmp_path / "harness" / "scenarios" / "count-1.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n[]\n")
    assert kept(tmp_path / "harness", "count-1", "c" * 40, (SCENARIO,)) is None
    assert path.read_text() == "# mine\n[]\n"


def test_what_somebody_keeps_already_is_not_kept_twice(tmp_path: Path) -> None:
    """Who wrote the scenarios into the project has them once; a file that cannot be read changes nothing."""
    assert kept(tmp_path / "harness", "by-hand", "c" * 40, (SCENARIO,))
    assert kept(tmp_path / "harness", "count-1", "c" * 40, (SCENARIO,)) is None
    other = replace(SCENARIO, name="another")
    path = kept(tmp_path / "harness", "count-2", "c" * 40, (SCENARIO, other))
    assert path is not None
    assert load_scenarios(path) == (other,)
    (tmp_path / "harness/scenarios/broken.yaml").write_text("- [")
    assert kept(tmp_path / "harness", "count-3", "c" * 40, (SCENARIO,))


def test_names_are_unique_over_all_files(tmp_path: Path) -> None:
    """A kept scenario steps aside for one of the task, and for one that came before."""
    path = kept(tmp_path / "harness", "a", "c" * 40, (SCENARIO,))
    assert path is not None
    shutil.copy(path, path.with_stem("b"))
    name = SCENARIO.name
    assert [one.name for one in load_suite(tmp_path)] == [name, f"{name} (b)"]
    assert [one.name for one in load_suite(tmp_path, (SCENARIO,))] == [f"{name} (a)", f"{name} (b)"]


def test_a_kept_scenario_that_breaks_refuses_the_change(tmp_path: Path) -> None:
    """The feature works, and a neighbour that an earlier task proved does not any more."""
    project = keeping(tmp_path, LISTS)
    project.append(COUNT)
    project.swap("return 200, list(ITEMS.values())", "return 200, []")
    outcome = project.verify(COUNTS)
    assert not outcome.accepted
    assert "the list shows what was added passed on base and fails now" in outcome.said
    report = json.loads(project.report.read_text())
    assert [one["meaning"] for one in report["predefined_scenarios"]] == ["regresses"]
    assert (report["summary"]["predefined_total"], report["summary"]["predefined_passed"]) == (1, 0)


def test_a_kept_scenario_that_fails_anyway_is_a_warning(tmp_path: Path) -> None:
    """What fails on base too is not the change's doing."""
    project = keeping(tmp_path, NEVER, LISTS)
    project.append(COUNT)
    outcome = project.verify(COUNTS)
    assert outcome.accepted, outcome.said
    assert "kept scenario never there says nothing here (missing)" in outcome.said


def test_without_scenarios_what_is_kept_has_to_hold(tmp_path: Path) -> None:
    """A check for every change, with nothing to write; and nothing to run is refused."""
    project = keeping(tmp_path, LISTS)
    project.append("\n# tidied\n")
    held = project.outcome("verify", "--base", "HEAD")
    assert held.accepted, held.said
    assert "held: nothing changed for a client" in held.said
    project.swap("return 200, list(ITEMS.values())", "return 200, []")
    assert not project.outcome("verify", "--base", "HEAD").accepted


def test_nothing_to_run_is_said(tmp_path: Path) -> None:
    """Neither a file nor kept scenarios."""
    project = make_project(tmp_path)
    project.append(COUNT)
    said = project.outcome("verify", "--base", "HEAD").said
    assert "there are no scenarios" in said


def test_a_change_cannot_alter_the_suite_it_is_judged_by(tmp_path: Path) -> None:
    """It is read from the base, and a change of it is shown to a person."""
    project = keeping(tmp_path, LISTS)
    project.append(COUNT)
    project.swap("return 200, list(ITEMS.values())", "return 200, []")
    (project.root / "harness/scenarios/kept.json").unlink()
    outcome = project.verify(COUNTS)
    assert not outcome.accepted
    assert "the list shows what was added passed on base" in outcome.said
    assert "harness/scenarios/kept.json (changed)" in outcome.said


def test_a_kept_scenario_logs_in_as_the_project_says(tmp_path: Path) -> None:
    """A login that environment.json declares is known to the scenarios beside it."""
    auth = {"login": {"endpoint": "POST /login", "body": {"user": "a"}, "token_path": "token"}}
    (tmp_path / "harness/scenarios").mkdir(parents=True)
    (tmp_path / "harness/environment.json").write_text(json.dumps({"auth": auth}))
    kept_one = {**scenario("mine", step("/mine", 200, at("$.a", 1))), "login": "default"}
    (tmp_path / "harness/scenarios/kept.json").write_text(json.dumps([kept_one]))
    (found,) = load_suite(tmp_path)
    assert [one.request.path for one in found.steps if one.request] == ["/login", "/mine"]
    (tmp_path / "harness/environment.json").unlink()
    with pytest.raises(UsageError, match="there is no login 'default'"):
        load_suite(tmp_path)
