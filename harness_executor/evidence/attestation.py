"""What is attested of an accepted verification, as in-toto's test-result, and whether it still holds."""

import hashlib
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from harness_executor import __version__
from harness_executor.errors import Refused
from harness_executor.evidence.account import EVIDENCE, Account, read_kept, sha256
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Meaning

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
FILE = "attestation.json"
_PASSING = (Meaning.PROVES, Meaning.HOLDS)


@frozen
class Wanted:
    """What an attestation has to be about."""

    commit: str
    tree: str
    base: str = ""
    """The base commit, where one is asked for."""
    sandboxed: bool = False
    """Must it have been recorded in a box?"""


@frozen
class Attested:
    """A statement that was signed, by its parts."""

    subject: Mapping[str, str]
    base: Mapping[str, str]
    files: Mapping[str, str]
    about: Mapping[str, Any]
    predicate: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        """The verification this is about."""
        return str(self.about["run_id"])


def statement_of(account: Account, folder: Path, commit: str = "") -> dict[str, Any]:
    """The statement about an accepted verification; a refused one has nothing to attest."""
    if not account.verdict.accepted:
        reasons = "; ".join(account.verdict.reasons)
        raise Refused(f"the gate refused this verification: {reasons}", hint="only accepted ones can be")
    findings = account.evidence.findings
    aside = [one.name for one in findings if one.meaning is Meaning.NOISY or one.is_unrelated or one.allowed]
    failed = [one.name for one in findings if one.is_against]
    trees = {"digest": {"gitTree": account.evidence.tree}, "name": "tree"}
    commits = [{"digest": {"gitCommit": commit}, "name": "commit"}] if commit else []
    predicate = {
        "result": "PASSED",
        "configuration": list(_configuration(account, folder)),
        "passedTests": [one.name for one in findings if one.meaning in _PASSING],
        "warnedTests": aside,
        "failedTests": failed,
    }
    subject = [*commits, trees]
    return {"_type": STATEMENT, "subject": subject, "predicateType": PREDICATE, "predicate": predicate}


def _configuration(account: Account, folder: Path) -> Iterator[dict[str, Any]]:
    evidence = account.evidence
    yield {"name": "base", "digest": {"gitCommit": evidence.base_commit, "gitTree": evidence.base_tree}}
    yield {"name": "scenarios", "digest": {"sha256": evidence.scenario_digest}}
    yield {"name": "exchanges", "digest": {"sha256": evidence.exchange_digest}}
    yield {"name": "harness-executor", "digest": {"sha256": _own_digest()}, "annotations": _tools(account)}
    about = {
        "run_id": evidence.run_id,
        "task_id": evidence.task_id,
        "assurance": evidence.assurance.value,
        "accepted": account.verdict.accepted,
        "reasons": list(account.verdict.reasons),
        "refactor": account.refactor,
        "began": account.began,
        "meanings": {one.name: one.meaning.value for one in evidence.findings},
        "checks": {one.name: not one.blocks for one in evidence.checks},
        "launches": {one.side.value: [one.command, one.origin.value] for one in evidence.started},
        "control_files": [file.path for file in evidence.control],
    }
    sealed = sha256((folder / EVIDENCE).read_bytes())
    yield {"name": "verification", "digest": {"sha256": sealed}, "annotations": about}
    for name, digest in {**evidence.kept, EVIDENCE: sealed}.items():
        yield {"name": f"evidence/{name}", "digest": {"sha256": digest}}


def _tools(account: Account) -> dict[str, str]:
    return {
        "version": __version__,
        "recorded_by": account.program,
        "python": platform.python_version(),
        "system": platform.system(),
    }


@cache
def _own_digest() -> str:
    """Of every module of this program, with its name."""
    root = Path(__file__).parent.parent
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        whole.update(f"{path.relative_to(root).as_posix()} {sha256(path.read_bytes())}\n".encode())
    return whole.hexdigest()


def read_statement(statement: Mapping[str, Any]) -> Attested:
    """The parts of a statement whose signature was checked; refused when it is of another kind."""
    try:
        if (statement["_type"], statement["predicateType"]) != (STATEMENT, PREDICATE):
            raise ValueError(f"{statement['predicateType']} is not {PREDICATE}")
        subject = {kind: value for one in statement["subject"] for kind, value in one["digest"].items()}
        parts = {one["name"]: one for one in statement["predicate"]["configuration"]}
        files = {
            name.removeprefix("evidence/"): str(one["digest"]["sha256"])
            for name, one in parts.items()
            if name.startswith("evidence/")
        }
        about = parts["verification"]["annotations"]
        return Attested(subject, parts["base"]["digest"], files, about, statement["predicate"])
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise Refused(f"the statement is of another kind: {error}", hint="use another tool") from error


def objections(attested: Attested, wanted: Wanted) -> tuple[str, ...]:
    """Everything that keeps a signed statement from being about what is wanted."""
    return tuple(_objections(attested, wanted))


def _objections(attested: Attested, wanted: Wanted) -> Iterator[str]:
    commit = attested.subject.get("gitCommit", "")
    if commit and commit != wanted.commit:
        yield f"it is about another commit: {commit[:12]}"
    tree = attested.subject.get("gitTree", "none")
    if tree != wanted.tree:
        yield f"the tree moved: attested {tree[:12]}, now {wanted.tree[:12]}"
    if attested.predicate.get("result") != "PASSED" or attested.about.get("accepted") is not True:
        yield f"the result is {attested.predicate.get('result')}, not PASSED"
    if attested.predicate.get("failedTests"):
        yield f"tests failed: {', '.join(map(str, attested.predicate['failedTests']))}"
    if wanted.sandboxed and attested.about.get("assurance") != Assurance.SANDBOXED:
        yield f"it was recorded {attested.about.get('assurance')}, not in a box"
    if wanted.base and attested.base.get("gitCommit") != wanted.base:
        yield f"it compares with another base: {attested.base.get('gitCommit', 'none')[:12]}"


def check_files(attested: Attested, folder: Path) -> None:
    """Refuse when a file of the evidence is missing, or not as it was attested."""
    for name, digest in attested.files.items():
        read_kept(folder, name, digest)
