"""Notes on commits, under a ref of ours: added to what is there, never over what others wrote."""

import re
from pathlib import Path

from harness_executor.errors import RepositoryError
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.repository import Repository

REF = "refs/notes/harness"
_TRIES = 20
_OBJECT = re.compile("[0-9a-f]{40}([0-9a-f]{24})?")


@frozen
class Notes:
    """The notes of a repository that are ours."""

    repository: Repository
    index: Path
    """A place for an index of our own."""

    def read(self, target: str) -> bytes:
        """The note on an object, or nothing."""
        return self._content(self._tip(), target)

    def _content(self, tip: str, target: str) -> bytes:
        found = self._entries(tip, target) if tip else []
        return b"".join(self._git("cat-file", "blob", blob) for _, blob in found)

    def add(self, target: str, line: str) -> None:
        """Add a line to the note on an object, unless it is there."""
        if not _OBJECT.fullmatch(target):
            raise RepositoryError(f"{target!r} is not the name of an object", hint="name a commit")
        for _ in range(_TRIES):
            tip = self._tip()
            before = self._content(tip, target)
            if line.encode() in before.splitlines(keepends=True):
                return
            commit = self._commit(tip, target, before + line.encode())
            if self._move(commit, tip):
                return
        raise RepositoryError(f"{REF} moves all the time", hint="`harness attest sign` again later")

    def _tip(self) -> str:
        return self._ask("rev-parse", "--verify", "--quiet", f"{REF}^{{commit}}") or ""

    def _entries(self, tip: str, target: str) -> list[tuple[str, str]]:
        """Where the note lies, however git spreads notes over folders, with its blob."""
        listed = self._git("ls-tree", "-r", "-z", tip).decode(errors="surrogateescape").split("\0")
        split = (line.split("\t", 1) for line in listed if line)
        return [(name, head.split()[2]) for head, name in split if name.replace("/", "") == target]

    def _commit(self, tip: str, target: str, content: bytes) -> str:
        where = {"GIT_INDEX_FILE": str(self.index)}
        self.index.parent.mkdir(parents=True, exist_ok=True)
        blob = self._git("hash-object", "-w", "--no-filters", "--stdin", stdin=content).decode().strip()
        try:
            self._git("read-tree", *([tip] if tip else ["--empty"]), extra=where)
            places = [name for name, _ in self._entries(tip, target)] if tip else []
            gone = "".join(f"0 {'0' * len(target)}\t{name}\0" for name in places)
            added = f"100644 {blob}\t{places[0] if places else target}\0"
            self._git("update-index", "-z", "--index-info", stdin=f"{gone}{added}".encode(), extra=where)
            tree = self._git("write-tree", extra=where).decode().strip()
        finally:
            self.index.unlink(missing_ok=True)
        name, address = self.repository.author()
        who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in
               (("NAME", name), ("EMAIL", address))}  # fmt: skip
        parents = ["-p", tip] if tip else []
        made = self._git("commit-tree", tree, *parents, stdin=b"Attest a verification\n", extra=who)
        return made.decode().strip()

    def _move(self, commit: str, tip: str) -> bool:
        """Is the ref moved? It is not when somebody else moved it since."""
        words = ("update-ref", "--no-deref", REF, commit, tip or "0" * len(commit))
        return self._ask(*words) is not None

    def _git(self, *words: str, stdin: bytes = b"", extra: dict[str, str] | None = None) -> bytes:
        return self.repository.git.run("-C", str(self.repository.root), *words, stdin=stdin, extra=extra)

    def _ask(self, *words: str) -> str | None:
        return self.repository.git.ask("-C", str(self.repository.root), *words)
