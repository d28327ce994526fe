"""Programs of a project: what they are given, how they end, and what cannot be made up."""

import json
from pathlib import Path

import pytest

from harness_executor.evidence.executing import Yard
from harness_executor.kernel.acts import Probe, Program, Query
from harness_executor.sandbox.base import Sandbox
from tests.evidence.yards import NODE, PYTHON, ended, shell, value, yard_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for a tree and what is said."""
    return tmp_path / "place"


def test_streams_and_code_are_kept_apart(folder: Path, sandbox: Sandbox) -> None:
    """Output, error output and exit code are what the program made them."""
    with yard_of(folder, sandbox, {}) as yard:
        done = ended(yard.run(shell("cat; echo bad >&2; exit 3", stdin="given\n")))
    assert (done.status, done.body, done.stderr) == (3, "given\n", "bad\n")


def test_a_program_finds_its_files_arguments_and_variables(folder: Path, sandbox: Sandbox) -> None:
    """Files are written first, and the variables of step and project are there."""
    script = "import os, sys; print(open('in/a.txt').read(), sys.argv[1:], os.environ['A'], os.environ['B'])"
    with yard_of(folder, sandbox, {}, env={"A": "1", "B": "2"}) as yard:
        program = Program(("python", "-c", script, "x y"), env={"B": "3"}, files={"in/a.txt": "text"})
        assert ended(yard.run(program)).body == "text ['x y'] 1 3\n"


def test_files_are_looked_at_after_the_end(folder: Path, sandbox: Sandbox) -> None:
    """Only the files that are asked about and are there are part of the ending."""
    with yard_of(folder, sandbox, {}) as yard:
        done = ended(yard.run(shell("mkdir out; echo one > out/a; echo two > b"), ("out/a", "out", "none")))
    assert done.files == {"out/a": "one\n", "out": "a\n"}


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("kill -SEGV $$", "it was killed by signal 11 (SIGSEGV)"),
        ("sleep 60", "it ran out of time"),
        ("yes", "it printed more than is kept"),
        ("yes >&2", "it printed more than is kept"),
    ],
)
def test_an_ending_that_is_none_has_a_named_cause(
    folder: Path, sandbox: Sandbox, script: str, why: str
) -> None:
    """A crash is not an exit code, so that `nonzero` never accepts one."""
    with yard_of(folder, sandbox, {}) as yard:
        deed = yard.run(shell(script, seconds=4.0 if "yes" not in script else 60.0))
    assert deed.answer is None
    assert deed.error.startswith(why)


def test_a_program_that_is_not_there_has_not_ended(folder: Path, sandbox: Sandbox) -> None:
    """The name of the program is in the error."""
    with yard_of(folder, sandbox, {}) as yard:
        deed = yard.run(Program(("no-such-program", "x")))
        text = yard.run(Program(("x" * 200_000,)))
    assert deed.answer is None
    assert "cannot start no-such-program" in deed.error
    assert text.answer is None
    assert "it cannot be started" in text.error


def test_what_a_program_leaves_running_is_ended(folder: Path, sandbox: Sandbox) -> None:
    """The output of a child that goes on does not keep the step from ending."""
    with yard_of(folder, sandbox, {}) as yard:
        done = ended(yard.run(shell("(sleep 600; echo late) & echo early", seconds=30)))
    assert done.body == "early\n"


def test_programs_have_a_home_that_is_not_the_users(folder: Path, sandbox: Sandbox, home: Path) -> None:
    """What a program keeps in its home is neither the user's nor another copy's."""
    with yard_of(folder, sandbox, {}) as yard:
        yard.run(shell("touch $HOME/.kept"))
        assert "kept" in ended(yard.run(shell("ls -A $HOME"))).body
    with yard_of(folder / "other", sandbox, {}) as yard:
        assert "kept" not in ended(yard.run(shell("ls -A $HOME"))).body
    assert not (home / ".kept").exists()


def test_a_probe_says_the_value_of_its_last_line(folder: Path, sandbox: Sandbox) -> None:
    """Code finds its arguments; the project's modules are imported from the root and from src."""
    files = {"top.py": "def double(n): return n * 2\n", "src/inner/__init__.py": "NAME = 'inner'\n"}
    with yard_of(folder, sandbox, files) as yard:
        code = "import top\nfrom inner import NAME\n{'n': top.double(args[0]), 'name': NAME, 'all': args}"
        assert value(yard, PYTHON, code, 21, {"a": None}) == {
            "n": 42,
            "name": "inner",
            "all": [21, {"a": None}],
        }


def test_what_a_library_prints_is_no_value(folder: Path, sandbox: Sandbox) -> None:
    """Whatever is printed while a probe runs, at any layer, is kept beside its value."""
    noisy = "import os, sys\nprint('{}')\nos.write(1, b'[1]')\nos.system('echo null')\ndef f(): return 7\n"
    with yard_of(folder, sandbox, {"noisy.py": noisy}) as yard:
        done = ended(yard.probe(Probe(PYTHON, "import noisy\nnoisy.f()")))
    assert done.body == "7"
    assert all(part in done.stderr for part in ("{}", "[1]", "null"))


def test_values_that_are_not_json_are_marked(folder: Path, sandbox: Sandbox) -> None:
    """An object, a set and a number that JSON has not are shown as Python shows them."""
    with yard_of(folder, sandbox, {}) as yard:
        assert value(yard, PYTHON, "[{1}, float('inf'), b'x', (1, None), {2: 'two'}]") == [
            {"repr": "{1}", "type": "set"},
            {"repr": "inf", "type": "float"},
            {"repr": "b'x'", "type": "bytes"},
            [1, None],
            {"2": "two"},
        ]


def test_async_values_are_awaited(folder: Path, sandbox: Sandbox) -> None:
    """A coroutine is run to its value, at the end of a probe and within it."""
    code = "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\n"
    with yard_of(folder, sandbox, {}) as yard:
        assert value(yard, PYTHON, f"{code}f(3)") == 3
        assert value(yard, PYTHON, f"{code}a = await f(4)\na + 1") == 5
        assert value(yard, NODE, "Promise.resolve(6)") == 6


def test_an_error_of_a_probe_is_code_one_with_its_trace(folder: Path, sandbox: Sandbox) -> None:
    """The type and the words of the error are in the error output."""
    with yard_of(folder, sandbox, {}) as yard:
        python = ended(yard.probe(Probe(PYTHON, "import nothing_there\n1")))
        node = ended(yard.probe(Probe(NODE, "throw new RangeError('too far')\n1")))
        left = ended(yard.probe(Probe(PYTHON, "raise SystemExit(0)\n1")))
    assert (python.status, python.body) == (1, "")
    assert "ModuleNotFoundError: No module named 'nothing_there'" in python.stderr
    assert node.status == 1
    assert "RangeError: too far" in node.stderr
    assert left.status == 1


@pytest.mark.parametrize(
    "trick",
    [
        "import os; os._exit(0)",
        "import os; os.close(3); os._exit(0)",
        "import os\nfor n in range(3, 9):\n    try: os.write(n, b'[')\n    except OSError: pass",
    ],
)
def test_a_library_that_ends_the_probe_gives_no_value(folder: Path, sandbox: Sandbox, trick: str) -> None:
    """An end with code 0 and without one whole value is no answer."""
    with yard_of(folder, sandbox, {"trick.py": trick}) as yard:
        deed = yard.probe(Probe(PYTHON, "import trick\n7"))
    assert deed.answer is None
    assert "without a value" in deed.error


def test_a_library_cannot_change_how_a_value_is_written(folder: Path, sandbox: Sandbox) -> None:
    """Replaced writers and types that lie about themselves do not reach the value."""
    library = (
        "import json, os, sys, math\n"
        "json.dumps = lambda *a, **k: '42'\njson._default_encoder = None\nsys.stdout = None\n"
        "os.write = lambda *a: 0\nmath.isfinite = lambda n: False\n"
        "class Lie(dict):\n"
        "    def items(self): return [('right', True)]\n"
        "    def __eq__(self, other): return True\n"
        "    __hash__ = None\n"
        "class Text(str):\n"
        "    def __str__(self): return 'right'\n"
        "    def __repr__(self): return 'right'\n"
        "def f(): return Lie(wrong=Text('wrong'))\n"
    )
    with yard_of(folder, sandbox, {"lies.py": library}) as yard:
        assert value(yard, PYTHON, "import lies\nlies.f()") == {"wrong": "wrong"}


NODE_FILES = {
    "package.json": '{"name": "thing"}',
    "lib.js": "console.log('{}'); require('fs').writeSync(1, '[1]'); exports.twice = (n) => n * 2;",
    "mod.mjs": "export default (n) => n + 1; export const name = 'mod'; export const later = async () => 9;",
}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("const { twice } = require('./lib.js');\ntwice(args[0])", 42),
        ("const m = await import('./mod.mjs');\n[m.default(args[0]), await m.later()]", [22, 9]),
        ("import plus, { name as n } from './mod.mjs';\n[plus(1), n]", [2, "mod"]),
        ("import * as all from './mod.mjs'\nall.name", "mod"),
        ("import './mod.mjs';\nlet a = 1; a += 1; a", 2),
        ("const text = 'a;b\\n';\n({ text,\n  nothing: undefined })\n// the end", {"text": "a;b\n"}),
        ("[new Date(0), undefined]", ["1970-01-01T00:00:00.000Z", None]),
        ("new Map([[1, 2]])", {"repr": "Map(1) { 1 => 2 }", "type": "Map"}),
        ("[1n, NaN]", [{"repr": "1n", "type": "BigInt"}, {"repr": "NaN", "type": "Number"}]),
    ],
)
def test_node_probes_know_both_kinds_of_modules(
    folder: Path, sandbox: Sandbox, code: str, expected: object
) -> None:
    """Modules of both kinds are imported, and the last expression is the value, whatever is printed."""
    with yard_of(folder, sandbox, NODE_FILES) as yard:
        assert value(yard, NODE, code, 21) == expected


def test_node_probes_work_in_a_project_of_modules(folder: Path, sandbox: Sandbox) -> None:
    """Where every file is an ES module, a probe imports them all the same."""
    files = {"package.json": '{"type": "module", "name": "thing"}', "index.js": "export const n = 5;"}
    with yard_of(folder, sandbox, files) as yard:
        assert value(yard, NODE, "import { n } from './index.js';\nn") == 5
        assert value(yard, NODE, "(await import('./index.js')).n + 1") == 6


def test_sqlite_files_of_the_tree_are_asked(folder: Path, sandbox: Sandbox) -> None:
    """Statements are carried out in their order, and the rows of the last are the answer."""
    make = "create table t (n integer, s text); insert into t values (1, 'a;b'), (2, null)"
    with yard_of(folder, sandbox, {}) as yard:
        assert ended(yard.query(Query("sqlite:data.db", make))).json() == []
        rows = ended(yard.query(Query("sqlite:data.db", "select * from t order by n;")))
        wrong = ended(yard.query(Query("sqlite:data.db", "select * from u")))
        with pytest.raises(LookupError, match="no file of the project"):
            yard.query(Query("sqlite:../data.db", "select 1"))
    assert rows.json() == [{"n": 1, "s": "a;b"}, {"n": 2, "s": None}]
    assert wrong.status == 1
    assert "no such table" in wrong.stderr


def test_programs_of_the_project_are_found(folder: Path, sandbox: Sandbox) -> None:
    """What the project has in node_modules/.bin is found before what the machine has."""
    with yard_of(folder, sandbox, {"node_modules/.bin/own": "#!/bin/sh\necho own $1\n"}) as yard:
        (yard.room.tree / "node_modules/.bin/own").chmod(0o700)
        assert ended(yard.run(Program(("own", "x")))).body == "own x\n"


def test_an_installed_copy_of_the_project_is_not_what_runs(folder: Path, sandbox: Sandbox) -> None:
    """The tree's own code is imported before any copy that was installed earlier."""
    installed = "old/site/pkg/__init__.py"
    files = {"src/pkg/__init__.py": "V = 'tree'\n", installed: "V = 'installed'\n"}
    with yard_of(folder, sandbox, files) as yard:
        code = "import sys\nsys.path.append('old/site')\nimport pkg\npkg.V"
        assert value(yard, PYTHON, code) == "tree"


def test_what_was_run_can_be_read(folder: Path, sandbox: Sandbox) -> None:
    """A deed says what it was, in short, and has no more of the environment than was asked for."""

    def asked(yard: Yard) -> list[str]:
        run = yard.run(Program(("echo", "a")))
        probe = yard.probe(Probe(PYTHON, "1\n2\n"))
        query = yard.query(Query("sqlite:d.db", "select 1"))
        assert json.loads(json.dumps(dict(run.env))) == {}
        return [deed.asked for deed in (run, probe, query)]

    with yard_of(folder, sandbox, {}) as yard:
        assert asked(yard) == ["`echo a`", "probe `2`", "query d.db: `select 1`"]
