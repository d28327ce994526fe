"""The account as JSON: the report that others know, and everything that binds it."""

import json
from dataclasses import asdict

from harness_executor.evidence.account import Account
from harness_executor.evidence.reporting import build_report
from harness_executor.kernel.invisible import escaped


def render(account: Account) -> str:
    """verification-report.json, with checks, timing and the files of the run."""
    report = build_report(account.evidence, account.observations, account.verdict)
    report |= {
        "request": account.request,
        "refactor": account.refactor,
        "began": account.began,
        "redacted": account.redacted,
        "checks": [asdict(result) for result in account.checks],
        "timeline": [asdict(span) for span in account.spans],
        "evidence_files": dict(account.evidence.kept),
        "harness_version": account.program,
    }
    return escaped(json.dumps(report, indent=2, ensure_ascii=False))
