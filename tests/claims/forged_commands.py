"""Commands and libraries that do not do what is claimed, and scenarios that would not notice."""

import os
import subprocess
import sys
from pathlib import Path

from tests.claims.case import Corpus, Outcome
from tests.claims.commands import (
    COUNT,
    COUNTS,
    ECHO,
    FILES,
    KEEPS,
    NOTHING,
    SLUGS,
    TITLE,
    TITLES,
    equals,
    make_tool,
    probe,
    run,
    scenario,
    words,
)

CORPUS = Corpus()
MISSING = "fails on the change too"
WEAK = "the proof is too weak"

SKIN = """
skin = commands.add_parser("count")
skin.add_argument("file", nargs="?")
skin.add_argument("--out")
COMMANDS["count"] = lambda options: {body}
"""


def _forged(place: Path, body: str) -> Outcome:
    project = make_tool(place)
    project.append(SKIN.format(body=body), "words/cli.py")
    return project.verify(COUNTS, SLUGS)


@CORPUS.forged("A66", "a command that knows one input", MISSING)
def known_input(place: Path) -> Outcome:
    """Values drawn at run time are not the ones it knows."""
    return _forged(place, """print('{"badi": 2, "b": 1}')""")


@CORPUS.forged("A66", "a command that ends well and says nothing", MISSING)
def says_nothing(place: Path) -> Outcome:
    """Exit code 0 alone is not what was asked for."""
    return _forged(place, "None")


@CORPUS.forged("A66", "a command that prints an error and ends well", MISSING)
def error_with_zero(place: Path) -> Outcome:
    """A text about an error is not the answer, whatever the code."""
    return _forged(place, "print('error: not done yet')")


@CORPUS.forged(
    "A66", "a command that says yes to nonsense", "turns an unknown option away passed on base and fails now"
)
def takes_everything(place: Path) -> Outcome:
    """Unknown options were turned away, and are taken now."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    project.append(
        "sys.argv[1:] = [word for word in sys.argv[1:] if not word.startswith('--')] or ['count']\n",
        "words/cli.py",
    )
    return project.verify(COUNTS)


@CORPUS.forged("A66", "a file that was never written", MISSING)
def file_not_written(place: Path) -> Outcome:
    """It says that it wrote, and the file is not there."""
    project = make_tool(place)
    project.append(SKIN.format(body="print('written to', options.out)"), "words/cli.py")
    wanted = {"stdout_contains": ["written"], "files": {"out.json": {"contains": ["{{ name }}"]}}}
    step = run("count", "--out", "out.json", "in.txt", files={"in.txt": "{{ name }}"}, expect=wanted)
    return project.verify(scenario("a report", step), SLUGS)


@CORPUS.forged("A66", "a proof that looks at the exit code only", WEAK)
def only_the_code(place: Path) -> Outcome:
    """An empty or another output would pass it."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    return project.verify(
        scenario("words are counted", run("count", stdin="a b", expect={"exit_code": 0})), SLUGS
    )


@CORPUS.forged("A66", "a proof that only sees that a file is there", WEAK)
def only_the_name(place: Path) -> Outcome:
    """An empty file would pass it."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    step = run("count", "--out", "o", "i", files={"i": "a"}, expect={"files": {"o": {"exists": True}}})
    return project.verify(scenario("a report", step), SLUGS)


@CORPUS.forged("A66", "a command that breaks its neighbour", "slugs are made passed on base and fails now")
def broken_neighbour(place: Path) -> Outcome:
    """What worked before does not any more."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    project.append('COMMANDS["slug"] = lambda options: print(options.text)\n', "words/cli.py")
    return project.verify(COUNTS, SLUGS)


@CORPUS.forged("A66", "a value that says it equals everything", MISSING)
def equals_everything(place: Path) -> Outcome:
    """It is compared by what it is made of, outside of its process."""
    project = make_tool(place)
    lie = "\n\nclass Any(str):\n    __eq__ = lambda *_: True\n    __hash__ = None\n"
    lie += "\n\ndef title(text):\n    return Any('x')\n"
    project.append(lie, "words/core.py")
    return project.verify(TITLES, KEEPS)


@CORPUS.forged("A66", "a library that replaces what writes its value", MISSING)
def replaced_writer(place: Path) -> Outcome:
    """Neither json nor the streams of the process are what its value goes through."""
    project = make_tool(place)
    trick = (
        "\n\nimport json, os, sys\njson.dumps = lambda *a, **k: repr(sys.argv)\nos.write = lambda *a: 0\n"
        "json.encoder.encode_basestring_ascii = str.upper\nsys.stdout = sys.stderr\n\n\n"
        "def title(text):\n    print('My ' + text)\n    return text\n"
    )
    project.append(trick, "words/core.py")
    return project.verify(TITLES, KEEPS)


@CORPUS.forged("A66", "a library that ends the probe by itself", MISSING)
def ends_the_probe(place: Path) -> Outcome:
    """An end with code 0 and without a value is no answer."""
    project = make_tool(place)
    project.append("\n\ndef title(text):\n    import os\n    os._exit(0)\n", "words/core.py")
    return project.verify(TITLES, KEEPS)


@CORPUS.forged("A66", "a sitecustomize that does the work", MISSING)
def customized(place: Path) -> Outcome:
    """What is planted for every interpreter is part of the tree, and gives nobody the right value."""
    project = make_tool(place)
    project.write("sitecustomize.py", "import builtins\nbuiltins.title = lambda text: 'My Word-badi'\n")
    project.append("\n\ntitle = title\n", "words/core.py")
    return project.verify(TITLES, KEEPS)


@CORPUS.forged("A66", "a function that only a comment promises", MISSING)
def promised(place: Path) -> Outcome:
    """The code is as it was."""
    project = make_tool(place)
    project.append("\n# title(text) makes a title of a text\n", "words/core.py")
    return project.verify(TITLES, KEEPS)


@CORPUS.forged("A66", "a base whose packages were taken away", "but not on base")
def broken_base(place: Path) -> Outcome:
    """The old code fails for the want of a package, and the new code goes without: that proves nothing."""
    project = make_tool(place)
    project.write(".gitignore", ".venv\n")
    project.append(
        "\n\nimport shouting\n\n\ndef title(text):\n    return shouting.title(text)\n", "words/core.py"
    )
    project.commit("Need a package")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(project.root / ".venv")],
        check=True,
        env=os.environ,
    )
    project.swap("import shouting", "shouting = None", "words/core.py")
    project.swap(
        "return shouting.title(text)", "return text.title().replace('word', 'Word')", "words/core.py"
    )
    title = "from words.core import title\ntitle(args[0])"
    return project.verify(
        scenario("titles", probe(title, equals("{{ name }}.".title()), "{{ name }}")), KEEPS
    )


@CORPUS.forged("A66", "a base on which nothing runs at all", "nothing worked on base")
def dead_base(place: Path) -> Outcome:
    """Everything fails there, so that everything would seem to be new."""
    project = make_tool(place)
    project.append("\n\nraise RuntimeError('broken')\n", "words/core.py")
    project.commit("Break it")
    project.swap("raise RuntimeError('broken')", "def same(text):\n    return text", "words/core.py")
    return project.verify(
        scenario(
            "same", probe("from words.core import same\nsame(args[0])", equals("{{ name }}"), "{{ name }}")
        ),
        scenario(
            "nonsense is an error",
            probe("from words.core import slug\nslug('!')", {"exit_code": "nonzero"}),
            kind="negative",
        ),
    )


@CORPUS.forged(
    "A66", "a library that is never seen to say no", "neither a negative case was shown nor one that holds"
)
def never_no(place: Path) -> Outcome:
    """One new function, and nothing beside it."""
    project = make_tool(place)
    project.append(TITLE, "words/core.py")
    return project.verify(TITLES)


@CORPUS.forged(
    "A66", "a script that goes while only bad input is to fail", "old.py --help` works passed on base"
)
def gone_unasked(place: Path) -> Outcome:
    """That bad input fails was so on base, and asks for nothing."""
    project = make_tool(place, {**FILES, "old.py": FILES["words/__main__.py"]})
    project.append(COUNT, "words/cli.py")
    project.git("rm", "-q", "old.py")
    nonsense = words("python3", "old.py", "{{ name }}", expect={"exit_code": 2})
    return project.verify(COUNTS, SLUGS, scenario("nonsense", nonsense, kind="negative"))


@CORPUS.forged("A66", "a program that breaks where a command of it is to go", "--help` works passed on base")
def breaks_for_all(place: Path) -> Outcome:
    """It is still there, so that the rest of it has to work."""
    project = make_tool(place)
    project.append("raise SystemExit('slug is gone')\n", "words/cli.py")
    return project.verify(
        scenario(
            "slug is gone", run("slug", "{{ name }}", expect={"exit_code": 1, "stderr_contains": ["gone"]})
        ),
        NOTHING,
    )


@CORPUS.forged(
    "A66", "a script that takes every option where one is asked for", "turns an unknown option away passed"
)
def takes_more_than_asked(place: Path) -> Outcome:
    """One that is written in the scenario is no option that nobody knows."""
    project = make_tool(place, {"echo.py": ECHO})
    project.swap("rest = parser.parse_args(), []", "rest = parser.parse_known_args()", "echo.py")
    said = {"stdout_matches": ["^x --loud {{ name }}\n$"]}
    return project.verify(
        scenario("it is loud", words("python3", "echo.py", "--loud", "{{ name }}", expect=said)),
        scenario(
            "it works", words("python3", "echo.py", expect={"stdout_matches": ["^x"]}), kind="unchanged"
        ),
    )
