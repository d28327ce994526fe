"""May a frozen scenario become another?"""

from dataclasses import replace

import pytest

from harness_executor.kernel.acts import Call, Program
from harness_executor.kernel.amending import Ruling, Shortfall, amended, problem_of_rulings
from harness_executor.kernel.expectation import Expect, FileCheck, JsonCheck, Op
from harness_executor.kernel.scenario import Kind, Scenario, Step

ADD = Step(
    Call("/items", "POST", json={"name": "{{ name }}"}), Expect(201, json=(JsonCheck("$.id", Op.EXISTS),))
)
COUNT = Step(
    Call("/items/count"),
    Expect(200, {"x-total": "1"}, (JsonCheck("$.count", value=1), JsonCheck("$.unit", value="items"))),
)
OLD = Scenario("counts", "count the items", (ADD, COUNT, COUNT), let={"name": "{{ random.word }}"})
LISTS = Scenario("lists", "list the items", (Step(Call("/items"), Expect(200)),))
FROZEN = (OLD, LISTS)
HEADER = "header x-total contains"
UNIT = "json_path $.unit equals"
SHORT = Shortfall("counts", 1, (HEADER, UNIT), "GET /items/count: header x-total: expected 1, got None")


def ruled(new: Scenario | None, short: Shortfall = SHORT) -> str:
    """What is wrong with one ruling."""
    return problem_of_rulings(FROZEN, (short,), (Ruling("counts", "count the items", "invented", new),))


def expecting(expect: Expect, last: Expect | None = None) -> Scenario:
    """The scenario with another expectation where it failed, and perhaps after."""
    return replace(
        OLD, steps=(ADD, replace(COUNT, expect=expect), replace(COUNT, expect=last or COUNT.expect))
    )


HONEST = Expect(200, json=(JsonCheck("$.count", value=1),))


def test_what_failed_may_go_where_it_failed_and_after() -> None:
    """A header and a key that nobody asked for are dropped; the count that was asked for stays."""
    assert ruled(expecting(HONEST)) == ""
    assert ruled(expecting(HONEST, HONEST)) == ""
    assert ruled(None) == ""


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (replace(OLD, name="other"), "keeps its name and its kind"),
        (replace(expecting(HONEST), kind=Kind.NEGATIVE), "needs a step that expects nothing but"),
        (replace(expecting(HONEST), kind=Kind.UNCHANGED), "keeps its name and its kind"),
        (OLD, "nothing is amended"),
        (replace(OLD, steps=(ADD, replace(COUNT, expect=HONEST))), "no step may be left out"),
        (replace(OLD, steps=()), "it has no steps"),
        (replace(OLD, steps=(LISTS.steps[0], COUNT, COUNT)), "the steps before step 2, which failed, stay"),
        (replace(expecting(HONEST), let={"name": "pen"}), "`let` and the steps before"),
        (expecting(Expect(200)), "step 2 has to keep 'json_path $.count equals' as it is"),
        (expecting(Expect("2xx", json=HONEST.json)), "step 2 has to keep 'status_code' as it is"),
        (expecting(Expect(200, json=(JsonCheck("$.count", Op.EXISTS),))), "step 2 has to keep"),
        (expecting(HONEST, Expect(200)), "step 3 has to keep 'json_path $.count equals'"),
        (expecting(HONEST, Expect(404, json=HONEST.json)), "step 3 has to keep 'status_code'"),
    ],
)
def test_what_did_not_fail_stays(new: Scenario, words: str) -> None:
    """A step, a value, a status, a name or a drawn word that nothing is wrong with cannot go."""
    assert words in ruled(new)
    assert ruled(new).startswith("counts: ")


def test_a_status_that_failed_may_change_only_where_it_failed() -> None:
    """Another status for a later step was not what failed."""
    short = replace(SHORT, failed=("status_code",))
    first = replace(COUNT.expect, status=(200, 201))
    assert ruled(expecting(first), short) == ""
    assert "step 3 has to keep 'status_code'" in ruled(expecting(first, first), short)


def test_a_step_goes_on_looking_at_more_than_the_status() -> None:
    """When everything failed, something has to take the place of what goes."""
    short = replace(SHORT, failed=(HEADER, UNIT, "json_path $.count equals", "status_code"))
    assert ruled(expecting(Expect(200)), short) == "counts: step 2 has to look at more than the status"
    moved = expecting(Expect(200, json=(JsonCheck("$.total", value=1),)))
    assert ruled(moved, short) == ""


@pytest.mark.parametrize(
    ("expect", "what"),
    [
        (replace(HONEST, json=(JsonCheck("$.count", value=2),)), "$.count"),
        (replace(HONEST, json=(JsonCheck("$.count", Op.AT_LEAST, 0),)), "$.count"),
        (replace(HONEST, status=500), "status"),
        (replace(HONEST, status=(200, 500)), "status"),
        (replace(HONEST, status=None), "status"),
        (replace(HONEST, status="5xx"), "status"),
        (replace(HONEST, headers={"x-total": "2"}), "headers"),
        (replace(HONEST, body_contains=("count",)), "body_contains"),
    ],
)
def test_nothing_becomes_what_the_change_happens_to_answer(expect: Expect, what: str) -> None:
    """What failed may be left out or loosened; a value of its own is not for the verifier to take back."""
    short = replace(SHORT, failed=(HEADER, UNIT, "json_path $.count equals", "status_code"))
    assert f"not expect something else: {what}" in ruled(expecting(expect), short)


@pytest.mark.parametrize("status", [(200, 201), "2xx"])
def test_a_status_may_become_looser(status: tuple[int, ...] | str) -> None:
    """Where the words leave it open, other statuses of the class are as good."""
    assert (
        ruled(
            expecting(replace(HONEST, status=status)), replace(SHORT, failed=(*SHORT.failed, "status_code"))
        )
        == ""
    )


def test_values_that_are_drawn_stay_drawn() -> None:
    """A scenario cannot be amended to one whose values are known beforehand."""
    fixed = Scenario("counts", "count the items", (replace(COUNT, request=Call("/{{ random.word }}")), COUNT))
    short = replace(SHORT, step=0)
    new = replace(fixed, steps=(replace(COUNT, expect=HONEST), COUNT))
    (ruling,) = (Ruling("counts", "count the items", "invented", new),)
    assert "values that are drawn stay drawn" in problem_of_rulings((fixed,), (short,), (ruling,))


def test_where_no_answer_came_nothing_may_change() -> None:
    """A server that does not answer is not a matter of words."""
    assert "has to keep" in ruled(expecting(HONEST), replace(SHORT, failed=()))


def test_every_disputed_scenario_is_ruled_on_once_and_no_other() -> None:
    """Nothing is dropped by silence, and nothing that was not disputed is touched."""
    one = Ruling("counts", "count the items", "asked for")
    other = Ruling("lists", "list the items", "invented", LISTS)
    for rulings in ((), (one, one), (one, other), (other,)):
        assert "rule once on each of these" in problem_of_rulings(FROZEN, (SHORT,), rulings)
    assert problem_of_rulings(FROZEN, (SHORT,), (one,)) == ""
    assert "has a reason" in problem_of_rulings(FROZEN, (SHORT,), (replace(one, reason=" "),))


def test_amended_scenarios_take_the_place_of_the_old_ones() -> None:
    """As many as before, in their order, with the same names."""
    new = expecting(HONEST)
    assert amended(FROZEN, (Ruling("counts", "q", "r", new),)) == (new, LISTS)
    assert amended(FROZEN, (Ruling("counts", "q", "r"),)) == FROZEN


def test_a_step_goes_on_doing_the_same() -> None:
    """Where it failed, and after, another request would be another scenario."""
    asked = replace(COUNT, request=Call("/whatever"), expect=HONEST)
    assert "step 2 goes on doing the same" in ruled(replace(OLD, steps=(ADD, asked, COUNT)))
    last = replace(COUNT, request=Call("/whatever"))
    amended_one = replace(OLD, steps=(ADD, replace(COUNT, expect=HONEST), last))
    assert "step 3 goes on doing the same" in ruled(amended_one)
    said_better = replace(COUNT, expect=HONEST, description="count", because="count the items")
    assert ruled(replace(OLD, steps=(ADD, said_better, COUNT))) == ""


def test_a_value_that_was_not_there_may_be_looked_for_elsewhere() -> None:
    """What a step remembers may move, or go, only where just that failed; it gets no further names."""
    kept = replace(ADD, capture={"id": "$.id"})
    old = replace(OLD, steps=(kept, COUNT, COUNT))
    lacking = Shortfall("counts", 0, ("capture",), "the answer has nothing at $.id")

    def remembering(capture: dict[str, str], short: Shortfall = lacking) -> str:
        new = replace(old, steps=(replace(kept, capture=capture), COUNT, COUNT))
        return problem_of_rulings((old,), (short,), (Ruling("counts", "count the items", "invented", new),))

    assert remembering({"id": "$.todo_id"}) == remembering({}) == ""
    assert "step 1 goes on remembering the same" in remembering({"id": "$.todo_id", "more": "$.a"})
    assert "`let` and the steps before" in remembering({"id": "$.todo_id"}, SHORT)


RUN = Step(run=Program(("todo", "rm", "7")), expect=Expect(exit_code=2, stderr_contains=("no such",)))
REFUSES = Scenario("refuses", "refuse what is not there", (RUN,), kind=Kind.NEGATIVE)


def exiting(code: int | tuple[int, ...] | str | None, old: int | tuple[int, ...] | str | None = 2) -> str:
    """What is wrong with another exit code, where that failed."""
    before, after = (
        replace(REFUSES, steps=(replace(RUN, expect=replace(RUN.expect, exit_code=one)),))
        for one in (old, code)
    )
    short = Shortfall("refuses", 0, ("exit_code",), "todo rm 7: exit_code: expected 2, got 1")
    ruling = Ruling("refuses", "refuse what is not there", "2 is invented", after)
    return problem_of_rulings((before,), (short,), (ruling,))


def test_an_exit_code_may_become_looser_but_never_success() -> None:
    """Which code says no is seldom asked for; that it says no is."""
    assert (
        exiting("nonzero")
        == exiting((1, 2))
        == exiting("nonzero", (2, 3))
        == exiting((2, 3, 4), (2, 3))
        == ""
    )
    assert "exit_code" in exiting(1)
    assert "not expect something else: exit_code" in exiting((3, 4), (2, 3))
    assert exiting((0, 2)) != ""
    assert exiting(None) != ""
    assert exiting(1, "nonzero") != ""


FILE = FileCheck(contains=("a", "b"), equals="a b")
WRITES = Scenario("writes", "write a file", (Step(run=Program(("w",)), expect=Expect(0, files={"o": FILE})),))


@pytest.mark.parametrize(
    ("failed", "file", "is_fair"),
    [
        ("file o_contains", FileCheck(contains=("a",), equals="a b"), True),
        ("file o equals", FileCheck(contains=("a", "b")), True),
        ("file o equals", FileCheck(contains=("a",)), False),
        ("file o_contains", FileCheck(contains=("a", "c"), equals="a b"), False),
        ("file o_contains", FileCheck(exists=False), False),
        ("file_created o", None, True),
        ("file o_contains", None, False),
    ],
)
def test_what_failed_of_a_file_may_go_and_the_rest_stays(
    failed: str, file: FileCheck | None, is_fair: bool
) -> None:
    """Every comparison of a file is one of its own; all go with a file that nobody asked for."""
    old = replace(WRITES, steps=(replace(WRITES.steps[0], expect=_writing(FILE)),))
    new = replace(WRITES, steps=(replace(WRITES.steps[0], expect=_writing(file)),))
    short = Shortfall("writes", 0, (failed,), "w")
    problem = problem_of_rulings((old,), (short,), (Ruling("writes", "write a file", "invented", new),))
    assert (problem == "") is is_fair, problem


def _writing(file: FileCheck | None) -> Expect:
    return Expect(exit_code=0, stdout_contains=("done",), files={"o": file} if file else {})
