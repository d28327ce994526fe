"""Tests reported line by line: by our own stand-ins, by go, in TAP, and by unittest when it is talkative."""

import json
import re
from collections.abc import Iterator
from typing import Any

from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.naming import named

_GO = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_TAP = re.compile(
    r"^(?P<indent> *)(?P<no>not )?ok\b(?: +\d+)?(?: *-)? *(?P<name>[^#]*?) *(?:# *(?P<mark>.*))?$"
)
_SUBTEST = re.compile(r"^(?P<indent> *)# Subtest: (?P<name>.*)$")
_ENDS = re.compile(r"(?:^|\.\.\. )(?P<said>ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$")
_SAID = {"ok": Outcome.PASSED, "FAIL": Outcome.FAILED, "ERROR": Outcome.FAILED}
_SAID["unexpected success"] = Outcome.FAILED


def read_lines(text: str, root: str = "") -> dict[str, Outcome]:
    """What our stand-ins for node and unittest wrote."""
    found: dict[str, Outcome] = {}
    for line in text.splitlines():
        data = json.loads(line)
        names = [str(name) for name in data["names"]]
        if data.get("suite"):
            continue
        file = str(data.get("file") or "")
        inner = () if names == [file] else names
        found[named(file, inner, root)] = Outcome(data["outcome"])
    return found


def read_go(text: str) -> dict[str, Outcome]:
    """The events of `go test -json`; a package that cannot be built is one test that failed."""
    found: dict[str, Outcome] = {}
    for event in _events(text):
        package, test, action = event["Package"], event.get("Test"), event.get("Action")
        if action in _GO and (test or action == "fail"):
            found[named(str(package), (str(test or ""),))] = _GO[str(action)]
    for package in re.findall(r"^FAIL\t(\S+) \[", text, re.MULTILINE) if found else ():
        found[named(package, ())] = Outcome.FAILED
    inner = [name for name in found if "::" in name]
    packages = {name.partition("::")[0] for name in inner if found[name] is Outcome.FAILED}
    return {name: outcome for name, outcome in found.items() if name not in packages}


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if not line.startswith('{"Time"') and not line.startswith('{"Action"'):
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "Package" in event:
            yield event


def read_tap(text: str) -> dict[str, Outcome]:
    """The lines of the Test Anything Protocol; tests within tests are named with those around them."""
    if not re.search(r"^TAP version \d+$", text, re.MULTILINE):
        return {}
    found: dict[str, Outcome] = {}
    above: dict[int, str] = {}
    parents: set[str] = set()
    for line in text.splitlines():
        begun = _SUBTEST.match(line)
        if begun:
            above[len(begun["indent"])] = begun["name"]
            continue
        ended = _TAP.match(line)
        if ended:
            depth = len(ended["indent"])
            around = [name for level, name in sorted(above.items()) if level < depth]
            parents.add(named("", around))
            found[named("", (*around, ended["name"] or "unnamed"))] = _tap_outcome(ended)
    return {name: outcome for name, outcome in found.items() if name not in parents}


def _tap_outcome(ended: re.Match[str]) -> Outcome:
    mark = (ended["mark"] or "").upper()
    if mark.startswith(("SKIP", "TODO")):
        return Outcome.SKIPPED
    return Outcome.FAILED if ended["no"] else Outcome.PASSED


def read_verbose(text: str) -> dict[str, Outcome]:
    """`test_name (module.Class) ... ok`, as unittest and Django print it when asked for more."""
    found: dict[str, Outcome] = {}
    open_name = ""
    for line in text.splitlines():
        head = re.match(r"^(?P<name>\w+) \((?P<place>[\w.]+)\)", line)
        if head:
            place = head["place"]
            is_full = place.endswith(f".{head['name']}")
            open_name = place if is_full else f"{place}.{head['name']}"
        ended = _ENDS.search(line)
        if open_name and ended:
            found[open_name] = _SAID.get(ended["said"], Outcome.SKIPPED)
            open_name = ""
    return found
