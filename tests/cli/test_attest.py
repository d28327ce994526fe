"""`harness attest` from the outside: what was accepted is signed, and whatever moved is refused."""

import json
import re
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST
from tests.cli.proved import Proved, flip, prove
from tests.cli.scripted import HONEST_LINES, LYING_LINES, write_script
from tests.conftest import Cli, Ran, commit_all, git


@pytest.fixture
def proved(sample: Path, cli: Cli) -> Proved:
    """The sample with a change that was verified and attested."""
    return prove(sample, cli, "--attest")


def refused(ran: Ran, *reasons: str) -> None:
    """A refusal is code 4, with its reasons, and never a traceback."""
    assert ran.code == 4, ran.out + ran.err
    assert "Traceback" not in ran.err
    for reason in reasons:
        assert reason in ran.err


def test_a_verified_commit_is_attested(proved: Proved, cli: Cli) -> None:
    """The note holds for the commit, its base and its box, and the statement names them."""
    words = ("--base", proved.base, "--require-sandboxed", "--require-evidence", "--json")
    ran = cli("attest", "verify", proved.commit, *words, cwd=proved.repo)
    assert ran.code == 0, ran.err
    told = ran.json()
    assert told["verified"] is True
    assert (told["commit"], told["base"], told["run_id"]) == (proved.commit, proved.base, proved.run_id)
    assert {"stats of an empty list", "the list stays"} <= set(told["passed"])
    shown = cli("attest", "show", cwd=proved.repo).json()
    assert shown["subject"]["gitCommit"] == proved.commit
    assert shown["predicate"]["result"] == "PASSED"
    about = next(one for one in shown["predicate"]["configuration"] if one["name"] == "verification")
    assert {side: said for side, (_, said) in about["annotations"]["launches"].items()} == {
        "base": "project",
        "change": "project",
    }


def test_the_key_is_made_once_and_lies_outside(proved: Proved, cli: Cli, home: Path) -> None:
    """The public key is printed as PEM; the private one is for its owner alone and in no project."""
    printed = cli("attest", "key", cwd=proved.repo)
    assert printed.code == 0, printed.err
    assert printed.out.startswith("-----BEGIN PUBLIC KEY-----")
    assert cli("attest", "key", cwd=proved.repo).out == printed.out
    private = home / ".local" / "state" / "harness-executor" / "signing-key"
    assert private.stat().st_mode & 0o777 == 0o600
    keyid = cli("attest", "key", "--json", cwd=proved.repo).json()["keyid"]
    assert re.fullmatch("[0-9a-f]{64}", keyid)
    assert keyid in (proved.run / "attestation.json").read_text()


def test_another_machine_needs_the_key_and_nothing_else(proved: Proved, cli: Cli, tmp_path: Path) -> None:
    """A clone with the fetched note is accepted with the signer's key, and refused with its own."""
    pem = tmp_path / "signer.pem"
    pem.write_text(cli("attest", "key", cwd=proved.repo).out)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(proved.repo), str(clone))
    git(clone, "fetch", "--quiet", "origin", "refs/notes/harness:refs/notes/harness")
    elsewhere = {"HARNESS_STATE_HOME": str(tmp_path / "state")}
    trusted = cli("attest", "verify", "--key", pem, cwd=clone, env=elsewhere)
    assert trusted.code == 0, trusted.err
    assert "not on this machine; its digests are signed" in trusted.out
    refused(cli("attest", "verify", cwd=clone, env=elsewhere), "key")
    absent = cli("attest", "verify", "--key", pem, "--require-evidence", cwd=clone, env=elsewhere)
    refused(absent, "the files of the evidence are not on this machine")


def test_one_flipped_bit_of_the_evidence_is_refused(proved: Proved, cli: Cli) -> None:
    """Every file of the evidence counts, and the one that was altered is named."""
    for path in proved.files():
        whole = flip(path)
        refused(cli("attest", "verify", cwd=proved.repo), path.name, "altered")
        path.write_bytes(whole)
    assert cli("attest", "verify", cwd=proved.repo).code == 0
    (proved.run / "change-1.jsonl").unlink()
    refused(cli("attest", "verify", cwd=proved.repo), "change-1.jsonl", "missing")


def test_one_flipped_bit_of_the_envelope_is_refused(proved: Proved, cli: Cli) -> None:
    """In the file beside the evidence, and in the note on the commit."""
    file = proved.run / "attestation.json"
    assert cli("attest", "verify", "--file", file, cwd=proved.repo).code == 0
    flip(file)
    refused(cli("attest", "verify", "--file", file, cwd=proved.repo))
    _note(proved.repo, proved.commit, file)
    refused(cli("attest", "verify", cwd=proved.repo))
    _note(proved.repo, proved.commit, proved.repo / "app.py")
    refused(cli("attest", "verify", cwd=proved.repo))


def _note(repo: Path, commit: str, file: Path) -> None:
    author = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    git(repo, *author, "notes", "--ref=harness", "add", "--force", "--file", str(file), commit)


def test_another_commit_is_refused(proved: Proved, cli: Cli) -> None:
    """The base, a later commit, and a later commit that was given the note of the first."""
    refused(cli("attest", "verify", proved.base, cwd=proved.repo), "there is no attestation of")
    (proved.repo / "more.txt").write_text("more\n")
    later = commit_all(proved.repo, "more")
    refused(cli("attest", "verify", cwd=proved.repo), "there is no attestation of")
    _note(proved.repo, later, proved.run / "attestation.json")
    refused(cli("attest", "verify", cwd=proved.repo), "it is about another commit", "the tree moved")
    assert cli("attest", "verify", proved.commit, cwd=proved.repo).code == 0
    other = cli("attest", "verify", proved.commit, "--base", later, cwd=proved.repo)
    refused(other, "it compares with another base")


def test_a_commit_that_was_amended_is_refused(proved: Proved, cli: Cli) -> None:
    """The same tree under another message is another commit."""
    author = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    git(proved.repo, *author, "commit", "--quiet", "--amend", "-m", "another message")
    refused(cli("attest", "verify", cwd=proved.repo), "it is about another commit")


def test_what_was_recorded_can_be_signed_later(sample: Path, cli: Cli) -> None:
    """Without --attest there is none until it is asked for, and only for the commit of that tree."""
    proved = prove(sample, cli)
    refused(cli("attest", "verify", cwd=sample), "there is no attestation of")
    wrong = cli("attest", "sign", "--commit", proved.base, cwd=sample)
    refused(wrong, "is not what was verified")
    signed = cli("attest", "sign", proved.run_id, "--commit", "HEAD", "--json", cwd=sample)
    assert signed.code == 0, signed.err
    assert signed.json()["commit"] == proved.commit
    assert cli("attest", "verify", cwd=sample).code == 0


def test_a_refused_verification_is_not_signed(sample: Path, cli: Cli) -> None:
    """A verification that the gate refused leaves no note, also when signing is asked for later."""
    proved = prove(sample, cli)
    git(sample, "update-ref", "-d", "refs/notes/harness")
    words = ("--base", proved.commit, "--head", proved.base, "--scenarios", "../stats.yaml", "--attest")
    assert cli("verify", *words, cwd=sample).code == 4
    refused(cli("attest", "sign", cwd=sample), "the gate refused this verification")
    refused(cli("attest", "verify", proved.base, cwd=sample), "there is no attestation of")


def test_a_completed_task_is_attested(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """The commit of `harness-run` has a note that holds, with the task's own evidence."""
    model = write_script(tmp_path, HONEST_LINES)
    outcome = cli("run", REQUEST, "--repo", sample, "--model", model, "--json").json()
    assert outcome["status"] == "completed"
    ran = cli(
        "attest",
        "verify",
        outcome["commit"],
        "--require-sandboxed",
        "--require-evidence",
        "--json",
        cwd=sample,
    )
    assert ran.code == 0, ran.err
    assert outcome["task_id"] in ran.json()["evidence"]
    report = cli("report", outcome["task_id"], "--format", "json", cwd=sample)
    assert report.code == 0, report.err
    assert ran.json()["run_id"] in json.dumps(report.json())


def test_a_refused_task_is_not_attested(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """An executor that only claims to be done leaves no attestation at all."""
    ran = cli("run", REQUEST, "--repo", sample, "--model", write_script(tmp_path, LYING_LINES), "--json")
    assert ran.code == 4
    assert git(sample, "for-each-ref", "refs/notes") == ""
    assert not list(sample.glob("harness/**/attestation.json"))


def test_the_commit_of_the_demo_is_attested(cli: Cli) -> None:
    """What a new user sees proved can be checked by the command that checks any commit."""
    ran = cli("demo")
    assert ran.code == 0, ran.err
    found = re.search(r"^\$ cd (\S+)$", ran.err, re.MULTILINE)
    assert found
    branch = git(Path(found[1]), "for-each-ref", "--format=%(refname)", "refs/heads/harness")
    checked = cli("attest", "verify", branch, cwd=Path(found[1]))
    assert checked.code == 0, checked.err
    assert "is what was accepted" in checked.out
