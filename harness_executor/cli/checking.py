"""The part of `harness verify` that is about the project's own checks."""

import argparse
from collections.abc import Iterator
from dataclasses import replace

from harness_executor.errors import UsageError
from harness_executor.evidence.examination import Examination
from harness_executor.kernel.checked import CheckResult, silent
from harness_executor.kernel.report import Evidence
from harness_executor.kernel.survey import ChangeSurveyed
from harness_executor.redaction import Redactor
from harness_executor.store.cleaning import clean_value
from harness_executor.workspace.project import Project

_ALL, _NONE = "all", "none"


def chosen_checks(options: argparse.Namespace, project: Project) -> tuple[str, ...]:
    """The checks that are to be run; refuses a name that base does not declare."""
    if options.checks == _ALL:
        return tuple(project.checks)
    if options.checks == _NONE:
        return ()
    names = tuple(name.strip() for name in options.checks.split(",") if name.strip())
    unknown = [name for name in names if name not in project.checks]
    if unknown or not names:
        known = ", ".join(project.checks) or "none"
        raise UsageError(
            f"--checks {options.checks!r} names no check of base: {', '.join(unknown) or 'nothing'}",
            hint=f"base declares {known} in harness/environment.json",
        )
    return names


def with_results(
    examination: Examination, results: tuple[CheckResult, ...], project: Project, redactor: Redactor
) -> Examination:
    """The examination with what the checks showed, and the names of those that were not run."""
    checks = clean_value(silent(results), redactor.clean)
    evidence = replace(examination.evidence, checks=checks, unchecked=left_out(project, results))
    return replace(examination, evidence=evidence, about=replace(examination.about, checks=results))


def left_out(project: Project, results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    """The checks of base that were not run."""
    run = {result.name for result in results}
    missed = (name for name in project.checks if name not in run)
    return tuple(dict.fromkeys((*missed, *project.dropped)))


def check_lines(evidence: Evidence | ChangeSurveyed) -> Iterator[str]:
    """One line for each check, and one for each thing it found."""
    words = {True: "pass", False: "fail"}
    for result in evidence.checks:
        counted = f", {result.base_tests} → {result.change_tests} tests" if result.base_tests else ""
        yield f"check {result.name}: {words[result.base_passed]} → {words[result.change_passed]}{counted}"
        for finding in result.findings:
            yield f"  - {finding}" + (f" (allowed by {finding.allowed!r})" if finding.allowed else "")
    if evidence.unchecked:
        yield f"not checked: {', '.join(evidence.unchecked)}"
