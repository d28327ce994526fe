"""What runs of a check on base and change say together."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind, allow, silent
from harness_executor.kernel.testing import (
    REPEATS,
    Outcome,
    Ran,
    Runs,
    compare_runs,
    is_doubtful,
    settled,
    settled_pristine,
)

WORDS = {"p": Outcome.PASSED, "f": Outcome.FAILED, "s": Outcome.SKIPPED}
KINDS = FindingKind


def ran(passed: bool | None = None, /, **tests: str) -> Ran:
    """A run with these tests, `p`, `f` or `s`; names that are no Python names come in a mapping."""
    found = {name: WORDS[word] for name, word in tests.items()}
    return Ran(Outcome.FAILED not in found.values() if passed is None else passed, found)


def found(*runs: Ran | Mapping[str, str], pristine: Ran | None = None, **more: Any) -> list[tuple[str, str]]:
    """Kind and subject of what one run on each side shows."""
    base, change = (one if isinstance(one, Ran) else ran(**one) for one in runs)
    return kinds(Runs((base,), (change,), (pristine,) if pristine else (), **more))


def kinds(runs: Runs) -> list[tuple[str, str]]:
    """Kind and subject of what all runs show."""
    return [(one.kind.value, one.subject) for one in compare_runs("test", "pytest", runs).findings]


@pytest.mark.parametrize(
    ("base", "change", "becomes"),
    [
        ({"a": "p"}, {"a": "p"}, []),
        ({"a": "p"}, {"a": "f"}, [("broken", "a")]),
        ({"a": "s"}, {"a": "f"}, [("broken", "a")]),
        ({"a": "f"}, {"a": "f"}, []),
        ({"a": "f"}, {"a": "p"}, []),
        ({"a": "p"}, {"a": "s"}, [("skipped", "a")]),
        ({"a": "f"}, {"a": "s"}, [("skipped", "a")]),
        ({"a": "s"}, {"a": "s"}, []),
        ({"a": "s"}, {"b": "p"}, []),
        ({"a": "p", "b": "p"}, {"b": "p"}, [("removed", "a")]),
        ({"a": "f", "b": "p"}, {"b": "p"}, [("removed", "a")]),
        ({"a": "p"}, {"a": "p", "b": "f"}, [("broken", "b")]),
        ({"a": "p"}, {"a": "p", "b": "s"}, []),
        ({"a": "p", "b": "f"}, {}, [("removed", "a"), ("removed", "b")]),
    ],
)
def test_a_test_is_compared_with_base(
    base: dict[str, str], change: dict[str, str], becomes: list[tuple[str, str]]
) -> None:
    """Each pair of outcomes has one meaning."""
    assert found(base, change) == becomes


def test_a_runner_that_says_nothing_is_told_from_one_that_has_no_test() -> None:
    """Ending badly for want of any test is no failure by itself: each test that is gone asks."""
    silent = Runs((ran(a="p"),), (Ran(passed=False),))
    empty = Runs((ran(a="p"),), (Ran(passed=False, tests={}),))
    assert kinds(silent) == [("unreported", "")]
    assert compare_runs("test", "pytest", silent).turned_red
    gone = compare_runs("test", "pytest", empty)
    assert gone.questions == ("test: a was removed",)
    assert not gone.turned_red


def test_what_was_not_reached_after_a_failure_was_not_removed() -> None:
    """A runner that stops at the first failure is not said to have lost the rest."""
    assert found({"a": "p", "b": "p"}, {"a": "f"}) == [("broken", "a")]


@pytest.mark.parametrize(
    ("pristine", "becomes"),
    [
        ({"a": "p"}, []),
        ({"a": "f"}, [("weakened", "a")]),
        ({"a": "s"}, [("weakened", "a")]),
        ({"b": "p"}, [("weakened", "a")]),
        ({}, [("unreported", "")]),
    ],
)
def test_a_test_that_passes_only_as_the_change_has_it_is_weakened(
    pristine: dict[str, str], becomes: list[tuple[str, str]]
) -> None:
    """The version of base has to pass on the change too; when none of them runs, that is said once."""
    both = {"a": "p", "b": "p"} if "b" in pristine else {"a": "p"}
    assert found(both, both, pristine=ran(**pristine)) == becomes


def test_a_red_test_that_only_its_edit_makes_green_is_weakened() -> None:
    """A test that fails on base, and as base has it on the change, was not mended by the program."""
    assert found({"a": "f"}, {"a": "p"}, pristine=ran(a="f")) == [("weakened", "a")]
    assert found({"a": "f"}, {"a": "p"}, pristine=ran(a="p")) == []


def _named(**tests: str) -> Ran:
    """`x__a` is the test `a` of the file `x.py`."""
    return Ran(True, {name.replace("__", ".py::"): WORDS[word] for name, word in tests.items()})


def test_a_test_that_moved_is_not_gone() -> None:
    """The same name in another file is the same test, as long as the version of base passes."""
    old, new = _named(x__a="p"), _named(y__a="p")
    assert found(old, new) == []
    assert found(old, new, pristine=_named(x__a="p")) == []
    assert found(old, new, pristine=_named(x__a="f")) == [("removed", "x.py::a")]
    assert found(old, _named(y__a="s")) == [("removed", "x.py::a")]


def test_a_test_with_another_name_and_the_same_body_is_not_gone() -> None:
    """A test that was renamed counts as kept if it passes under its new name."""
    renamed = {"x.py::a": "x.py::b"}
    assert found(_named(x__a="p"), _named(x__b="p"), renamed=renamed) == []
    assert found(_named(x__a="p"), _named(x__b="s"), renamed=renamed) == [("removed", "x.py::a")]


def _all_pass(*names: str) -> Ran:
    return Ran(True, dict.fromkeys(names, Outcome.PASSED))


def test_other_parameters_are_no_loss_and_fewer_are() -> None:
    """Cases of one test may become others, and no fewer."""
    old = _all_pass("x.py::t[1]", "x.py::t[2]")
    assert found(old, _all_pass("x.py::t[3]", "x.py::t[4]")) == []
    fewer = found(old, _all_pass("x.py::t[3]"))
    assert fewer == [("removed", "x.py::t[1]"), ("removed", "x.py::t[2]")]


def test_one_new_test_stands_for_one_that_is_gone() -> None:
    """A copy elsewhere, or a case that came, hides no second test that was removed."""
    old, new = _named(x__a="p", y__a="p", z__b="p"), _named(new__a="p", z__b="p")
    assert found(old, new) == [("removed", "y.py::a")]
    assert found(old, new, renamed={"y.py::a": "new.py::a"}) == [("removed", "x.py::a")]
    cases = found(_all_pass("x.py::t[1]", "y.py::t[2]"), _all_pass("x.py::t[2]"))
    assert cases == [("removed", "y.py::t[2]")]


def test_the_test_that_was_removed_is_named_and_not_the_one_that_moved() -> None:
    """Where two files had tests of one name, the one that went as a whole is the one that moved."""
    old = _named(posts__a="p", posts__b="p", users__a="p", users__b="p", users__c="p")
    removed = [("removed", "posts.py::a"), ("removed", "posts.py::b")]
    assert found(old, _named(people__a="p", people__b="p", people__c="p")) == removed
    folders = _all_pass("c/u.py::x", "a/t.py::x", "b/t.py::x")
    assert found(folders, _all_pass("d/a/t.py::x", "d/b/t.py::x")) == [("removed", "c/u.py::x")]
    assert found(folders, _all_pass("d/a/t.py::x", "d/b/t.py::x", "d/c/u.py::x")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.test.js::adds [fast]", "a.test.js::adds [slow]"),
        ("a.test.js::adds[fast]", "a.test.js::adds[slow]"),
        ("a.test.js::[unit] adds", "a.test.js::[unit] exists"),
        ("app/[id]/a.test.tsx::adds", "app/[id]/b.test.tsx::exists"),
        ("a.py::C::adds [fast]", "a.py::C::adds [slow]"),
    ],
)
def test_brackets_in_a_title_or_a_path_are_no_parameters(old: str, new: str) -> None:
    """Another test with the same beginning does not stand for one that was removed."""
    assert found(_all_pass(old, "kept"), _all_pass(new, "kept")) == [("removed", old)]


def test_a_test_whose_name_is_another_in_every_run_is_not_gone() -> None:
    """What two runs of base call otherwise is told, as long as the change has as many that pass."""
    base = (_named(x__a1="p", x__b="p"), _named(x__a2="p", x__b="p"))
    kept, pristine = _named(x__a3="p", x__b="p"), (_named(x__a4="p", x__b="p"),)
    assert is_doubtful(Runs(base[:1], (kept,), pristine))
    assert not is_doubtful(Runs(base, (kept,), pristine))
    assert kinds(Runs(base[:1], (kept,), pristine)) == [("removed", "x.py::a1")]
    assert kinds(Runs(base, (kept,), pristine)) == [("flaky", "x.py::a1")]
    assert ("removed", "x.py::a1") in kinds(Runs(base, (kept,), (_named(x__a4="f", x__b="p"),)))


@pytest.mark.parametrize("change", [{"x__b": "p"}, {"x__b": "p", "x__a3": "f"}, {"x__b": "p", "x__a3": "s"}])
def test_a_test_without_a_lasting_name_may_not_go(change: dict[str, str]) -> None:
    """Where nothing that passes has come for it, it was removed."""
    base = (_named(x__a1="p", x__b="p"), _named(x__a2="p", x__b="p"))
    assert not is_doubtful(Runs(base[:1], (_named(**change),)))
    found = kinds(Runs(base, (_named(**change),)))
    assert [one for one in found if one[0] in ("removed", "broken")]


@pytest.mark.parametrize("again", [{"x__a": "p", "x__b": "p"}, {"x__b": "p"}, {}])
def test_a_test_that_has_a_lasting_name_is_gone(again: dict[str, str]) -> None:
    """Asking base again excuses nothing that it reports again, and nothing where it reports less."""
    base = (_named(x__a="p", x__b="p"), _named(**again))
    assert kinds(Runs(base, (_named(x__c="p", x__b="p"),))) == [("removed", "x.py::a")]


def _repeated(base: str, change: str) -> Runs:
    """One test, run several times on each side beside another; `-` is a run that does not report it."""
    sides = ([{"a": word} if word != "-" else {} for word in side] for side in (base, change))
    old, new = (tuple(ran(b="p", **tests) for tests in side) for side in sides)
    return Runs(old, new)


@pytest.mark.parametrize(
    ("base", "change", "kind", "blocks"),
    [
        ("pppp", "ffff", "broken", True),
        ("ppfp", "ffff", "flaky", False),
        ("pp", "fp", "flaky", False),
        ("pf", "ff", "flaky", False),
        ("pppp", "fsss", "broken", True),
        ("pppp", "f---", "broken", True),
        ("ssss", "fs--", "broken", True),
        ("p", "p", None, False),
    ],
)
def test_what_differs_between_runs_decides_nothing(
    base: str, change: str, kind: str | None, blocks: bool
) -> None:
    """Only what fails on the change, never passes there and never fails on base is broken."""
    result = compare_runs("test", "pytest", _repeated(base, change))
    assert [finding.kind.value for finding in result.findings] == ([kind] if kind else [])
    assert result.blocks is blocks


@pytest.mark.parametrize(
    ("base", "change", "is_settled"),
    [
        ("p", "p", True),
        ("f", "f", True),
        ("p", "f", False),
        ("ppp", "fff", False),
        ("pppp", "ffff", True),
        ("pf", "ff", True),
        ("pp", "fp", True),
        ("pp", "fs", False),
        ("pp", "f-", False),
    ],
)
def test_is_repeated_only_while_that_can_change_something(base: str, change: str, is_settled: bool) -> None:
    """A red test is run again until it wavers or the tries are used up."""
    assert settled(_repeated(base, change)) is is_settled
    assert REPEATS == 3


def test_a_command_without_tests_is_repeated_too_but_not_one_that_was_stopped() -> None:
    """A red exit code alone may be chance; a quarter of an hour is not spent again."""
    assert not settled(Runs((Ran(True),), (Ran(False),)))
    assert settled(Runs((Ran(True),), (Ran(False, cause="it ran out of time"),)))
    assert settled(Runs((Ran(True),), (Ran(False, problems=("a.py: E1",)),)))


def test_base_tests_on_the_change_are_repeated_while_they_hide_something() -> None:
    """A test of base that fails on the change is run again before it is called weakened."""
    runs = Runs((ran(a="p"),), (ran(a="p"),), (ran(a="f"),))
    assert not settled_pristine(runs)
    assert settled_pristine(Runs(runs.base, runs.change, (ran(a="f"), ran(a="p"))))
    assert settled_pristine(Runs(runs.base, runs.change, (ran(a="f"),) * 4))


def test_unknown_tests_are_said_and_only_the_exit_code_counts() -> None:
    """A command that names no test is compared as a whole, and never silently."""
    result = compare_runs("test", "make", Runs((Ran(True),), (Ran(True),)))
    assert [finding.kind for finding in result.findings] == [KINDS.UNKNOWN]
    assert not result.blocks
    assert compare_runs("test", "make", Runs((Ran(True),), (Ran(False),))).blocks
    assert compare_runs("lint", "make", Runs((Ran(True),), (Ran(True),))).findings == ()


@pytest.mark.parametrize(
    ("base", "change", "is_told"),
    [
        (Ran(False), Ran(False), True),
        (Ran(False), Ran(True), False),
        (Ran(False), Ran(False, problems=("a.py: E1 x",)), False),
        (Ran(False, problems=("a.py: E1 x",)), Ran(False), False),
        (Ran(False, cause="it ran out of time"), Ran(False), False),
    ],
)
def test_a_check_that_is_red_and_says_nothing_is_told(base: Ran, change: Ran, is_told: bool) -> None:
    """Where nothing of two failures can be compared, a reader knows that nothing was."""
    result = compare_runs("lint", "make lint", Runs((base,), (change,)))
    said = [str(finding) for finding in result.findings if finding.kind is KINDS.UNKNOWN]
    wanted = "what lint complains of on either side is not known; only the exit code was compared"
    assert said == ([wanted] if is_told else [])


def test_a_red_exit_code_blocks_although_every_test_passes() -> None:
    """A command that fails for another reason than its tests is newly red all the same."""
    result = compare_runs("test", "pytest", Runs((ran(a="p"),) * 4, (ran(False, a="p"),) * 4))
    assert result.turned_red
    assert result.blocks


def test_a_green_exit_code_hides_no_broken_test() -> None:
    """`|| true` at the end of a command changes nothing."""
    result = compare_runs("test", "pytest || true", Runs((ran(a="p"),), (ran(True, a="f"),)))
    assert not result.turned_red
    assert result.blocks


def _lint(*problems: str) -> Ran:
    return Ran(not problems, None, problems)


@pytest.mark.parametrize(
    ("base", "change", "worse"),
    [
        (("a.py: E1 x",), ("a.py: E1 x",), []),
        (("a.py: E1 x",), ("a.py: E1 x", "a.py: E1 x"), ["a.py: E1 x"]),
        (("a.py: E1 x",), ("a.py: E1 x", "b.py: E2 y"), ["b.py: E2 y"]),
        (("a.py: E1 x",), ("moved.py: E1 x",), []),
        (("a.py: E1 x",), (), []),
        ((), ("a.py: E1 x",), ["a.py: E1 x"]),
    ],
)
def test_only_new_problems_count(base: tuple[str, ...], change: tuple[str, ...], worse: list[str]) -> None:
    """A linter that was red may stay so; what it did not say on base counts."""
    result = compare_runs("lint", "ruff", Runs((_lint(*base),), (_lint(*change),)))
    assert [finding.subject for finding in result.findings] == worse
    assert result.blocks is bool(worse)


@pytest.mark.parametrize(
    ("base", "change", "ruled", "said"),
    [
        (_lint(), _lint(), _lint("a.py: E1 x"), "by the rules of base it fails on the change; a.py: E1 x"),
        (_lint(), _lint(), Ran(False), "by the rules of base it fails on the change"),
        (_lint(), _lint(), _lint(), ""),
        (_lint(), _lint(), Ran(False, cause="it ran out of time"), ""),
        (_lint("a.py: E1 x"), _lint("a.py: E1 x"), _lint("a.py: E1 x", "b.py: E1 y"), "b.py: E1 y"),
        (_lint("a.py: E1 x"), _lint(), _lint("a.py: E1 x"), ""),
        (Ran(False), Ran(False), Ran(False), ""),
    ],
)
def test_a_check_that_holds_by_other_rules_only_is_weakened(
    base: Ran, change: Ran, ruled: Ran, said: str
) -> None:
    """What the rules of base say of the change, and neither base nor the change says, is asked about."""
    result = compare_runs("lint", "ruff", Runs((base,), (change,), (ruled,) * 4))
    weakened = [one for one in result.findings if one.kind is KINDS.WEAKENED]
    assert [one.subject for one in weakened] == (["lint"] if said else [])
    assert all(said in one.detail and one.asks for one in weakened)


def test_a_check_by_the_rules_of_base_is_repeated_while_that_may_be_chance() -> None:
    """A red one that names no problem is run again; a green one, or a problem with a name, is enough."""
    runs = Runs((_lint(),), (_lint(),), (Ran(False),))
    assert not settled_pristine(runs)
    assert settled_pristine(Runs(runs.base, runs.change, (Ran(False), Ran(True))))
    assert settled_pristine(Runs(runs.base, runs.change, (_lint("a.py: E1 x"),)))


def test_what_stopped_a_command_is_named() -> None:
    """Time and memory have their names, in the findings and in the output."""
    slow = Ran(False, cause="it ran out of time", output="…")
    result = compare_runs("test", "pytest", Runs((ran(a="p"),), (slow,)))
    assert str(result.findings[0]) == "test on the change did not end by itself: it ran out of time"
    assert result.output.endswith("[it ran out of time]")


def test_a_person_allows_by_name_or_pattern_and_never_what_is_broken() -> None:
    """What is allowed keeps the words that allowed it; the rest still asks."""
    kinds = (KINDS.REMOVED, KINDS.SKIPPED, KINDS.BROKEN, KINDS.UNREPORTED)
    findings = tuple(map(CheckFinding, kinds, ("t[a]", "x", "y", "")))
    result = CheckResult("test", "pytest", True, True, findings=findings)
    (some,) = allow((result,), ("t[a]",))
    assert [one.allowed for one in some.findings] == ["t[a]", "", "", ""]
    assert some.questions == (
        "test: x ran on base and is skipped now",
        "test: the change does not say which tests ran",
    )
    (everything,) = allow((result,), ("*",))
    assert everything.questions == ()
    assert everything.blocks


def test_very_many_findings_are_counted_and_still_decide() -> None:
    """What is not kept by name is kept as a number of its kind."""
    many = {f"t{number}": "p" for number in range(900)}
    result = compare_runs("test", "pytest", Runs((ran(**many, a="p"),), (ran(a="p"),)))
    assert len(result.findings) == 501
    assert result.questions[-1] == "test: 400 more was removed"


def test_evidence_keeps_no_output() -> None:
    """What commands printed is not part of the evidence."""
    (quiet,) = silent((CheckResult("test", "pytest", True, True, "long"),))
    assert quiet.output == ""


TESTS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("pfs"), max_size=6)


@given(TESTS, TESTS)
def test_no_lost_test_is_silent(base: dict[str, str], change: dict[str, str]) -> None:
    """Whatever passed on base passes on the change, or something is said that blocks or asks."""
    result = compare_runs("test", "pytest", Runs((ran(**base),), (ran(**change),)))
    lost = [name for name, word in base.items() if word == "p" and change.get(name) != "p"]
    if lost:
        assert result.blocks or result.questions


def test_a_test_that_wavers_on_the_change_is_not_excused_where_its_version_of_base_fails() -> None:
    """A change that turns a test green now and then has altered it, if base's own never passes there."""
    runs = Runs(
        (ran(a="p"),) * 2,
        (ran(a="f"), ran(a="p")),
        (ran(a="f"),) * 4,
    )
    (finding,) = compare_runs("test", "pytest", runs).findings
    assert (finding.kind, finding.asks) == (KINDS.WEAKENED, True)


def test_a_check_that_hangs_counts_only_if_it_does_every_time() -> None:
    """It is tried once more; what then comes to its end was only slow."""
    hung = Ran(passed=False, cause="it was ended after 61 s, and base took 1 s", hangs=True)
    once, twice = Runs((ran(a="p"),), (hung,)), Runs((ran(a="p"),) * 2, (hung, hung))
    assert (settled(once), settled(twice)) == (False, True)
    assert compare_runs("test", "pytest", twice).findings[0].blocks
    saved = compare_runs("test", "pytest", Runs((ran(a="p"),) * 2, (hung, ran(a="p"))))
    assert (saved.blocks, [one.kind for one in saved.findings]) == (False, [KINDS.FLAKY])
