"""Signs what was accepted, and says whether a commit is still what was signed."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from harness_executor.clock import new_id
from harness_executor.config import state_home, work_home
from harness_executor.errors import Refused
from harness_executor.evidence.account import read_account
from harness_executor.evidence.attestation import (
    FILE,
    Attested,
    Wanted,
    check_files,
    objections,
    read_statement,
    statement_of,
)
from harness_executor.evidence.envelope import Envelope, opened, read_envelope, signed
from harness_executor.kernel.frozen import frozen
from harness_executor.store.files import write_atomically
from harness_executor.store.layout import Layout
from harness_executor.store.runs import recorded
from harness_executor.store.seal import Seal
from harness_executor.store.signing import PublicKey, Signer
from harness_executor.workspace.notes import Notes
from harness_executor.workspace.repository import Repository

_RUN = re.compile("[0-9a-f]{32}")


def notary_for(repository: Repository, layout: Layout, seal: Seal) -> "Notary":
    """Who attests for a project, with the key of this machine."""
    scratch = work_home() / "notes"
    return Notary(repository, layout, seal, Signer(state_home() / "signing-key"), scratch)


@frozen
class Notary:
    """Who attests for one project on this machine."""

    repository: Repository
    layout: Layout
    seal: Seal
    signer: Signer
    scratch: Path
    """Where a file may lie for a moment, outside the project."""

    @property
    def notes(self) -> Notes:
        """Where attestations travel with the repository."""
        return Notes(self.repository, self.scratch / f"notes-{new_id()[:12]}.index")

    def attest(self, folder: Path, commit: str = "") -> Envelope:
        """Sign an accepted verification, beside its files and as a note on the commit or tree."""
        self._refuse_key_in_project()
        account = read_account(folder, self.seal)
        tree = account.evidence.tree
        if commit and self.repository.tree_of(commit) != tree:
            raise Refused(
                f"{commit[:12]} is not what was verified: its tree is not {tree[:12]}",
                hint="verify that commit: `harness verify --head REF --attest`",
            )
        envelope = signed(statement_of(account, folder, commit), self.signer)
        write_atomically(folder / FILE, envelope.text)
        self.notes.add(commit or tree, envelope.text)
        return envelope

    def check(self, wanted: Wanted, keys: tuple[PublicKey, ...], file: Path | None = None) -> Attested:
        """The attestation of a commit; refused, with every reason, unless one holds in every way."""
        if file is not None:
            return self._held(read_envelope(file.read_bytes()), wanted, keys)
        lines = [line for target in (wanted.commit, wanted.tree) for line in self._lines(target)]
        problems: list[Refused] = []
        for text in [line for line in lines if line.strip()] or self._beside(wanted, keys):
            try:
                return self._held(read_envelope(text), wanted, keys)
            except Refused as problem:
                problems.append(problem)
        if problems:
            raise problems[-1]
        raise Refused(
            f"there is no attestation of {wanted.commit[:12]}",
            hint="`harness verify --head REF --attest` makes one; notes are fetched with refs/notes/harness",
        )

    def evidence_of(self, attested: Attested) -> Path | None:
        """The folder of what was attested, if it is on this machine."""
        if not _RUN.fullmatch(attested.run_id):
            raise Refused(f"{attested.run_id!r} is not the id of a run", hint="it was made elsewhere")
        places = [self.layout.runs, *(self.layout.task(name).evidence for name in self.layout.task_ids())]
        return next((place / attested.run_id for place in places if (place / attested.run_id).is_dir()), None)

    def _held(self, envelope: Envelope, wanted: Wanted, keys: tuple[PublicKey, ...]) -> Attested:
        attested = read_statement(opened(envelope, keys))
        against = objections(attested, wanted)
        if against:
            said = "\n".join(f"  - {reason}" for reason in against)
            hint = "verify the commit as it is now: `harness verify --head REF --attest`"
            raise Refused(f"the attestation does not hold for {wanted.commit[:12]}:\n{said}", hint=hint)
        folder = self.evidence_of(attested)
        if folder is not None:
            check_files(attested, folder)
        return attested

    def _lines(self, target: str) -> list[bytes]:
        return self.notes.read(target).splitlines(keepends=True)

    def _beside(self, wanted: Wanted, keys: tuple[PublicKey, ...]) -> Iterator[bytes]:
        """Attestations that lie beside the evidence of this tree, and those that cannot be read."""
        for folder in reversed(recorded(self.layout)):
            if (folder / FILE).is_file():
                text = (folder / FILE).read_bytes()
                if _tree_of(text, keys) in ("", wanted.tree):
                    yield text

    def _refuse_key_in_project(self) -> None:
        if self.signer.path.resolve().is_relative_to(self.repository.root.resolve()):
            raise Refused(
                f"the key {self.signer.path} lies in the project, where its programs could read it",
                hint="set HARNESS_STATE_HOME to a folder outside of it",
            )


def _tree_of(text: bytes, keys: tuple[PublicKey, ...]) -> str:
    """The tree that an attestation is about, where it can be read."""
    with suppress(Refused):
        return read_statement(opened(read_envelope(text), keys)).subject.get("gitTree", "none")
    return ""
