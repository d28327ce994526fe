"""What linters and compilers complain about."""

import pytest

from harness_executor.workspace.testing.problems import find_problems

RUFF = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |\nhelp: Remove it\n"
ESLINT = "/p/src/a.js\n  1:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem\n"

PRETTIER = """\
Checking formatting...
[warn] src/a b.ts
[warn] Code style issues found in the above file. Run Prettier with --write to fix.
"""


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (RUFF, "a.py: F401 [*] `os` imported but unused"),
        (
            "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n",
            "a.py: F401 [*] `os` imported but unused",
        ),
        ("./a.py:1:1: E302 expected 2 blank lines\n", "a.py: E302 expected 2 blank lines"),
        (ESLINT, "src/a.js: error 'x' is assigned a value but never used no-unused-vars"),
        ("a.py:2: error: Incompatible types  [assignment]\n", "a.py: error: Incompatible types [assignment]"),
        ("a.py:2: note: see here\na.py:2: error: Bad\n", "a.py: error: Bad"),
        ("src/a.ts(3,7): error TS2322: Type 'x'\n", "src/a.ts: error TS2322: Type 'x'"),
        ("  /p/a.py:3:5 - error: Bad thing (rule)\n", "a.py: error: Bad thing (rule)"),
        ("\x1b[1ma.py\x1b[0m:1:8: E1 bad\n", "a.py: E1 bad"),
        ("./main.go:3:2: undefined: x\n", "main.go: undefined: x"),
        ("would reformat /p/a.py\nOh no!\n1 file would be reformatted.\n", "a.py: wrong format"),
        ("Would reformat: a.py\n1 file would be reformatted\n", "a.py: wrong format"),
        (PRETTIER, "src/a b.ts: wrong format"),
        ("a.py:9:1: F811 redefinition of 'x' from line 3\n", "a.py: F811 redefinition of 'x' from line …"),
        ("a.py:9:1: E501 line too long (95 > 88)\n", "a.py: E501 line too long (…)"),
        ("a.py:1:0: C0302: Too many lines in module (24/20)\n", "a.py: C0302: Too many lines in module (…)"),
        ("a.py:1:1: C901 `f` is too complex (11 > 10)\n", "a.py: C901 `f` is too complex (…)"),
        ("a.ts:1:1 - error TS2322: '1/2' is no number\n", "a.ts: error TS2322: '1/2' is no number"),
    ],
)
def test_every_form_becomes_file_and_message(output: str, problem: str) -> None:
    """Lines are left out, so that code may move, and counts, so that what was too much may grow."""
    assert find_problems(output, "/p") == (problem,)


def test_ordinary_output_has_no_problems() -> None:
    """Progress, times and addresses are nothing to complain about."""
    assert find_problems("12:30:01 start\nhttp://127.0.0.1:80: up\nall good\n", "/p") == ()
