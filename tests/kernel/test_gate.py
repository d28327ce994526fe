"""The gate; its cases are the files in cases/gate."""

import ast
import inspect
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel import gate
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.gate import Claim, Verdict, judge
from harness_executor.kernel.report import Evidence, Finding, Meaning
from harness_executor.kernel.scenario import Kind
from harness_executor.store.codec import build

CASES = sorted((Path(__file__).parent / "cases" / "gate").glob("*.json"))
KEYS = {"why", "claim", "evidence", "seal_is_valid", "accepted", "reasons"}


def _case(name: str) -> Any:
    return parse((Path(__file__).parent / "cases" / "gate" / f"{name}.json").read_text(encoding="utf-8"))


GOOD = build(Evidence, _case("accepted_proof_and_negative")["evidence"])
CLAIM = build(Claim, _case("accepted_proof_and_negative")["claim"])


def _reasons() -> set[str]:
    """Every reason the source of the gate can give, as a pattern."""
    patterns = set()
    for node in ast.walk(ast.parse(inspect.getsource(gate))):
        said = node.value if isinstance(node, ast.Yield | ast.Assign) else None
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            patterns.add(re.escape(said.value))
        elif isinstance(said, ast.JoinedStr):
            patterns.add("".join(_pattern(part) for part in said.values))
    return patterns


def _pattern(part: ast.expr) -> str:
    return re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_judges_the_case(path: Path) -> None:
    """The gate answers as the file says, with exactly its reasons."""
    case = parse(path.read_text(encoding="utf-8"))
    assert set(case) == KEYS
    assert case["why"].endswith(".")
    claim = build(Claim, case["claim"])
    evidence = build(Evidence, case["evidence"]) if case["evidence"] else None
    verdict = judge(claim, evidence, seal_is_valid=case["seal_is_valid"])
    assert verdict == Verdict(case["accepted"], tuple(case["reasons"]))


@pytest.mark.parametrize("pattern", sorted(_reasons()))
def test_every_reason_has_a_case(pattern: str) -> None:
    """A reason the gate can give is given in some file."""
    given_reasons = [
        reason for path in CASES for reason in parse(path.read_text(encoding="utf-8"))["reasons"]
    ]
    assert any(re.fullmatch(pattern, reason) for reason in given_reasons)


def test_knows_its_own_reasons() -> None:
    """The reasons are found in the source, so that a new one needs a case."""
    assert len(_reasons()) >= 19


FINDINGS = st.lists(
    st.builds(
        Finding,
        name=st.sampled_from(["a", "b", "c"]),
        kind=st.sampled_from(Kind),
        source=st.sampled_from(["harness", "user"]),
        meaning=st.sampled_from(Meaning),
        survived=st.sampled_from([(), ("a key dropped",)]),
    ),
    max_size=6,
)


@given(FINDINGS, st.booleans(), st.booleans())
def test_accepts_only_what_the_design_calls_complete(
    findings: list[Finding], refactor: bool, seal_is_valid: bool
) -> None:
    """Whatever was found, acceptance means a seal, a negative case, no harm, and a proof or nothing new."""
    evidence = replace(GOOD, findings=tuple(findings))
    verdict = judge(replace(CLAIM, refactor=refactor), evidence, seal_is_valid=seal_is_valid)
    asked = [finding for finding in findings if finding.source == "user"]
    strong = any(one.meaning is Meaning.PROVES and not one.survived for one in asked)
    held = any(one.meaning is Meaning.HOLDS for one in asked)
    all_hold = held and all(finding.meaning is Meaning.HOLDS for finding in findings)
    harmless = not any(one.meaning in (Meaning.REGRESSES, Meaning.MISSING) for one in findings)
    turned_away = any(
        one.kind is Kind.NEGATIVE and one.meaning in (Meaning.HOLDS, Meaning.PROVES) for one in findings
    )
    works = any(
        one.kind is not Kind.NEGATIVE and one.meaning in (Meaning.HOLDS, Meaning.PROVES) for one in asked
    )
    complete = harmless and turned_away and works and (all_hold if refactor else strong)
    assert verdict.accepted is (seal_is_valid and complete)
    assert verdict.accepted is not bool(verdict.reasons)
