"""Honest work on commands and libraries, which no server is started for."""

from pathlib import Path

from tests.claims.asking import Data
from tests.claims.case import Corpus, Outcome
from tests.claims.commands import (
    CORE,
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
    manifest,
    probe,
    run,
    scenario,
    words,
)
from tests.claims.project import UNBOXED

CORPUS = Corpus()


@CORPUS.honest("a new subcommand that filters its input")
def new_subcommand(place: Path) -> Outcome:
    """It reads, counts and prints JSON."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    return project.verify(COUNTS, SLUGS)


@CORPUS.honest("a new subcommand, without a box")
def unboxed_subcommand(place: Path) -> Outcome:
    """The same where the user said that no box is needed."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    return project.verify(COUNTS, words=UNBOXED)


@CORPUS.honest("a new option of a command")
def new_option(place: Path) -> Outcome:
    """The old code turns it away."""
    project = make_tool(place)
    project.append('make.add_argument("--upper", action="store_true")\n', "words/cli.py")
    project.append(
        'COMMANDS["slug"] = lambda o: print(slug(o.text).upper() if o.upper else slug(o.text))\n',
        "words/cli.py",
    )
    loud = scenario(
        "a loud slug", run("slug", "--upper", "a b{{ name }}", expect={"stdout_contains": ["A-B"]})
    )
    return project.verify(loud, SLUGS)


@CORPUS.honest("a command that writes a file")
def file_writer(place: Path) -> Outcome:
    """What it prints is nothing, and what it writes is everything."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    wanted = {"files": {"out.json": {"contains": ['"{{ name }}": 1']}}}
    return project.verify(
        scenario(
            "a report",
            run("count", "--out", "out.json", "in.txt", files={"in.txt": "{{ name }}"}, expect=wanted),
        )
    )


@CORPUS.honest("a command that fails as it should")
def new_failure(place: Path) -> Outcome:
    """A missing file is named, with a code of its own."""
    project = make_tool(place)
    project.append(COUNT, "words/cli.py")
    wrong = run(
        "count", "{{ name }}.txt", expect={"exit_code": 2, "stderr_contains": ["words: {{ name }}.txt"]}
    )
    return project.verify(COUNTS, scenario("a missing file is named", wrong, kind="negative"))


@CORPUS.honest("a bug that is mended")
def mended_bug(place: Path) -> Outcome:
    """A result changes, and an error stays one."""
    project = make_tool(place)
    project.swap("text.lower()", 'text.lower().replace("&", " and ")', "words/core.py")
    code = "from words.core import slug\nslug(args[0])"
    mended = scenario("and is spelled", probe(code, equals("you-and-{{ name }}"), "You & {{ name }}"))
    return project.verify(mended, NOTHING)


@CORPUS.honest("a new function of a library")
def new_function(place: Path) -> Outcome:
    """That it cannot be imported on base is the proof."""
    project = make_tool(place)
    project.append(TITLE, "words/core.py")
    return project.verify(TITLES, KEEPS)


@CORPUS.honest("a refactoring of a library")
def refactored(place: Path) -> Outcome:
    """Nothing changes for whoever uses it."""
    project = make_tool(place)
    project.write("words/parts.py", CORE)
    project.write("words/core.py", "from words.parts import slug\n")
    return project.verify(KEEPS, NOTHING, SLUGS, words=("--base", "HEAD", "--refactor"))


@CORPUS.honest("a package below src, with a console script that nobody installed")
def console_script(place: Path) -> Outcome:
    """The command is made from the tree on both sides."""
    moved = {f"src/{name}": text for name, text in FILES.items() if name.startswith("words/")}
    declared = '[project]\nname = "words"\nversion = "1"\n[project.scripts]\nwords = "words.cli:main"\n'
    project = make_tool(place, {**moved, "pyproject.toml": declared})
    project.append(COUNT, "src/words/cli.py")
    step = words("words", "count", stdin="{{ name }}", expect=equals(1, "$['{{ name }}']"))
    return project.verify(scenario("words are counted", step))


@CORPUS.honest("a command with a file of settings")
def settings_file(place: Path) -> Outcome:
    """The settings are written first, and read."""
    project = make_tool(place)
    mark = 'json.load(open("words.json"))["mark"] if os.path.exists("words.json") else "-"'
    project.append(
        f'import json, os\nCOMMANDS["slug"] = lambda o: print(slug(o.text).replace("-", {mark}))\n',
        "words/cli.py",
    )
    step = run(
        "slug",
        "a {{ name }}",
        files={"words.json": '{"mark": "_"}'},
        expect={"stdout_contains": ["a_{{ name }}"]},
    )
    return project.verify(SLUGS, scenario("the mark is taken from the settings", step))


@CORPUS.honest("a deprecation that is only said")
def deprecated(place: Path) -> Outcome:
    """The output stays, and a warning is added beside it."""
    project = make_tool(place)
    project.append('print("words: slug is old", file=sys.stderr)\n', "words/cli.py")
    wanted = {"stdout_contains": ["a-{{ name }}"], "stderr_contains": ["slug is old"]}
    return project.verify(scenario("it warns", run("slug", "a {{ name }}", expect=wanted)), SLUGS)


@CORPUS.honest("the first program of an empty project")
def first_program(place: Path) -> Outcome:
    """The old code has nothing of it; what would run it works there."""
    project = make_tool(place, {"README.md": "# words\n"})
    for name, text in FILES.items():
        project.write(name, text)
    return project.verify(scenario("slugs are made", *SLUGS["steps"]))


@CORPUS.honest("a new command for Node")
def node_command(place: Path) -> Outcome:
    """A file that package.json declares as a command."""
    old = "const [name, ...rest] = process.argv.slice(2);\n"
    old += "const all = { up: (t) => console.log(t.toUpperCase()) };\n"
    end = "if (!all[name]) { console.error(`no ${name}`); process.exit(2); }\nall[name](...rest);\n"
    project = make_tool(place, {"package.json": manifest(bin={"thing": "cli.js"}), "cli.js": old + end})
    project.write("cli.js", old + "all.twice = (t) => console.log(JSON.stringify([t, t]));\n" + end)
    step = words("thing", "twice", "{{ name }}", expect=equals(["{{ name }}", "{{ name }}"]))
    kept = words("thing", "up", "a", expect={"stdout_contains": ["A"]})
    return project.verify(scenario("it says it twice", step), scenario("up stays", kept, kind="unchanged"))


@CORPUS.honest("a new function of an ES module")
def es_module(place: Path) -> Outcome:
    """Imported as its users import it, and awaited."""
    old = "export const double = (n) => n * 2;\n"
    project = make_tool(place, {"package.json": manifest(type="module"), "index.js": old})
    project.append("export const later = async (n) => n + 1;\n", "index.js")
    code = "import { later } from './index.js';\nawait later(args[0])"
    kept = probe("import { double } from './index.js';\ndouble(args[0])", equals(42), 21, language="node")
    return project.verify(
        scenario("later adds one", probe(code, equals(8), 7, language="node")),
        scenario("double stays", kept, kind="unchanged"),
    )


@CORPUS.honest("rows in an SQLite file")
def sqlite_rows(place: Path) -> Outcome:
    """A seed by SQL, a command, and a question by SQL."""
    project = make_tool(place)
    keep = (
        'import sqlite3\nkeeping = commands.add_parser("keep")\nkeeping.add_argument("word")\n\n\n'
        "def keep(options):\n"
        '    with sqlite3.connect("words.db") as base:\n'
        '        base.execute("insert into words values (?)", (options.word,))\n\n\nCOMMANDS["keep"] = keep\n'
    )
    project.append(keep, "words/cli.py")
    seed = {"query": {"service": "sqlite:words.db", "text": "create table if not exists words (word text)"}}
    asked = {"query": {"service": "sqlite:words.db", "text": "select word from words"}}
    return project.verify(
        scenario(
            "words are kept",
            seed,
            run("keep", "{{ name }}"),
            {**asked, "expect": equals("{{ name }}", "$[0].word")},
        )
    )


@CORPUS.honest("a script without options that fails where it found something")
def fails_where_found(place: Path) -> Outcome:
    """What it is told is nothing to it, so it fails when it is asked for help too."""
    text = (
        "import pathlib\n\nfound = pathlib.Path('in.txt').read_text().count('bad')\nprint(found, 'found')\n"
    )
    project = make_tool(place, {"look.py": text})
    project.append("raise SystemExit(found > 0)\n", "look.py")

    def looks(name: str, content: str, code: int, said: str) -> Data:
        expect = {"exit_code": code, "stdout_contains": [said]}
        return scenario(name, words("python3", "look.py", files={"in.txt": content}, expect=expect))

    return project.verify(looks("none", "good", 0, "0 found"), looks("some", "bad", 1, "1 found"))


@CORPUS.honest("a script that is taken away")
def script_removed(place: Path) -> Outcome:
    """Nothing that the harness tries of it has to work any more."""
    project = make_tool(place, {**FILES, "old.py": FILES["words/__main__.py"]})
    project.git("rm", "-q", "old.py")
    fails = {"exit_code": 2, "stderr_contains": ["No such file"]}
    return project.verify(
        scenario("old is gone", words("python3", "old.py", "slug", "{{ name }}", expect=fails)), SLUGS
    )


@CORPUS.honest("a script that gets another name")
def script_renamed(place: Path) -> Outcome:
    """That the old name worked on base is life there."""
    project = make_tool(place, {**FILES, "old.py": FILES["words/__main__.py"]})
    project.git("mv", "old.py", "new.py")
    works = {"stdout_matches": ["^a-{{ name }}\n$"]}
    fails = {"exit_code": 2, "stderr_contains": ["No such file"]}
    return project.verify(
        scenario("it is new now", words("python3", "new.py", "slug", "a {{ name }}", expect=works)),
        scenario("old is gone", words("python3", "old.py", "slug", "x", expect=fails), kind="negative"),
    )


@CORPUS.honest("a module that is taken away")
def module_removed(place: Path) -> Outcome:
    """That it can be imported no more is what was asked for."""
    project = make_tool(place, {**FILES, "words/old.py": "def same(text):\n    return text\n"})
    project.git("rm", "-q", "words/old.py")
    fails = {"exit_code": 1, "stderr_contains": ["ModuleNotFoundError"]}
    return project.verify(
        scenario("old is gone", probe("from words.old import same\nsame(args[0])", fails, "{{ name }}")),
        KEEPS,
    )


@CORPUS.honest("a script that passes on the options it does not know")
def passes_on(place: Path) -> Outcome:
    """It turned them away on base, and a scenario gives it a drawn one."""
    project = make_tool(place, {"echo.py": ECHO})
    project.swap("rest = parser.parse_args(), []", "rest = parser.parse_known_args()", "echo.py")
    passed = scenario("options are passed on", _echoes("--{{ name }}", said="x --{{ name }}"))
    kept = scenario("names stay", _echoes("--name", "{{ name }}", said="{{ name }}"), kind="unchanged")
    return project.verify(passed, kept)


def _echoes(*told: str, said: str) -> Data:
    return words("python3", "echo.py", *told, expect={"stdout_matches": [f"^{said}\n$"]})
