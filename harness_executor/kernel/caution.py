"""What a reader should know of evidence that refuses nothing by itself."""

from collections.abc import Iterator

from harness_executor.kernel.report import OWN, PREDEFINED, SCHEMATHESIS, Evidence, Finding, Meaning


def cautions(evidence: Evidence) -> tuple[str, ...]:
    """One line for each."""
    return (*_cautions(evidence), *_unrelated(evidence), *_retired(evidence), *_drawn(evidence))


def _cautions(evidence: Evidence) -> Iterator[str]:
    proofs = [finding for finding in evidence.findings if _is_proof(finding)]
    if proofs and not any(proof.held_out for proof in proofs):
        names = ", ".join(proof.name for proof in proofs)
        yield f"nothing was held out: {names} asks the same in every run; draw with {{{{ random.word }}}}"


def _unrelated(evidence: Evidence) -> Iterator[str]:
    for finding in evidence.findings:
        if finding.source == PREDEFINED and finding.meaning in (Meaning.MISSING, Meaning.NOISY):
            what = f"({finding.meaning.value}): {finding.reason}"
            yield f"kept scenario {finding.name} says nothing here {what}"


def _retired(evidence: Evidence) -> Iterator[str]:
    for finding in evidence.findings:
        if finding.allowed:
            what = f"(allowed by {finding.allowed!r}): {finding.reason}"
            yield f"kept scenario {finding.name} is given up {what}"


def _drawn(evidence: Evidence) -> Iterator[str]:
    for finding in evidence.of(Meaning.NOISY):
        if finding.source == SCHEMATHESIS:
            yield f"{finding.name}: {finding.reason}"


def _is_proof(finding: Finding) -> bool:
    return finding.meaning is Meaning.PROVES and finding.source not in OWN
