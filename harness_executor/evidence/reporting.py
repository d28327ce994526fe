"""The report others read, written by the harness from what it observed."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness_executor.kernel.gate import Verdict
from harness_executor.kernel.report import Evidence, Meaning, Observation, ScenarioRun, Side, StepRun

_SCENARIO_STATUS = {
    Meaning.PROVES: "pass",
    Meaning.HOLDS: "pass",
    Meaning.REGRESSES: "fail",
    Meaning.MISSING: "fail",
    Meaning.NOISY: "skipped",
}


def build_report(
    evidence: Evidence, observations: tuple[Observation, ...], verdict: Verdict
) -> dict[str, Any]:
    """verification-report.json, in the fields readers know, plus what binds it."""
    designed = [view for view in observations if view.finding.source != "harness"]
    own = [view for view in observations if view.finding.source == "harness"]
    changed = [server for server in evidence.servers if server.side is Side.CHANGE]
    return {
        "overall_status": "pass" if verdict.accepted else "partial" if _passed(designed) else "fail",
        "accepted": verdict.accepted,
        "reasons": list(verdict.reasons),
        "task_id": evidence.task_id,
        "run_id": evidence.run_id,
        "base_commit": evidence.base_commit,
        "tree": evidence.tree,
        "scenario_digest": evidence.scenario_digest,
        "exchange_digest": evidence.exchange_digest,
        "assurance": evidence.assurance.value,
        "recorded_by": "harness_executor",
        "server": {
            "started": bool(changed) and all(server.started for server in changed),
            "ready_in_seconds": max((server.ready_in_seconds for server in changed), default=0.0),
            "stopped_cleanly": all(server.stopped and server.port_free for server in evidence.servers),
        },
        "servers": [_server(server) for server in evidence.servers],
        "task_specific_scenarios": [_scenario(view) for view in designed],
        "predefined_scenarios": [],
        "additional_checks": [_scenario(view) for view in own],
        "control_files": [asdict(file) for file in evidence.control],
        "claims": [],
        "summary": _summary(designed, own),
    }


def _summary(designed: list[Observation], own: list[Observation]) -> dict[str, Any]:
    passed = _passed(designed)
    return {
        "task_specific_total": len(designed),
        "task_specific_passed": len(passed),
        "predefined_total": 0,
        "predefined_passed": 0,
        "additional_checks_total": len(own),
        "additional_checks_passed": len(_passed(own)),
        "pass_rate": round(len(passed) / len(designed), 3) if designed else 0,
    }


def _passed(views: list[Observation]) -> list[Observation]:
    return [view for view in views if _SCENARIO_STATUS[view.finding.meaning] == "pass"]


def _server(server: Any) -> dict[str, Any]:
    return {
        "side": server.side.value,
        "run": server.run,
        "started": server.started,
        "owns_port": server.owns_port,
        "ready_in_seconds": server.ready_in_seconds,
        "stopped": server.stopped,
        "port_free": server.port_free,
        "detail": server.detail,
    }


def _scenario(view: Observation) -> dict[str, Any]:
    finding = view.finding
    return {
        "name": finding.name,
        "kind": finding.kind.value,
        "source": finding.source,
        "why": view.scenario.why,
        "status": _SCENARIO_STATUS[finding.meaning],
        "meaning": finding.meaning.value,
        "reason": finding.reason,
        "before": _outcome(view.base),
        "after": _outcome(view.change),
        "mutants": {
            "made": finding.mutants,
            "noticed": finding.killed,
            "unnoticed_classes": list(finding.survived),
        },
        "steps": [_step(step) for step in view.change[0].steps] if view.change else [],
        "base_steps": [_step(step) for step in view.base[0].steps] if view.base else [],
        "duration_seconds": _seconds(view.change[0]) if view.change else 0,
    }


def _outcome(runs: tuple[ScenarioRun, ...]) -> str:
    passed = {run.passed for run in runs}
    return "differs" if len(passed) > 1 else "pass" if passed == {True} else "fail"


def _step(step: StepRun) -> dict[str, Any]:
    exchange = step.exchange
    return {
        "description": step.description or f"{exchange.method} {exchange.url}",
        "request": {
            "method": exchange.method,
            "url": exchange.url,
            "headers": dict(exchange.headers),
            "body": exchange.body,
        },
        "response": _response(step),
        "assertions": [
            {"type": check.type, "expected": check.expected, "actual": check.actual, "passed": check.passed}
            for check in step.assertions
        ],
        "passed": step.passed,
    }


def _response(step: StepRun) -> Mapping[str, Any]:
    answer = step.exchange.answer
    if answer is None:
        return {"error": step.exchange.error}
    return {
        "status": answer.status,
        "headers": dict(answer.headers),
        "body": answer.body,
        "latency_ms": answer.latency_ms,
    }


def _seconds(run: ScenarioRun) -> float:
    answers = [step.exchange.answer for step in run.steps]
    return round(sum(answer.latency_ms for answer in answers if answer) / 1000, 3)
