"""Attestations: verified by others, bound to commit, tree and evidence, and refused when anything moved."""

import base64
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult as ResultMessage
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage

from harness_executor.errors import Refused
from harness_executor.evidence.attestation import FILE, PREDICATE, Wanted
from harness_executor.evidence.envelope import opened, read_envelope, signed
from harness_executor.evidence.notary import Notary, notary_for
from harness_executor.kernel.report import PREDEFINED, Meaning
from harness_executor.store.layout import Layout
from harness_executor.store.seal import Seal
from harness_executor.store.signing import Signer
from harness_executor.workspace.notes import REF
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git
from tests.evidence.accounts import BAD, GOOD, HARM, PROOF, RUN, account, on_disk


class Project:
    """A repository with a base, a change, and an accepted verification of it."""

    def __init__(self, folder: Path, text: str = "new\n") -> None:
        self.root = folder / "repo"
        self.root.mkdir(parents=True)
        git(self.root, "init", "--quiet", "--initial-branch=main")
        (self.root / "a.txt").write_text("old\n")
        self.base = commit_all(self.root, "base")
        (self.root / "a.txt").write_text(text)
        self.commit = commit_all(self.root, "change")
        repository, layout = open_repository(self.root), Layout(self.root)
        self.tree = repository.tree_of(self.commit)
        seal, signer = Seal(folder / "state" / "key"), Signer(folder / "state" / "signing-key")
        self.notary = Notary(repository, layout, seal, signer, folder / "scratch")
        self.run = on_disk(account(PROOF, tree=self.tree, base=self.base), layout.runs, seal)
        self.keys = (signer.public,)

    def wanted(self) -> Wanted:
        """The commit as it is now."""
        commit = git(self.root, "rev-parse", "HEAD")
        return Wanted(commit, git(self.root, "rev-parse", "HEAD^{tree}"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project on this machine."""
    return Project(tmp_path)


def test_an_attestation_holds_for_its_commit(project: Project) -> None:
    """What was signed is found in the note, and is about commit, tree, base and evidence."""
    envelope = project.notary.attest(project.run, project.commit)
    found = project.notary.check(project.wanted(), project.keys)
    assert found.subject == {"gitCommit": project.commit, "gitTree": project.tree}
    assert found.base["gitCommit"] == project.base
    assert found.run_id == RUN
    assert (project.run / FILE).read_text() == envelope.text
    assert git(project.root, "notes", "--ref=harness", "show", project.commit) == envelope.text.strip()
    assert project.notary.attest(project.run, project.commit) == envelope
    assert len(project.notary.notes.read(project.commit).splitlines()) == 1


def test_the_statement_is_what_in_toto_defines(project: Project) -> None:
    """The packages of in-toto read statement and predicate, with no field they do not know."""
    envelope = json.loads(project.notary.attest(project.run, project.commit).text)
    data = json.loads(base64.b64decode(envelope["payload"]))
    message = ParseDict(data, StatementMessage())
    Statement.copy_from_pb(message).validate()
    assert message.predicate_type == PREDICATE
    result = ParseDict(data["predicate"], ResultMessage())
    assert result.result == "PASSED"
    assert list(result.passed_tests) == ["stats"]
    named = {one.name: dict(one.digest) for one in result.configuration}
    assert named["base"]["gitCommit"] == project.base
    assert {"scenarios", "exchanges", "harness-executor", "verification", "evidence/account.json"} <= set(
        named
    )


def test_a_tree_that_was_verified_before_it_was_committed(project: Project) -> None:
    """Without a commit the tree is attested, and any commit of that tree is accepted."""
    project.notary.attest(project.run)
    assert project.notary.check(project.wanted(), project.keys).subject == {"gitTree": project.tree}
    git(project.root, "update-ref", "-d", REF)
    assert project.notary.check(project.wanted(), project.keys).run_id == RUN


def test_whatever_moved_is_refused(project: Project) -> None:
    """An amended commit, another tree, another base and another assurance are refused, with the reason."""
    project.notary.attest(project.run, project.commit)
    line = project.notary.notes.read(project.commit).decode()
    wanted = project.wanted()
    with pytest.raises(Refused, match="another base"):
        project.notary.check(replace(wanted, base=project.commit), project.keys)
    assert project.notary.check(replace(wanted, base=project.base, sandboxed=True), project.keys)
    (project.root / "a.txt").write_text("newer\n")
    moved = commit_all(project.root, "more")
    with pytest.raises(Refused, match="no attestation"):
        project.notary.check(project.wanted(), project.keys)
    project.notary.notes.add(moved, line)
    with pytest.raises(Refused, match="another commit") as refused:
        project.notary.check(project.wanted(), project.keys)
    assert "the tree moved" in str(refused.value)


def test_a_note_of_another_repository_is_refused(project: Project, tmp_path: Path) -> None:
    """A note that was made elsewhere, even with the same key, is about another commit."""
    other = Project(tmp_path / "other", "something else\n")
    other = _with_key(other, project)
    line = other.notary.attest(other.run, other.commit).text
    project.notary.notes.add(project.commit, line)
    with pytest.raises(Refused, match="another commit"):
        project.notary.check(project.wanted(), project.keys)


def _with_key(other: Project, project: Project) -> Project:
    other.notary = replace(other.notary, signer=project.notary.signer)
    return other


def test_every_single_bit_of_note_and_evidence_counts(project: Project) -> None:
    """One flipped bit of an evidence file is refused, and so is one of the attestation beside it."""
    project.notary.attest(project.run, project.commit)
    for path in sorted(path for path in project.run.iterdir() if path.name != FILE):
        whole = path.read_bytes()
        for at in range(0, len(whole) * 8, max(1, len(whole) * 8 // 40)):
            flipped = bytearray(whole)
            flipped[at // 8] ^= 1 << at % 8
            path.write_bytes(flipped)
            with pytest.raises(Refused, match="altered"):
                project.notary.check(project.wanted(), project.keys)
        path.write_bytes(whole)
    file = project.run / FILE
    whole = file.read_bytes()
    for at in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        assert not _is_opened(bytes(flipped), project), f"bit {at} of {len(whole)} bytes"
    file.write_bytes(whole[:-2])
    with pytest.raises(Refused):
        project.notary.check(project.wanted(), project.keys, file)
    file.write_bytes(whole)
    assert project.notary.check(project.wanted(), project.keys, file).run_id == RUN


def _is_opened(content: bytes, project: Project) -> bool:
    try:
        opened(read_envelope(content), project.keys)
    except Refused:
        return False
    return True


def test_evidence_may_be_elsewhere_and_not_in_part(project: Project) -> None:
    """Without the folder the signed digests stand alone; a folder with a file missing is refused."""
    project.notary.attest(project.run, project.commit)
    (project.run / "evidence.json").unlink()
    with pytest.raises(Refused, match="missing"):
        project.notary.check(project.wanted(), project.keys)
    shutil.rmtree(project.run)
    assert project.notary.check(project.wanted(), project.keys).run_id == RUN


def test_only_what_was_accepted_is_signed(project: Project, tmp_path: Path) -> None:
    """A refused verification, and a commit that has another tree, are not attested."""
    refused = on_disk(BAD, tmp_path / "bad", project.notary.seal)
    with pytest.raises(Refused, match="the gate refused"):
        project.notary.attest(refused)
    with pytest.raises(Refused, match="is not what was verified"):
        project.notary.attest(project.run, project.base)


def test_statements_of_another_kind_are_refused(project: Project) -> None:
    """A signature of ours over something else is no attestation."""
    kinds: tuple[dict[str, Any], ...] = ({"_type": "x"}, {"predicateType": "y", "_type": "x"}, {"list": []})
    for statement in kinds:
        file = project.run / "other.json"
        file.write_text(signed(statement, project.notary.signer).text)
        with pytest.raises(Refused, match="another kind"):
            project.notary.check(project.wanted(), project.keys, file)


def test_a_key_inside_the_project_is_not_used(project: Project) -> None:
    """Programs of the project could read it there."""
    inside = replace(project.notary, signer=Signer(project.root / "key"))
    with pytest.raises(Refused, match="lies in the project"):
        inside.attest(project.run, project.commit)


def test_the_key_of_this_machine_is_the_default(project: Project, home: Path) -> None:
    """Without another, the key lies in the state home."""
    notary = notary_for(project.notary.repository, project.notary.layout, project.notary.seal)
    assert notary.signer.path == home / ".local" / "state" / "harness-executor" / "signing-key"
    assert GOOD.verdict.accepted


def test_a_note_with_a_line_that_is_none_still_holds(project: Project, tmp_path: Path) -> None:
    """Git puts an empty line between notes that it unites, and one that cannot be read hides no other."""
    line = project.notary.attest(project.run, project.commit).text
    git(project.root, "config", "user.name", "a")
    git(project.root, "config", "user.email", "a@example.org")
    git(project.root, "notes", "--ref=harness", "add", "-f", "-m", f"{{}}\n\n{line}", project.commit)
    assert project.notary.check(project.wanted(), project.keys).run_id == RUN


def test_what_lies_beside_and_was_signed_elsewhere_hides_no_other(project: Project, tmp_path: Path) -> None:
    """An attestation that came with a copied folder is passed over."""
    project.notary.attest(project.run)
    git(project.root, "update-ref", "-d", REF)
    strange = project.run.with_name("f" * 32)
    shutil.copytree(project.run, strange)
    (strange / FILE).write_text("{}")
    assert project.notary.check(project.wanted(), project.keys).run_id == RUN


def test_a_kept_scenario_that_fails_on_both_sides_is_a_warning(tmp_path: Path) -> None:
    """It was accepted like that, and the attestation holds."""
    project = Project(tmp_path)
    kept = replace(
        HARM, finding=replace(HARM.finding, name="kept", source=PREDEFINED, meaning=Meaning.MISSING)
    )
    told = account(PROOF, kept, tree=project.tree, base=project.base)
    told = replace(told, evidence=replace(told.evidence, run_id="b" * 32))
    project.notary.attest(on_disk(told, project.notary.layout.runs, project.notary.seal), project.commit)
    found = project.notary.check(project.wanted(), project.keys)
    assert (found.predicate["warnedTests"], found.predicate["failedTests"]) == (["kept"], [])
