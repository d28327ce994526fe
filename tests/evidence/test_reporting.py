"""The report others read: its fields, and that it says no more than was seen."""

import json
from dataclasses import replace

import pytest

from harness_executor.evidence.reporting import build_report
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.expect import Answer, Assertion
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.gate import Verdict
from harness_executor.kernel.report import (
    Evidence,
    Exchange,
    Finding,
    Meaning,
    Observation,
    ScenarioRun,
    ServerRecord,
    Side,
    StepRun,
)
from harness_executor.kernel.scenario import Kind
from tests.evidence.apps import get, scenario
from tests.evidence.bench import BASE, CHANGE, ITEMS, STATS, Bench

ACCEPTED = Verdict(accepted=True, reasons=())
REFUSED = Verdict(accepted=False, reasons=("no scenario failed before and passes now",))


def server(side: Side, number: int = 1, *, started: bool = True, gone: bool = True) -> ServerRecord:
    """One server and how it ended."""
    return ServerRecord(
        side, number, started, owns_port=started, ready_in_seconds=0.5 * number, stopped=gone, port_free=gone
    )


def ran(name: str, *, passed: bool = True, answered: bool = True) -> ScenarioRun:
    """One scenario on one server."""
    answer = Answer(200, (("content-type", "text/plain"),), "ok", 12.5) if answered else None
    exchange = Exchange(
        "GET", "http://127.0.0.1:1/x", {"accept": "*/*"}, None, answer, "" if answer else "no answer: x"
    )
    checks = (Assertion("status_code", 200, 200, passed),) if answered else ()
    return ScenarioRun(name, (StepRun("", exchange, Expect(200), checks),), complete=passed)


def view(
    name: str,
    meaning: Meaning,
    base: tuple[ScenarioRun, ...] = (),
    change: tuple[ScenarioRun, ...] = (),
    **fields: str,
) -> Observation:
    """One scenario and what it means."""
    source = fields.get("source", "coordinator_designed")
    finding = Finding(name, Kind.NEW, source, meaning, fields.get("reason", ""), ("a value changed",), 5, 4)
    return Observation(scenario(name, get("/x")), base, change, finding)


def evidence(*servers: ServerRecord, views: tuple[Observation, ...] = ()) -> Evidence:
    """What was recorded."""
    return Evidence(
        "run", "task", "base", "tree", "tree", "scenarios", "exchanges", Assurance.UNSANDBOXED, servers,
        tuple(one.finding for one in views),
    )  # fmt: skip


BOTH = (server(Side.BASE), server(Side.CHANGE), server(Side.CHANGE, 2))


def test_a_report_of_a_real_run_holds_what_was_seen(bench: Bench) -> None:
    """Requests, answers, comparisons and servers of a verification are in its report, as JSON."""
    examination = bench.examine(BASE, CHANGE, STATS, ITEMS)
    made = build_report(examination.evidence, examination.observations, ACCEPTED)
    report = json.loads(json.dumps(made))
    assert report["overall_status"] == "pass"
    assert report["run_id"] == examination.evidence.run_id
    assert report["server"]["started"]
    assert report["server"]["stopped_cleanly"]
    assert report["server"]["ready_in_seconds"] > 0
    assert len(report["servers"]) == 4
    stats, items = report["task_specific_scenarios"]
    assert (stats["before"], stats["after"], stats["status"]) == ("fail", "pass", "pass")
    assert stats["mutants"] == {"made": 8, "noticed": 8, "unnoticed_classes": [], "overlooked_classes": []}
    assert not stats["held_out"]
    assert report["warnings"][0].startswith("nothing was held out: stats asks")
    assert stats["steps"][0]["response"]["body"] == '{"total": 2}'
    assert stats["base_steps"][0]["response"]["status"] == 404
    assert stats["steps"][0]["assertions"][1]["actual"] == 2
    assert (items["before"], items["after"], items["meaning"]) == ("pass", "pass", "holds")
    assert [check["name"] for check in report["additional_checks"]] == ["unknown route is turned away"]
    assert report["summary"] == {
        "task_specific_total": 2,
        "task_specific_passed": 2,
        "predefined_total": 0,
        "predefined_passed": 0,
        "additional_checks_total": 1,
        "additional_checks_passed": 1,
        "pass_rate": 1.0,
    }


def test_a_report_says_whose_it_is() -> None:
    """What the evidence is bound to is repeated in the report."""
    report = build_report(evidence(*BOTH), (), REFUSED)
    bound = {
        name: report[name]
        for name in (
            "task_id",
            "run_id",
            "base_commit",
            "tree",
            "scenario_digest",
            "exchange_digest",
            "assurance",
        )
    }
    assert bound == {
        "task_id": "task",
        "run_id": "run",
        "base_commit": "base",
        "tree": "tree",
        "scenario_digest": "scenarios",
        "exchange_digest": "exchanges",
        "assurance": "unsandboxed",
    }
    assert report["recorded_by"] == "harness_executor"


def test_a_refusal_is_never_a_pass() -> None:
    """What the gate refused is partial at best, and fails when nothing passed."""
    good = view("good", Meaning.PROVES, (ran("good"),), (ran("good"),))
    bad = view("bad", Meaning.MISSING)
    assert build_report(evidence(*BOTH), (good, bad), ACCEPTED)["overall_status"] == "pass"
    partial = build_report(evidence(*BOTH), (good, bad), REFUSED)
    assert partial["overall_status"] == "partial"
    assert partial["accepted"] is False
    assert partial["reasons"] == list(REFUSED.reasons)
    assert partial["summary"]["pass_rate"] == 0.5
    assert build_report(evidence(*BOTH), (bad,), REFUSED)["overall_status"] == "fail"
    assert build_report(evidence(*BOTH), (), REFUSED)["summary"]["pass_rate"] == 0


@pytest.mark.parametrize(
    ("meaning", "status"),
    [
        (Meaning.PROVES, "pass"),
        (Meaning.HOLDS, "pass"),
        (Meaning.REGRESSES, "fail"),
        (Meaning.MISSING, "fail"),
        (Meaning.NOISY, "skipped"),
    ],
)
def test_each_meaning_has_a_status(meaning: Meaning, status: str) -> None:
    """A noisy scenario is never counted as passed."""
    report = build_report(evidence(*BOTH), (view("one", meaning, reason="why"),), REFUSED)
    (one,) = report["task_specific_scenarios"]
    assert (one["status"], one["meaning"], one["reason"]) == (status, meaning.value, "why")
    assert report["summary"]["task_specific_passed"] == (1 if status == "pass" else 0)


def test_checks_of_the_harness_are_kept_apart() -> None:
    """The harness's own check does not count as one of the task's."""
    own = view("own", Meaning.HOLDS, source="harness")
    report = build_report(evidence(*BOTH), (own,), REFUSED)
    assert report["task_specific_scenarios"] == []
    assert [check["name"] for check in report["additional_checks"]] == ["own"]
    assert report["overall_status"] == "fail"


def test_runs_that_differ_are_shown_as_such() -> None:
    """Before and after are pass, fail or differs."""
    mixed = (ran("x"), ran("x", passed=False))
    (shown,) = build_report(evidence(*BOTH), (view("x", Meaning.NOISY, mixed, mixed[:1]),), REFUSED)[
        "task_specific_scenarios"
    ]
    assert (shown["before"], shown["after"]) == ("differs", "pass")


def test_a_side_that_never_ran_has_no_steps() -> None:
    """Without a run there is no step, no time, and no pass."""
    (shown,) = build_report(evidence(*BOTH), (view("x", Meaning.MISSING),), REFUSED)[
        "task_specific_scenarios"
    ]
    assert (shown["steps"], shown["base_steps"], shown["duration_seconds"]) == ([], [], 0)
    assert (shown["before"], shown["after"]) == ("fail", "fail")


def test_a_header_that_was_sent_several_times_is_shown_with_all_its_values() -> None:
    """No cookie hides another."""
    (step,) = ran("x").steps
    headers = (("set-cookie", "a=1"), ("x-a", "1"), ("set-cookie", "b=2"))
    exchange = replace(step.exchange, answer=Answer(200, headers, "ok", 1.0))
    twice = (ScenarioRun("x", (replace(step, exchange=exchange),), complete=True),)
    (shown,) = build_report(evidence(*BOTH), (view("x", Meaning.PROVES, twice, twice),), REFUSED)[
        "task_specific_scenarios"
    ]
    assert shown["steps"][0]["response"]["headers"] == {"set-cookie": ["a=1", "b=2"], "x-a": "1"}


def test_a_step_without_an_answer_shows_its_error() -> None:
    """No answer is shown as an error, with no status made up."""
    silent = (ran("x", passed=False, answered=False),)
    (shown,) = build_report(evidence(*BOTH), (view("x", Meaning.MISSING, silent, silent),), REFUSED)[
        "task_specific_scenarios"
    ]
    (step,) = shown["steps"]
    assert step["response"] == {"error": "no answer: x"}
    assert step["assertions"] == []
    assert step["passed"] is False
    assert step["description"] == "GET /x"
    assert shown["duration_seconds"] == 0


def test_the_time_of_a_scenario_is_that_of_its_answers() -> None:
    """Milliseconds of answers add up to seconds."""
    (shown,) = build_report(evidence(*BOTH), (view("x", Meaning.HOLDS, (ran("x"),), (ran("x"),)),), REFUSED)[
        "task_specific_scenarios"
    ]
    assert shown["duration_seconds"] == 0.013 or shown["duration_seconds"] == 0.012


def test_a_server_that_stayed_is_not_called_clean() -> None:
    """One server that was not proved gone is enough."""
    left = evidence(server(Side.BASE, gone=False), server(Side.CHANGE))
    assert build_report(left, (), REFUSED)["server"]["stopped_cleanly"] is False


def test_a_change_that_did_not_start_is_not_called_started() -> None:
    """One server of the change that did not start is enough; none at all is not started either."""
    half = evidence(server(Side.BASE), server(Side.CHANGE), server(Side.CHANGE, 2, started=False))
    assert build_report(half, (), REFUSED)["server"]["started"] is False
    none = build_report(evidence(server(Side.BASE)), (), REFUSED)["server"]
    assert (none["started"], none["ready_in_seconds"]) == (False, 0.0)
    assert build_report(evidence(*BOTH), (), REFUSED)["server"]["ready_in_seconds"] == 1.0


def test_the_words_of_a_server_are_passed_on() -> None:
    """Why a server did not run stands in its record."""
    why = replace(server(Side.CHANGE, started=False), detail="port 8000 is taken")
    (shown,) = build_report(evidence(why), (), REFUSED)["servers"]
    assert shown["detail"] == "port 8000 is taken"
    assert shown["side"] == "change"
