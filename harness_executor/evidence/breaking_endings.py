"""Broken endings: how a program could have ended instead, each with the class it belongs to."""

import json
from collections.abc import Iterator
from dataclasses import replace

from harness_executor.evidence.breaking_json import broken_values
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.expectation import Expect, FileCheck

CODE = "another exit code"
SILENT = "an empty output"
OTHER = "another output"
GONE = "a file missing"
CONTENT = "another content of a file"
LEFT = "a file that should not be there"
ASIDE = "another output beside its files"
NEAR_CODE = "another code of its kind"
COMPLAINT = "another error output"

ENDINGS = (CODE, SILENT, OTHER, GONE, CONTENT, LEFT)
"""Classes that a proof by a program has to notice, besides those of JSON."""

_TURNED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM5678901234",
)
_MOST_PLACES = 60

Broken = tuple[str, Ended]


def broken_endings(ended: Ended, expect: Expect) -> Iterator[Broken]:
    """Every way in which an ending is broken."""
    yield from _codes(ended)
    yield from _files(ended, expect)
    if ended.stderr.strip():
        yield COMPLAINT, replace(ended, stderr=turned(ended.stderr))
    if ended.status == 0 and ended.body.strip():
        # what a program writes into files is its answer too; then its output may be talk
        is_beside = any(map(_looks_inside, expect.files.values()))
        for name, broken in _outputs(ended):
            yield ASIDE if is_beside else name, broken


def turned(text: str) -> str:
    """A text of the same form in which every letter and digit is another."""
    return text.translate(_TURNED) if text.translate(_TURNED) != text else f"{text}x"


def _codes(ended: Ended) -> Iterator[Broken]:
    if ended.status == 0:
        yield CODE, replace(ended, status=1)
        yield CODE, replace(ended, status=2)
    else:
        yield CODE, replace(ended, status=0)
        yield NEAR_CODE, replace(ended, status=2 if ended.status == 1 else 1)


def _outputs(ended: Ended) -> Iterator[Broken]:
    yield SILENT, replace(ended, body="")
    try:
        value = ended.json()
    except ValueError:
        yield OTHER, replace(ended, body=turned(ended.body))
        return
    if isinstance(value, dict | list) and value:
        yield SILENT, replace(ended, body=json.dumps(type(value)()))
    for name, broken in broken_values(value, _MOST_PLACES):
        yield name.value, replace(ended, body=json.dumps(broken))


def _files(ended: Ended, expect: Expect) -> Iterator[Broken]:
    for name, wanted in expect.files.items():
        others = {place: text for place, text in ended.files.items() if place != name}
        if not wanted.exists:
            yield LEFT, replace(ended, files={**others, name: "left"})
        elif name in ended.files:
            yield GONE, replace(ended, files=others)
            if ended.files[name].strip():
                yield CONTENT, replace(ended, files={**others, name: turned(ended.files[name])})
                yield CONTENT, replace(ended, files={**others, name: ""})


def _looks_inside(wanted: FileCheck) -> bool:
    return wanted.exists and bool(wanted.contains or wanted.matches or wanted.equals is not None)
