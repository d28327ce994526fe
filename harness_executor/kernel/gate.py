"""May this task be called complete?"""

from collections.abc import Iterator

from harness_executor.kernel.checked import CheckResult, FindingKind
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import OWN, PREDEFINED, SCHEMATHESIS, Evidence, Finding, Meaning, Side
from harness_executor.kernel.scenario import Kind
from harness_executor.kernel.survey import ChangeSurveyed, objections

_NO_NEGATIVE = (
    "no negative case was shown: an unknown route or bad input must be turned away; "
    "where every path is answered, add a scenario of kind `negative`"
)


@frozen
class Claim:
    """What somebody wants to call complete."""

    task_id: str
    base_commit: str
    base_tree: str
    tree: str
    """The tree as it is now."""
    scenario_digest: str = ""
    """The digest the scenarios were frozen with; empty when they were not."""
    refactor: bool = False
    """The user said that nothing changes for a client."""
    checks: tuple[CheckResult, ...] = ()
    """Build, lint and tests as they were run for this claim; the evidence may have more."""
    tests_allowed: tuple[str, ...] = ()
    """What a person allowed the tree to do to tests."""
    control: tuple[str, ...] = ()
    """Control files of the tree that a person should have approved, and did not."""
    amended: tuple[str, ...] = ()
    """Scenarios that are not as they were frozen, as the verifier amended them."""
    added: tuple[str, ...] = ()
    """Scenarios that were written when the change was there: they can refuse it, and never prove it."""
    remarks: tuple[str, ...] = ()
    """What a reader of a refusal should know; no reason by itself."""


@frozen
class Verdict:
    """The answer of the gate, with every reason against."""

    accepted: bool
    reasons: tuple[str, ...]
    unverified: bool = False
    """Does nothing speak against the change, while there was nothing to run?"""


def judge(claim: Claim, evidence: Evidence | None, *, seal_is_valid: bool) -> Verdict:
    """Accept only evidence of this claim that proves the change and shows no harm."""
    if evidence is None:
        unseen = "the harness recorded no verification of this task"
        reasons = (unseen, *_checks(claim, claim.checks), *_control(claim), *claim.remarks)
        return Verdict(accepted=False, reasons=reasons)
    reasons = (
        *dict.fromkeys(_checks(claim, (*claim.checks, *evidence.checks))),
        *_control(claim),
        *_binding(claim, evidence, seal_is_valid=seal_is_valid),
        *(_yards(evidence) if evidence.yards else _servers(evidence)),
        *_behaviour(claim, evidence),
    )
    return Verdict(accepted=not reasons, reasons=(*reasons, *claim.remarks) if reasons else ())


def judge_unrun(claim: Claim, seen: ChangeSurveyed, *, seal_is_valid: bool) -> Verdict:
    """Let a change pass as unverified only if the harness itself found that there is nothing to run."""
    reasons = (
        *dict.fromkeys(_checks(claim, (*claim.checks, *seen.checks))),
        *_control(claim),
        *_about_this(claim, seen, seal_is_valid=seal_is_valid),
        *objections(seen.survey),
    )
    said = (*reasons, *claim.remarks) if reasons else ()
    return Verdict(accepted=False, reasons=said, unverified=not reasons)


def _binding(claim: Claim, evidence: Evidence, *, seal_is_valid: bool) -> Iterator[str]:
    yield from _about_this(claim, evidence, seal_is_valid=seal_is_valid)
    if claim.scenario_digest and evidence.scenario_digest != claim.scenario_digest:
        yield "the scenarios are not the ones frozen before the change was made"
    if claim.tree == claim.base_tree:
        yield "nothing changed: the tree equals the base"


def _about_this(claim: Claim, evidence: Evidence | ChangeSurveyed, *, seal_is_valid: bool) -> Iterator[str]:
    if not seal_is_valid:
        yield "the evidence was not recorded by this harness, or was altered: its seal does not fit"
    if evidence.task_id != claim.task_id:
        yield f"the evidence belongs to another task: {evidence.task_id or 'none'}"
    if evidence.base_commit != claim.base_commit:
        yield f"the evidence compares with another base: {evidence.base_commit[:12] or 'none'}"
    if evidence.tree != claim.tree:
        yield f"the code changed after it was verified: verified {evidence.tree[:12]}, now {claim.tree[:12]}"
    if evidence.tree_after != evidence.tree:
        yield "the code changed while it was being verified"


def _checks(claim: Claim, results: tuple[CheckResult, ...]) -> Iterator[str]:
    for result in results:
        if result.turned_red:
            why = [one.detail for one in result.findings if one.kind is FindingKind.STOPPED]
            yield f"the check {result.name} passes on base and fails on the change{_because(why)}"
        for finding in result.findings:
            if finding.blocks:
                yield f"the check {result.name} got worse: {finding}"
        for question in result.questions:
            if question not in claim.tests_allowed:
                yield f"nobody allowed this: {question}"


def _control(claim: Claim) -> Iterator[str]:
    for path in claim.control:
        yield f"nobody approved {path}, which can make another program run something"


def _servers(evidence: Evidence) -> Iterator[str]:
    for side in Side:
        servers = [server for server in evidence.servers if server.side is side]
        said = dict.fromkeys(server.detail for server in servers if server.detail)
        detail = "".join(f": {one}" for one in said)
        if side is Side.CHANGE and _starts_on_base_alone(evidence):
            yield f"the server did not start on change; if it needs another start, give --start CMD{detail}"
        elif not servers or not all(server.started for server in servers):
            yield f"the server did not start on {side.value}{detail}"
        elif not all(server.owns_port for server in servers):
            yield f"the server that answered for {side.value} is not proved to be ours{detail}"
        elif not all(server.stopped and server.port_free for server in servers):
            yield f"the server of {side.value} was not proved gone"


def _starts_on_base_alone(evidence: Evidence) -> bool:
    """Does the way to start fit the old code and no copy of the new?"""
    starts = {side: [one.started for one in evidence.servers if one.side is side] for side in Side}
    return all(starts.values()) and all(starts[Side.BASE]) and not any(starts[Side.CHANGE])


def _yards(evidence: Evidence) -> Iterator[str]:
    for side in Side:
        yards = [yard for yard in evidence.yards if yard.side is side]
        detail = "".join(f": {yard.detail}" for yard in yards if yard.detail)
        if not yards or detail or not all(yard.ran for yard in yards):
            yield f"no program could be run on {side.value}{detail}"
        elif not all(yard.gone for yard in yards):
            yield f"the box of {side.value} was not proved gone"


def _behaviour(claim: Claim, evidence: Evidence) -> Iterator[str]:
    for finding in (one for one in evidence.of(Meaning.REGRESSES) if not one.allowed):
        yield f"{finding.name} passed on base and fails now: {finding.reason}"
    for finding in _of_the_task(evidence.of(Meaning.MISSING)):
        yield f"{finding.name} fails on the change too: {finding.reason}"
    for finding in (one for one in evidence.of(Meaning.MISSING) if one.source == SCHEMATHESIS):
        yield f"{finding.name} fails, in a new operation: {finding.reason}"
    proofs = [
        one for one in evidence.of(Meaning.PROVES) if one.source not in OWN and one.name not in claim.added
    ]
    if claim.refactor:
        yield from _refactoring(evidence)
    elif not proofs:
        yield "no scenario failed before and passes now"
    elif all(proof.survived for proof in proofs):
        yield f"the proof is too weak: {_weakness(proofs[0])}"
    yield from _amended(claim, evidence)
    if evidence.yards:
        yield from _of_programs(evidence)
    elif not any(_is_good_negative(finding) for finding in evidence.findings):
        yield _NO_NEGATIVE
    shown = [finding for finding in evidence.findings if finding.source not in OWN and _passes(finding)]
    if shown and all(finding.kind is Kind.NEGATIVE for finding in shown):
        yield "every scenario is negative: none shows the program still doing its work"


def _amended(claim: Claim, evidence: Evidence) -> Iterator[str]:
    """One that was amended has to prove by itself: others cannot stand in for what it lost."""
    for finding in evidence.findings:
        if finding.name not in claim.amended or not _passes(finding):
            continue
        if finding.kind in (Kind.NEW, Kind.CHANGED) and finding.meaning is not Meaning.PROVES:
            yield f"{finding.name} was amended and proves nothing any more"
        if finding.survived:
            yield f"a scenario was amended and is too weak: {_weakness(finding)}"


def _of_programs(evidence: Evidence) -> Iterator[str]:
    """Programs have no route that must be unknown, and no start that shows that the base can be run."""
    useful = [finding for finding in evidence.of(Meaning.HOLDS) if _shows_life(finding)]
    has_negative = any(_is_good_negative(finding) for finding in evidence.findings)
    if not has_negative and all(finding.source == "harness" for finding in useful):
        yield "neither a negative case was shown nor one that holds: the program may say yes to everything"
    begun = any(finding.worked_before for finding in evidence.findings if finding.source != "harness")
    if not useful and not begun:
        yield "nothing worked on base, so nothing was compared with it: add a scenario that holds there"
    for finding in evidence.of(Meaning.PROVES):
        if finding.source == "harness" and finding.kind is Kind.UNCHANGED:
            yield f"{finding.name}, but not on base: what failed there may lack nothing but a package"


def _shows_life(finding: Finding) -> bool:
    """Refusing is no sign of life, nor is it that a module fails for another reason than a package."""
    is_search = finding.source == "harness" and finding.kind is Kind.UNCHANGED
    return finding.kind is not Kind.NEGATIVE and not is_search


def _refactoring(evidence: Evidence) -> Iterator[str]:
    held = [finding for finding in evidence.of(Meaning.HOLDS) if finding.source not in OWN]
    if not held:
        yield "a refactoring needs at least one scenario that holds"
    # what the harness tries of programs is a sign of life, and no promise that must be kept
    aside = "harness" if evidence.yards else PREDEFINED
    for finding in (one for one in _of_the_task(evidence.of(Meaning.NOISY)) if one.source != aside):
        yield f"{finding.name} is noisy: a refactoring needs every scenario to hold"
    for finding in (one for one in _of_the_task(evidence.of(Meaning.PROVES)) if one.source != aside):
        yield f"{finding.name} failed on base: a refactoring needs every scenario to hold"


def _of_the_task(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Those that are about the change; what is kept or drawn and fails anyway is a matter of its own."""
    return tuple(finding for finding in findings if finding.source not in (PREDEFINED, SCHEMATHESIS))


def _is_good_negative(finding: Finding) -> bool:
    return finding.kind is Kind.NEGATIVE and _passes(finding)


def _passes(finding: Finding) -> bool:
    return finding.meaning in (Meaning.HOLDS, Meaning.PROVES)


def _because(why: list[str]) -> str:
    return f": {', '.join(why)}" if why else ""


def _weakness(finding: Finding) -> str:
    return f"{finding.name} would also pass with {', '.join(finding.survived)}"
