"""`harness attest`: sign an accepted verification, and say whether a commit is still what was signed."""

import argparse
import sys
from pathlib import Path

from harness_executor.cli.parsing import Parser, print_json, print_text, with_json, with_project
from harness_executor.errors import Refused
from harness_executor.evidence.attestation import FILE, Attested, Wanted
from harness_executor.evidence.notary import Notary, notary_for
from harness_executor.home import Home, open_home
from harness_executor.store.runs import find_run
from harness_executor.store.signing import PublicKey, read_public_keys

_ABOUT = {
    "key": "print the public key of this machine",
    "sign": "sign an accepted verification",
    "verify": "is a commit what was verified and signed? works offline",
    "show": "print the statement of a commit",
}


def main(words: list[str]) -> int:
    """Attest, or check an attestation."""
    options = _options(words[1:])
    home = open_home(options.repo)
    run = {"key": _key, "sign": _sign, "verify": _verify, "show": _show}
    run[options.command](home, options)
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = Parser("harness attest", description=main.__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    for name, about in _ABOUT.items():
        command = commands.add_parser(name, help=about, description=about)
        with_project(command)
        with_json(command)
        if name == "sign":
            command.add_argument("which", nargs="?", default="", metavar="TASK|RUN")
            command.add_argument("--commit", default="", metavar="REF", help="the commit that has this tree")
        if name in ("verify", "show"):
            command.add_argument("commit", nargs="?", default="HEAD", metavar="COMMIT")
            _with_trust(command)
    return parser.parse_args(arguments)


def _with_trust(command: argparse.ArgumentParser) -> None:
    command.add_argument("--key", type=Path, metavar="PEM", help="a public key that is trusted")
    command.add_argument("--trust", type=Path, metavar="FILE", help="a file with several")
    command.add_argument("--file", type=Path, metavar="FILE", help="the attestation (default: the note)")
    command.add_argument("--base", default="", metavar="REF", help="it must compare with this commit")
    command.add_argument("--require-sandboxed", action="store_true", help="it must be recorded in a box")
    command.add_argument("--require-evidence", action="store_true", help="its files must be here too")


def _notary(home: Home) -> Notary:
    return notary_for(home.repository, home.layout, home.seal)


def _key(home: Home, options: argparse.Namespace) -> None:
    public = _notary(home).signer.public
    if options.json:
        print_json({"keyid": public.id, "pem": public.pem})
    else:
        sys.stdout.write(public.pem)
        sys.stderr.write(f"keyid: {public.id}\n")


def _sign(home: Home, options: argparse.Namespace) -> None:
    folder = find_run(home.layout, options.which)
    commit = home.repository.resolve(options.commit) if options.commit else ""
    envelope = _notary(home).attest(folder, commit)
    if options.json:
        print_json({"file": str(folder / FILE), "keyid": envelope.keyid, "commit": commit})
    else:
        print_text(f"attested: {folder / FILE}")


def _keys(notary: Notary, options: argparse.Namespace) -> tuple[PublicKey, ...]:
    named = [path for path in (options.key, options.trust) if path]
    return tuple(key for path in named for key in read_public_keys(path)) or (notary.signer.public,)


def _checked(home: Home, options: argparse.Namespace) -> tuple[Wanted, Attested]:
    commit = home.repository.resolve(options.commit)
    base = home.repository.resolve(options.base) if options.base else ""
    wanted = Wanted(commit, home.repository.tree_of(commit), base, options.require_sandboxed)
    notary = _notary(home)
    attested = notary.check(wanted, _keys(notary, options), options.file)
    if options.require_evidence and notary.evidence_of(attested) is None:
        raise Refused("the files of the evidence are not on this machine", hint="fetch them, or do not ask")
    return wanted, attested


def _verify(home: Home, options: argparse.Namespace) -> None:
    wanted, attested = _checked(home, options)
    here = _notary(home).evidence_of(attested)
    view = {
        "commit": wanted.commit,
        "tree": wanted.tree,
        "base": attested.base["gitCommit"],
        "run_id": attested.run_id,
        "assurance": attested.about["assurance"],
        "passed": list(attested.predicate["passedTests"]),
        "evidence": str(here) if here else None,
    }
    if options.json:
        print_json({"verified": True, **view})
        return
    print_text(f"verified: {wanted.commit} is what was accepted")
    print_text(f"base:      {view['base']}\nassurance: {view['assurance']}\nrun:       {view['run_id']}")
    print_text(f"evidence:  {here or 'not on this machine; its digests are signed'}")


def _show(home: Home, options: argparse.Namespace) -> None:
    _, attested = _checked(home, options)
    print_json({"subject": dict(attested.subject), "predicate": dict(attested.predicate)})
