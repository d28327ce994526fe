"""What a change adds that a client can ask for, as its files show it: routes, and words of command lines."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness_executor.kernel.offering import ANY, RUN, Offer
from harness_executor.kernel.testfiles import is_test
from harness_executor.workspace.additions import Addition, additions
from harness_executor.workspace.detect import jsource, pyroutes
from harness_executor.workspace.detect.pysource import parse_source
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.export import Desk

_MOST = 40
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts")
_CODE = (".py", *_JAVASCRIPT, ".go", ".rb", ".php", ".java", ".rs")
_HANDLER = re.compile(r"def do_[A-Z]+\(")
"""A handler of Python's own server: a path that is compared may be of any method."""
_WORDS = (
    re.compile(r"add_argument\(\s*(?:[\"']-\w[\"']\s*,\s*)?[\"'](--[\w-]+)[\"']"),
    re.compile(r"add_parser\(\s*[\"']([\w-]+)[\"']"),
    re.compile(
        r"(?:[Oo]ption|[Aa]rgument)\(\s*(?:[^\"'()]*,\s*)?(?:[\"']-\w[\"']\s*,\s*)?[\"'](?:-\w,\s*)?(--[\w-]+)"
    ),
    re.compile(r"\.command\(\s*(?:name\s*=\s*)?[\"']([\w-]+)"),
)


def offered_routes(base: Path, change: Path, names: Iterable[str]) -> tuple[Offer, ...]:
    """Routes of the changed files that none of these files had in the base; no other file is read."""
    touched = [name for name in names if name.endswith(_CODE) and not is_test(name)]
    before, after = Files(base), Files(change)
    known = {offer for name in touched for offer in _routes(before, name)}
    found = [offer for name in touched for offer in _routes(after, name)]
    return tuple(offer for offer in dict.fromkeys(found) if _is_new(offer, known))[:_MOST]


def offered_words(desk: Desk, old: str, new: str) -> tuple[Offer, ...]:
    """Options and subcommands that the lines of a change add."""
    return tuple(dict.fromkeys(_of_lines(additions(desk, old, new))))[:_MOST]


def _of_lines(added: Iterable[Addition]) -> Iterator[Offer]:
    for one in added:
        if one.path.endswith(_CODE) and not is_test(one.path):
            for pattern in _WORDS:
                yield from (Offer(RUN, word, one.path) for word in pattern.findall(one.text))


def _routes(files: Files, name: str) -> list[Offer]:
    """The routes that a file writes, without the prefixes that its routers may be put under."""
    text = files.text(name)
    if name.endswith(".py"):
        source = parse_source(name, text)
        found = list(pyroutes.routes(source)) if source else []
    else:
        found = list(jsource.routes(jsource.bare(text), name)) if name.endswith(_JAVASCRIPT) else []
    any_method = bool(_HANDLER.search(text))
    return [Offer(ANY if any_method else route.method, route.path, name) for route in found]


def _is_new(offer: Offer, known: set[Offer]) -> bool:
    """Is it in no file of the base, and more than the bare place that a router is put at?"""
    same = ((one.method, one.path) for one in known)
    return offer.path != "/" and (offer.method, offer.path) not in same
