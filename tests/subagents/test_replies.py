"""Results of subagents: read strictly, never repaired, never guessed."""

import copy
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST, LIES
from harness_executor.kernel.canonical import canonical
from harness_executor.kernel.expectation import Op
from harness_executor.subagents.jobs import Answering
from harness_executor.subagents.replies import (
    TYPES,
    PlannedPhase,
    PlanReply,
    Unacceptable,
    WorkReply,
    from_arguments,
    from_json,
    from_text,
)

WORK = {"status": "success", "summary": "added the route"}
FUZZ = settings(
    max_examples=1500,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@dataclass(frozen=True)
class Case:
    """A message of a model, and what has to become of it."""

    name: str
    answering: Answering
    accepted: bool
    words: str
    message: str


def _read(path: Path) -> Case:
    head, message = path.read_text(encoding="utf-8").split("\n---\n", 1)
    answering, outcome = head.splitlines()
    verdict, words = outcome.split(": ", 1)
    return Case(
        path.stem, Answering(answering.split(": ")[1]), verdict == "accepted", words, _unfold(message)
    )


def _unfold(message: str) -> str:
    """The message with ⟦001b⟧ as that character and ⟦9*5000⟧ as five thousand nines."""
    message = re.sub("⟦([0-9a-f]{4})⟧", lambda found: chr(int(found[1], 16)), message)
    return re.sub(r"⟦(.)\*([0-9]+)⟧", lambda found: found[1] * int(found[2]), message)


CASES = [_read(path) for path in sorted((Path(__file__).parent / "cases" / "replies").glob("*.txt"))]
ACCEPTED = [case for case in CASES if case.accepted]
REFUSED = [case for case in CASES if not case.accepted]


def _name(case: Case) -> str:
    return case.name


def _fenced(text: str) -> str:
    return f"```json\n{text}\n```\n"


def _scenarios(**expect: Any) -> dict[str, Any]:
    step = {"request": {"path": "/stats"}, "expect": {"status": 200, **expect}}
    return {"scenarios": [{"name": "stats", "why": "w", "steps": [step]}]}


@pytest.mark.parametrize("case", ACCEPTED, ids=_name)
def test_accepts_what_can_be_read_in_one_way_only(case: Case) -> None:
    """A well-formed result is read as it stands, whatever prose is around it."""
    result = from_text(case.answering, case.message)
    assert isinstance(result, TYPES[case.answering])
    assert case.words in canonical(asdict(result))


@pytest.mark.parametrize("case", REFUSED, ids=_name)
def test_refuses_everything_else_with_words_for_the_model(case: Case) -> None:
    """A malformed result is refused, and the refusal says what is wrong."""
    with pytest.raises(Unacceptable) as refusal:
        from_text(case.answering, case.message)
    assert case.words in str(refusal.value)


def test_the_corpus_is_large() -> None:
    """There are at least sixty malformed results, and each kind of result is accepted once."""
    assert len(REFUSED) >= 60
    assert {case.answering for case in ACCEPTED} == set(Answering)


ROWS = {
    "J01": "fenced prose-around two-results the-same-result-twice result-nested-in-an-equal-fence",
    "J02": "duplicate-key duplicate-key-escaped duplicate-key-inside",
    "J03": "nan infinity minus-infinity float-too-large integer-of-5000-digits",
    "J04": "truncated-object never-closed-fence trailing-comma line-comment single-quotes smart-quotes",
    "J05": "byte-order-mark no-break-space nul-character lone-surrogate escape-character",
    "J07": "unknown-status summary-is-a-number extra-key json-in-a-string wrapped-in-a-list null",
    "J10": "success-with-blockers",
}
"""Rows of malformed model output and the cases that stand for them; J06 and J09 are tests below."""


@pytest.mark.parametrize("row", ROWS)
def test_every_known_way_of_being_malformed_has_its_cases(row: str) -> None:
    """Each row of the list of faults is in the corpus."""
    assert set(ROWS[row].split()) <= {case.name for case in CASES}


@pytest.mark.parametrize(
    "opening", ["[", '{"summary":', '{"a":[', '"['], ids=["lists", "keys", "both", "text"]
)
def test_nesting_of_any_depth_is_refused_without_recursion(opening: str) -> None:
    """Two hundred thousand levels are refused by counting them."""
    with pytest.raises(Unacceptable):
        from_text(Answering.WORK, _fenced(opening * 200_000))


def test_a_result_of_nine_megabytes_is_refused() -> None:
    """A valid result that is too large is refused by its size, in both channels."""
    large = {**WORK, "summary": "x" * 9_000_000}
    with pytest.raises(Unacceptable, match="at most 8000000 are read"):
        from_text(Answering.WORK, _fenced(json.dumps(large)))
    with pytest.raises(Unacceptable, match="at most 8000000 are read"):
        from_arguments(Answering.WORK, large)


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "not JSON compliant"),
        (float("inf"), "not JSON compliant"),
        (10**5000, "4300 digits"),
        (10**500, "a number of 501 digits"),
        ("\ud800", "does not fit its schema"),
        (_nested(150), "nested deeper than 100 levels"),
        (_nested(200_000), "recursion"),
    ],
    ids=["nan", "infinity", "5000 digits", "500 digits", "surrogate", "150 levels", "200000 levels"],
)
def test_the_submit_tool_is_as_strict_as_a_message(value: Any, words: str) -> None:
    """Values that a lenient JSON reader lets through are refused in the arguments of submit_result."""
    with pytest.raises(Unacceptable, match=words):
        from_arguments(Answering.SCENARIOS, _scenarios(json=[{"path": "$.a", "value": value}]))


def test_no_key_of_a_result_is_guessed() -> None:
    """Nothing is converted, filled in or dropped: the result is what was sent, plus defaults."""
    phases = [{"name": "one", "objective": "o"}]
    sent = {"summary": "s", "contract": "c", "phases": phases}
    assert from_arguments(Answering.PLAN, sent) == PlanReply("s", "c", (PlannedPhase("one", "o"),))
    assert from_arguments(Answering.WORK, WORK) == WorkReply("success", "added the route")


def test_a_success_with_blockers_keeps_its_blockers() -> None:
    """Blockers of a claimed success are handed over, for the step to act on."""
    result = from_arguments(Answering.WORK, {**WORK, "blockers": ["a password"]})
    assert isinstance(result, WorkReply)
    assert result.blockers == ("a password",)


SOURCES = ("add GET /stats with the number of to-dos", "GET /stats -> 200; other routes stay as they are")


def _asking(why: str, because: str = "") -> dict[str, Any]:
    step = {"request": {"path": "/stats"}, "expect": {"status": 200}, "because": because}
    return {"scenarios": [{"name": "it counts", "why": why, "steps": [step]}]}


def test_a_scenario_quotes_where_it_comes_from() -> None:
    """Words of the request or of the interface are accepted, in both channels."""
    for why in ("add GET /stats", "Other routes stay as they are."):
        assert from_arguments(Answering.SCENARIOS, _asking(why), SOURCES)
        assert from_text(Answering.SCENARIOS, _fenced(json.dumps(_asking(why))), SOURCES)
        assert from_json(Answering.SCENARIOS, json.dumps(_asking(why)), SOURCES)


@pytest.mark.parametrize("why", ["", "it must be fast", "users expect a limit of 100 requests"])
def test_a_scenario_that_quotes_nobody_is_refused_by_name(why: str) -> None:
    """An invented requirement is refused, and the model is told which one and what to do."""
    refusal = pytest.raises(Unacceptable, match=r"'it counts' does not quote the request.*copy the words")
    with refusal:
        from_arguments(Answering.SCENARIOS, _asking(why), SOURCES)
    with refusal:
        from_text(Answering.SCENARIOS, _fenced(json.dumps(_asking(why))), SOURCES)
    with refusal:
        from_json(Answering.SCENARIOS, json.dumps(_asking(why)), SOURCES)


def test_a_step_that_gives_a_reason_quotes_it() -> None:
    """A step may leave its reason to the scenario; one that it gives has to be a quotation too."""
    assert from_arguments(Answering.SCENARIOS, _asking("add GET /stats", "number of to-dos"), SOURCES)
    with pytest.raises(Unacceptable, match="does not quote the request or the interface: 'clients like it'"):
        from_arguments(Answering.SCENARIOS, _asking("add GET /stats", "clients like it"), SOURCES)


def test_without_sources_nothing_has_to_be_quoted() -> None:
    """Scenarios that no model wrote for a request are not asked where they come from."""
    assert from_arguments(Answering.SCENARIOS, _asking("because I say so"))


def test_the_scripted_verifiers_that_ship_quote_their_request() -> None:
    """The demo plays by the rules it shows."""
    for script in (HONEST, *LIES.values()):
        planned = script.lines["planner"][0]["replies"][-1]["calls"][0]["arguments"]
        asked = script.lines["verifier"][0]["replies"][-1]["calls"][0]["arguments"]
        assert from_arguments(Answering.SCENARIOS, asked, (REQUEST, planned["contract"]))


def test_plain_json_is_a_result_where_it_was_asked_for() -> None:
    """The whole message, or its one fenced block, and nothing picked out of words."""
    text = json.dumps(WORK)
    assert from_json(Answering.WORK, f"\n{text}\n") == from_json(Answering.WORK, f"So:\n{_fenced(text)}")
    for wrong in (f"So: {text}", f"{text}{text}", "", "null", f"{_fenced(text)}{_fenced(text)}"):
        with pytest.raises(Unacceptable):
            from_json(Answering.WORK, wrong)


def test_every_kind_of_comparison_can_be_submitted() -> None:
    """Each operator of a scenario is accepted by its name."""
    checks = [{"path": "$.a", "op": op.value, "value": "asc"} for op in Op]
    assert from_arguments(Answering.SCENARIOS, _scenarios(json=checks))


@pytest.mark.parametrize("more", [{}, {"effect": "none"}], ids=["a write", "no write"])
def test_a_scenario_that_ends_in_a_write_is_sent_back(more: dict[str, Any]) -> None:
    """After a successful POST something is read, unless the step is said to change nothing."""
    result = _scenarios()
    result["scenarios"][0]["steps"][0] |= {"request": {"path": "/a", "method": "POST"}, **more}
    if more:
        assert from_arguments(Answering.SCENARIOS, result)
        return
    with pytest.raises(Unacceptable, match="stats: after POST /a nothing reads it back: add a GET"):
        from_arguments(Answering.SCENARIOS, result)


WHOLE: dict[Answering, dict[str, Any]] = {
    Answering.WORK: {**WORK, "files_changed": ["app.py"], "validation_result": {"passed": True}},
    Answering.PLAN: {
        "summary": "s",
        "contract": "c",
        "phases": [{"name": "n", "objective": "o", "files": []}],
    },
    Answering.REVIEW: {
        "summary": "s",
        "findings": [{"severity": "low", "where": "a:1", "issue": "i", "fix": "f"}],
    },
    Answering.SCENARIOS: _scenarios(
        headers={"a": "b"},
        json=[{"path": "$.a", "op": "matches", "value": "x"}],
        body_matches=["a+"],
    ),
    Answering.ADDITIONS: {"scenarios": []},
    Answering.RULINGS: {"rulings": [{"scenario": "s", "quote": "q", "reason": "r", "amended": None}]},
}
_ODD = [
    "",
    "success",
    "4xx",
    "/a",
    "$.a",
    "$[",
    "$[*]",
    "(",
    "[[a]",
    "a{9999999999}",
    "{{ x }}",
    "\0",
    "\ud800",
]
_LEAVES = st.one_of(
    st.sampled_from([None, True, False, 0, -1, 200, 1.5, float("nan"), float("-inf"), 10**500]),
    st.sampled_from(_ODD),
    st.text(st.characters(exclude_categories=()), max_size=6),
)
_VALUES = st.one_of(
    _LEAVES, st.lists(_LEAVES, max_size=2), st.dictionaries(st.sampled_from(_ODD), _LEAVES, max_size=2)
)


def _places(value: Any) -> list[Any]:
    """Every object and list in a value, with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    here = [(value, key) for key in keys]
    return here + [place for key in keys for place in _places(value[key])]


@st.composite
def _spoiled(draw: st.DrawFn) -> tuple[Answering, dict[str, Any]]:
    answering = draw(st.sampled_from(Answering))
    arguments: dict[str, Any] = copy.deepcopy(WHOLE[answering])
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(range(30)).map(lambda at: _at(_places(arguments), at)))
        holder[key] = draw(_VALUES)
    return answering, arguments


def _at(places: list[Any], number: int) -> Any:
    return places[number % len(places)]


@pytest.mark.parametrize("answering", Answering)
def test_the_results_to_be_spoiled_are_whole(answering: Answering) -> None:
    """What the fuzzing starts from is accepted."""
    assert isinstance(from_arguments(answering, WHOLE[answering]), TYPES[answering])


@pytest.mark.filterwarnings("ignore::FutureWarning")
@FUZZ
@given(_spoiled())
def test_only_a_result_or_unacceptable_comes_out_of_arguments(spoiled: tuple[Answering, Any]) -> None:
    """Whatever a model submits, nothing but Unacceptable is raised."""
    with suppress(Unacceptable):
        assert isinstance(from_arguments(*spoiled), TYPES[spoiled[0]])


@st.composite
def _damaged(draw: st.DrawFn) -> tuple[Answering, str]:
    case = draw(st.sampled_from(CASES))
    text = case.message[:4000]
    for _ in range(draw(st.integers(0, 3))):
        at, length = draw(st.integers(0, len(text))), draw(st.integers(0, 6))
        piece = draw(
            st.one_of(
                st.sampled_from(
                    ["```", "\n", '"', "{", "}", "[", "]", ",", ":", "\\", "```json\n", "9" * 500]
                ),
                st.text(st.characters(exclude_categories=()), max_size=4),
            )
        )
        text = text[:at] + piece + text[at + length :]
    return draw(st.sampled_from([case.answering, *Answering])), text


@pytest.mark.filterwarnings("ignore::FutureWarning")
@FUZZ
@given(_damaged())
def test_only_a_result_or_unacceptable_comes_out_of_a_message(damaged: tuple[Answering, str]) -> None:
    """However a message is damaged, nothing but Unacceptable is raised."""
    with suppress(Unacceptable):
        assert isinstance(from_text(*damaged), TYPES[damaged[0]])


@pytest.mark.parametrize("status", ["success", "failed", "blocked"])
def test_a_damaged_status_is_never_repaired(status: str) -> None:
    """A result that lost any one character is refused, or still has its status."""
    message = _fenced(json.dumps({"status": status, "summary": "added the route"}))
    for at in range(len(message)):
        try:
            result = from_text(Answering.WORK, message[:at] + message[at + 1 :])
        except Unacceptable:
            continue
        assert isinstance(result, WorkReply)
        assert result.status == status
