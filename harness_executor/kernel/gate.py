"""May this task be called complete?"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness_executor.kernel.report import Evidence, Finding, Meaning, Side
from harness_executor.kernel.scenario import Kind


@dataclass(frozen=True)
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
    checks_failed: tuple[str, ...] = ()
    """Checks that pass on base and fail on the change."""
    control: tuple[str, ...] = ()
    """Control files of the tree that a person should have approved, and did not."""
    remarks: tuple[str, ...] = ()
    """What a reader of a refusal should know; no reason by itself."""


@dataclass(frozen=True)
class Verdict:
    """The answer of the gate, with every reason against."""

    accepted: bool
    reasons: tuple[str, ...]


def judge(claim: Claim, evidence: Evidence | None, *, seal_is_valid: bool) -> Verdict:
    """Accept only evidence of this claim that proves the change and shows no harm."""
    if evidence is None:
        unseen = "the harness recorded no verification of this task"
        return Verdict(accepted=False, reasons=(unseen, *_checks(claim), *_control(claim), *claim.remarks))
    reasons = (
        *_checks(claim),
        *_control(claim),
        *_binding(claim, evidence, seal_is_valid=seal_is_valid),
        *_servers(evidence),
        *_behaviour(claim, evidence),
    )
    return Verdict(accepted=not reasons, reasons=(*reasons, *claim.remarks) if reasons else ())


def _binding(claim: Claim, evidence: Evidence, *, seal_is_valid: bool) -> Iterator[str]:
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
    if claim.scenario_digest and evidence.scenario_digest != claim.scenario_digest:
        yield "the scenarios are not the ones frozen before the change was made"
    if claim.tree == claim.base_tree:
        yield "nothing changed: the tree equals the base"


def _checks(claim: Claim) -> Iterator[str]:
    for name in claim.checks_failed:
        yield f"the check {name} passes on base and fails on the change"


def _control(claim: Claim) -> Iterator[str]:
    for path in claim.control:
        yield f"nobody approved {path}, which can make another program run something"


def _servers(evidence: Evidence) -> Iterator[str]:
    for side in Side:
        servers = [server for server in evidence.servers if server.side is side]
        detail = "".join(f": {server.detail}" for server in servers if server.detail)
        if not servers or not all(server.started for server in servers):
            yield f"the server did not start on {side.value}{detail}"
        elif not all(server.owns_port for server in servers):
            yield f"the server that answered for {side.value} is not proved to be ours{detail}"
        elif not all(server.stopped and server.port_free for server in servers):
            yield f"the server of {side.value} was not proved gone"


def _behaviour(claim: Claim, evidence: Evidence) -> Iterator[str]:
    for finding in evidence.of(Meaning.REGRESSES):
        yield f"{finding.name} passed on base and fails now: {finding.reason}"
    for finding in evidence.of(Meaning.MISSING):
        yield f"{finding.name} fails on the change too: {finding.reason}"
    proofs = [finding for finding in evidence.of(Meaning.PROVES) if finding.source != "harness"]
    if claim.refactor:
        yield from _refactoring(evidence)
    elif not proofs:
        yield "no scenario failed before and passes now"
    elif all(proof.survived for proof in proofs):
        yield f"the proof is too weak: {_weakness(proofs[0])}"
    if not any(_is_good_negative(finding) for finding in evidence.findings):
        yield "no negative case was shown: an unknown route or bad input must be turned away"
    shown = [finding for finding in evidence.findings if finding.source != "harness" and _passes(finding)]
    if shown and all(finding.kind is Kind.NEGATIVE for finding in shown):
        yield "every scenario is negative: none shows the program still doing its work"


def _refactoring(evidence: Evidence) -> Iterator[str]:
    held = [finding for finding in evidence.of(Meaning.HOLDS) if finding.source != "harness"]
    if not held:
        yield "a refactoring needs at least one scenario that holds"
    for finding in evidence.of(Meaning.NOISY):
        yield f"{finding.name} is noisy: a refactoring needs every scenario to hold"
    for finding in evidence.of(Meaning.PROVES):
        yield f"{finding.name} failed on base: a refactoring needs every scenario to hold"


def _is_good_negative(finding: Finding) -> bool:
    return finding.kind is Kind.NEGATIVE and _passes(finding)


def _passes(finding: Finding) -> bool:
    return finding.meaning in (Meaning.HOLDS, Meaning.PROVES)


def _weakness(finding: Finding) -> str:
    return f"{finding.name} would also pass with {', '.join(finding.survived)}"
