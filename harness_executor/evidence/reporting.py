"""The report others read, written by the harness from what it observed."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, assert_never

from harness_executor.evidence.rendering.telling import outcome
from harness_executor.kernel.caution import cautions
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.effects import side_effects_verified
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.gate import Verdict
from harness_executor.kernel.report import (
    OWN,
    PREDEFINED,
    Evidence,
    Exchange,
    Execution,
    Meaning,
    Observation,
    ScenarioRun,
    Side,
    StepRun,
)
from harness_executor.kernel.survey import ChangeSurveyed

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
    designed = [view for view in observations if view.finding.source not in (*OWN, PREDEFINED)]
    suite = [view for view in observations if view.finding.source == PREDEFINED]
    own = [view for view in observations if view.finding.source in OWN]
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
        "launches": [asdict(launch) for launch in evidence.started],
        "task_specific_scenarios": [_scenario(view) for view in designed],
        "predefined_scenarios": [_scenario(view) for view in suite],
        "additional_checks": [_scenario(view) for view in own],
        "control_files": [asdict(file) for file in evidence.control],
        "checks": [_check(result) for result in evidence.checks],
        "checks_not_run": list(evidence.unchecked),
        "claims": [],
        "warnings": list(cautions(evidence)),
        "summary": {**_summary(designed, own), **_kept(suite)},
    }


def unrun_report(seen: ChangeSurveyed, verdict: Verdict) -> dict[str, Any]:
    """verification-report.json of a change that was looked at and not run."""
    return {
        "overall_status": "skip" if verdict.unverified else "fail",
        "skip_reason": seen.reason if verdict.unverified else "",
        "accepted": False,
        "unverified": verdict.unverified,
        "reasons": list(verdict.reasons),
        "task_id": seen.task_id,
        "base_commit": seen.base_commit,
        "tree": seen.tree,
        "recorded_by": "harness_executor",
        "files": [asdict(file) for file in seen.survey.touched],
        "programs": list(seen.survey.programs),
        "server": {"started": False, "ready_in_seconds": 0.0, "stopped_cleanly": True},
        "servers": [],
        "task_specific_scenarios": [],
        "predefined_scenarios": [],
        "additional_checks": [],
        "control_files": [asdict(file) for file in seen.survey.control],
        "checks": [_check(result) for result in seen.checks],
        "checks_not_run": list(seen.unchecked),
        "claims": [],
        "warnings": ["nothing was run: no scenario and no server speaks for this change"],
        "summary": {**_summary([], []), **_kept([])},
    }


def _check(result: CheckResult) -> dict[str, Any]:
    plain = asdict(result)
    del plain["output"]
    return {**plain, "blocks": result.blocks, "to_be_allowed": list(result.questions)}


def _summary(designed: list[Observation], own: list[Observation]) -> dict[str, Any]:
    passed = _passed(designed)
    return {
        "task_specific_total": len(designed),
        "task_specific_passed": len(passed),
        "additional_checks_total": len(own),
        "additional_checks_passed": len(_passed(own)),
        "pass_rate": round(len(passed) / len(designed), 3) if designed else 0,
    }


def _kept(suite: list[Observation]) -> dict[str, int]:
    return {"predefined_total": len(suite), "predefined_passed": len(_passed(suite))}


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
        "side_effects_verified": side_effects_verified(view.scenario),
        "meaning": finding.meaning.value,
        "reason": finding.reason,
        "before": outcome(view.base),
        "after": outcome(view.change),
        "mutants": {
            "made": finding.mutants,
            "noticed": finding.killed,
            "unnoticed_classes": list(finding.survived),
            "overlooked_classes": list(finding.overlooked),
        },
        "held_out": finding.held_out,
        "steps": [_step(step) for step in view.change[0].steps] if view.change else [],
        "base_steps": [_step(step) for step in view.base[0].steps] if view.base else [],
        "duration_seconds": _seconds(view.change[0]) if view.change else 0,
    }


def _step(step: StepRun) -> dict[str, Any]:
    return {
        "description": step.description or step.exchange.asked,
        **_deed(step),
        "assertions": [
            {"type": check.type, "expected": check.expected, "actual": check.actual, "passed": check.passed}
            for check in step.assertions
        ],
        "passed": step.passed,
    }


def _deed(step: StepRun) -> Mapping[str, Any]:
    deed = step.exchange
    match deed:
        case Exchange():
            asked = {"method": deed.method, "url": deed.url, "headers": dict(deed.headers), "body": deed.body}
            hops = {"redirects": [_hop(hop) for hop in deed.hops]} if deed.hops else {}
            return {"request": asked, "response": _response(step), **hops}
        case Execution():
            asked = {"stdin": deed.stdin, "env": dict(deed.env), "files": dict(deed.files)}
            return {"command": list(deed.argv), **asked, **_ending(deed)}
    assert_never(deed)


def _hop(hop: Exchange) -> Mapping[str, Any]:
    answer = hop.answer
    return {
        "method": hop.method,
        "url": hop.url,
        "status": answer.status if answer else None,
        "location": answer.header("location") if answer else None,
    }


def _ending(deed: Execution) -> Mapping[str, Any]:
    if not isinstance(deed.answer, Ended):
        return {"error": deed.error}
    ended = deed.answer
    return {
        "exit_code": ended.status,
        "stdout": ended.body,
        "stderr": ended.stderr,
        "files_found": dict(ended.files),
        "duration_ms": ended.latency_ms,
    }


def _response(step: StepRun) -> Mapping[str, Any]:
    answer = step.exchange.answer
    if answer is None:
        return {"error": step.exchange.error}
    return {
        "status": answer.status,
        "headers": _headers(answer.headers),
        "body": answer.body,
        "latency_ms": answer.latency_ms,
    }


def _headers(pairs: tuple[tuple[str, str], ...]) -> dict[str, str | list[str]]:
    """Each header with its value; one that was sent several times, such as set-cookie, with all of them."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: many if len(many) > 1 else many[0] for name, many in values.items()}


def _seconds(run: ScenarioRun) -> float:
    answers = [step.exchange.answer for step in run.steps]
    return round(sum(answer.latency_ms for answer in answers if answer) / 1000, 3)
