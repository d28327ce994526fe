"""Tests reported line by line."""

from pathlib import Path

from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.lines import read_go, read_lines, read_tap, read_verbose

P, F, S = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED
RECORDED = Path(__file__).parent / "recorded"

TAP = """\
TAP version 13
# Subtest: double
    # Subtest: two
    ok 1 - two
      ---
      duration_ms: 1
      ...
    not ok 2 - three
    ok 3 - later # SKIP
    1..3
not ok 1 - double
ok 2 - alone # time=3ms
not ok 3 - idea # TODO not yet
1..3
"""

VERBOSE = """\
test_two (test_app.DoubleTest.test_two) ... ok
test_three (test_app.DoubleTest.test_three)
Three is doubled. ... FAIL
test_later (test_app.DoubleTest) ... skipped 'later'
test_known (test_app.DoubleTest.test_known) ... expected failure
test_noise (test_app.DoubleTest.test_noise) ... printed by the test
ERROR
"""


def test_go_says_each_test_and_each_package_that_cannot_be_built() -> None:
    """Genuine output of `go test -json`, with a package that does not compile."""
    assert read_go((RECORDED / "go.jsonl").read_text()) == {
        "example.com/x::TestTwo/sub": P,
        "example.com/x::TestTwo": P,
        "example.com/x::TestThree": F,
        "example.com/x::TestLater": S,
        "example.com/x/b": F,
    }


def test_what_a_test_of_go_prints_is_no_event() -> None:
    """A line that is nearly an event, or none at all, is passed over."""
    assert read_go('{"Time": broken\n{"Action":"pass"}\nok\n[1]\n') == {}


def test_tap_names_tests_with_those_around_them() -> None:
    """A test that only groups others is left to them; a comment behind a name is no part of it."""
    assert read_tap(TAP) == {"double::two": P, "double::three": F, "double::later": S, "alone": P, "idea": S}


def test_ordinary_output_is_no_tap() -> None:
    """Without its first line, `ok` is a word."""
    assert read_tap("ok 1 - fine\n") == {}


def test_unittest_is_read_when_it_is_talkative() -> None:
    """Names in the old form and the new, with descriptions and with noise between name and outcome."""
    assert read_verbose(VERBOSE) == {
        "test_app.DoubleTest.test_two": P,
        "test_app.DoubleTest.test_three": F,
        "test_app.DoubleTest.test_later": S,
        "test_app.DoubleTest.test_known": S,
        "test_app.DoubleTest.test_noise": F,
    }


def test_our_own_lines_are_read() -> None:
    """A suite is no test, and a file that could not be loaded is one."""
    lines = [
        '{"file": "/p/a.js", "names": ["g", "x"], "suite": false, "outcome": "passed"}',
        '{"file": "/p/a.js", "names": ["g"], "suite": true, "outcome": "passed"}',
        '{"file": "/p/b.js", "names": ["/p/b.js"], "outcome": "failed"}',
    ]
    assert read_lines("\n".join(lines), "/p") == {"a.js::g::x": P, "b.js": F}
