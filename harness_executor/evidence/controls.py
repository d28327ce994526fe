"""What the harness itself tries of programs: that the old code runs, and that nonsense is turned away."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness_executor.evidence.entries import binaries, scripts
from harness_executor.kernel.acts import Language, Probe, Program
from harness_executor.kernel.expectation import Expect, JsonCheck
from harness_executor.kernel.scenario import NONZERO, Kind, Scenario, Step
from harness_executor.workspace.importing import import_folders, modules

PACKAGES = "the old code finds its packages"
_SECONDS = 20.0
_MOST = 2
"""Commands that are tried, of those that scenarios run."""
_IMPORTS = re.compile(r"""(?:require\(|import\(|from|import)\s*["'](\.[^"']*)["']""")
_LACKING = """
import importlib

def lacks(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        return (error.name or "").split(".")[0]
    except Exception:
        pass
    return ""

sorted({found for found in map(lacks, args) if found} - {name.split(".")[0] for name in args})
"""
_LACKING_NODE = """
const lacking = [];
for (const name of args) {
  try { await import(name); } catch (error) {
    const found = /Cannot find (?:module|package) '([^']+)'/.exec(String(error.message));
    if (found && !/^[./]/.test(found[1])) lacking.push(found[1]);
  }
}
lacking
"""


def controls_for(scenarios: tuple[Scenario, ...], base: Path, folder: str) -> tuple[Scenario, ...]:
    """What is tried besides the scenarios; it is chosen by what they use, and by what the base has of it."""
    programs = [step.run for scenario in scenarios for step in scenario.steps if step.run]
    probes = [step.probe for scenario in scenarios for step in scenario.steps if step.probe]
    names = tuple(dict.fromkeys(_modules(base, folder, probes, programs)))
    files = tuple(dict.fromkeys(_files(base / folder, probes)))
    commands = list(dict.fromkeys(filter(None, (_command(base, folder, one.argv) for one in programs))))
    found = (*_of_modules(names, files), *(one for words in commands[:_MOST] for one in _of_command(words)))
    has_old = bool(names or files) or any(_is_old(base, folder, words) for words in commands)
    return found if has_old else (*found, *_of_interpreters(probes, programs))


def tried_of(step: Step, tree: Path, folder: str) -> tuple[Scenario, ...]:
    """What is tried of the programs and modules of a tree that one step uses, by their names."""
    found = controls_for((Scenario("", "", (step,)),), tree, folder)
    return tuple(control for control in found if control.kind is not Kind.UNCHANGED)


def is_there(tree: Path, folder: str, argv: tuple[str, ...]) -> bool:
    """Does a tree have the program that a command runs?"""
    words = _command(tree, folder, argv)
    return bool(words) and (_is_old(tree, folder, words) or _is_module_file(tree / folder, words))


def _of_modules(names: tuple[str, ...], files: tuple[str, ...]) -> Iterator[Scenario]:
    nothing = (JsonCheck("$", value=[]),)
    steps = []
    if names:
        steps.append(
            Step(probe=Probe(Language.PYTHON, _LACKING, names, _SECONDS), expect=Expect(json=nothing))
        )
    if files:
        steps.append(
            Step(probe=Probe(Language.NODE, _LACKING_NODE, files, _SECONDS), expect=Expect(json=nothing))
        )
    if steps:
        yield _scenario(PACKAGES, Kind.UNCHANGED, *steps)
    for name in names[:1]:
        code = f"import {name}\n{name}.__name__"
        yield _scenario(
            f"`import {name}` works", Kind.NEW, Step(probe=Probe(Language.PYTHON, code, (), _SECONDS))
        )
    for file in files[:1]:
        code = f"typeof await import({file!r})"
        yield _scenario(
            f"`import {file}` works", Kind.NEW, Step(probe=Probe(Language.NODE, code, (), _SECONDS))
        )


def _of_command(words: tuple[str, ...]) -> Iterator[Scenario]:
    shown = " ".join(words)
    helping, strange = (*words, "--help"), (*words, "--{{ random.word }}-{{ random.word }}")
    yield _scenario(f"`{shown} --help` works", Kind.NEW, Step(run=Program(helping, seconds=_SECONDS)))
    yield _scenario(
        f"`{shown}` turns an unknown option away",
        Kind.NEGATIVE,
        Step(run=Program(strange, seconds=_SECONDS), expect=Expect(exit_code=NONZERO)),
    )


def _of_interpreters(probes: list[Probe], programs: list[Program]) -> Iterator[Scenario]:
    """Where the old code has nothing of it yet, at least what would run it must work there."""
    used = {probe.language for probe in probes}
    used |= {language for program in programs for language in _language(program.argv)}
    for language in sorted(used):
        step = Step(
            probe=Probe(language, "1 + 1", (), _SECONDS), expect=Expect(json=(JsonCheck("$", value=2),))
        )
        yield _scenario(f"{language.value} works", Kind.NEW, step)


def _scenario(name: str, kind: Kind, *steps: Step) -> Scenario:
    return Scenario(name, "a base on which nothing runs proves nothing", steps, kind)


def _language(argv: tuple[str, ...]) -> Iterator[Language]:
    is_node = argv[0] in ("node", "npx", "npm") or argv[0].endswith((".js", ".mjs", ".cjs"))
    yield Language.NODE if is_node else Language.PYTHON


def _modules(base: Path, folder: str, probes: list[Probe], programs: list[Program]) -> Iterator[str]:
    """Modules of the base that scenarios import, or run as packages."""
    wanted = [name for probe in probes if probe.language is Language.PYTHON for name in _imported(probe.code)]
    for program in programs:
        wanted += _of_program(base / folder, program.argv)
    roots = [base / place for place in import_folders(base, folder)]
    for name in wanted:
        parts = name.split(".")
        found = [depth for depth in range(len(parts), 0, -1) if _is_module(roots, parts[:depth])]
        if found and parts[0] in {inner for root in roots for inner in modules(root)}:
            yield ".".join(parts[: found[0]])


def _imported(code: str) -> Iterator[str]:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _of_program(folder: Path, argv: tuple[str, ...]) -> Iterable[str]:
    made = scripts(folder).get(argv[0])
    if made:
        return [made.partition(":")[0]]
    if argv[0].startswith("python") and argv[1:2] == ("-m",) and len(argv) > 2:
        is_package = any((folder / root / argv[2].replace(".", "/")).is_dir() for root in ("src", "."))
        return [argv[2]] if is_package else []
    return []


def _is_module(roots: list[Path], parts: list[str]) -> bool:
    places = [root.joinpath(*parts) for root in roots]
    return any((place / "__init__.py").is_file() or place.with_suffix(".py").is_file() for place in places)


def _files(folder: Path, probes: list[Probe]) -> Iterator[str]:
    for probe in (one for one in probes if one.language is Language.NODE):
        for name in _IMPORTS.findall(probe.code):
            ends = ("", ".js", ".mjs", ".cjs", "/index.js")
            found = next((f"{name}{end}" for end in ends if (folder / f"{name}{end}").is_file()), "")
            if found:
                yield found


def _command(base: Path, folder: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """The words that name a program of the project itself, without what it is told."""
    place = base / folder
    if argv[0] in {**scripts(place), **binaries(place)} or "/" in argv[0].strip("/"):
        return argv[:1]
    if argv[0].startswith("python") and argv[1:2] == ("-m",) and len(argv) > 2:
        return argv[:3]
    is_file = len(argv) > 1 and argv[1].endswith((".py", ".js", ".mjs", ".cjs")) and "{{" not in argv[1]
    return argv[:2] if is_file and argv[0].startswith(("python", "node")) else ()


def _is_old(base: Path, folder: str, words: tuple[str, ...]) -> bool:
    place = base / folder
    is_made = words[0] in {**scripts(place), **binaries(place)}
    return is_made or (place / words[-1]).exists() or any(_of_program(place, words))


def _is_module_file(folder: Path, words: tuple[str, ...]) -> bool:
    name = words[-1].replace(".", "/")
    return words[1:2] == ("-m",) and any((folder / root / f"{name}.py").is_file() for root in ("src", "."))
