"""Files that the options of a check name: what its runner loads before it begins, and its settings."""

import re
from collections.abc import Iterable, Iterator

from harness_executor.kernel.testfiles import is_sectioned

_OF_NODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".rb")
_OF_SETTINGS = (*_OF_NODE, ".json", ".jsonc", ".ini", ".cfg", ".toml", ".yml", ".yaml", ".xml")
_OPTION = re.compile(
    r"(?<![\w-])(?:"
    r"(?P<program>-r|--(?:require|import|loader|experimental-loader|file|reporter|test-reporter|runner"
    r"|setupFiles|setupFilesAfterEnv|globalSetup|test-global-setup))"
    r"|-c|--config|--config-file|(?P<plugin>-p(?!\s*no:)))"
    r"(?:=|\s+|(?<=-[rcp]))[\"'\\]*(?P<place>[\w@%+./-]+)"
)
_PART = re.compile(r"\n(?![ \t])|\",")
"""What is between the targets of a Makefile, the lines of a script and the texts of a package.json."""
_STEP = re.compile(r"(?<!>)&|[|;\n]")
_CHECKS = re.compile(
    r"(?<![a-z])(?:(?:py|uni|vi)?(?:tests?|specs?|checks?|lint|types?)|jest|mocha|ava|tap)(?![a-z])",
    re.IGNORECASE,
)
_RUNNER = re.compile(
    r"(?<![\w-])(?:node|bun|tsx|ts-node|npm|yarn|pnpm|jest|vitest|mocha|ava|tape?|jasmine|cypress|playwright"
    r"|karma|cucumber\S*|c8|nyc|eslint|ruby|rspec|pytest|py\.test|mypy|ruff|flake8|pylint|phpunit)(?![\w-])"
)
_PYTEST = re.compile(r"\bpy\.?test\b")


def loaded_by(text: str, names: Iterable[str], *, whole: bool = False) -> frozenset[str]:
    """Those of some files that follow an option, in the whole of a text or where it is about checks."""
    text = text.replace("\\\n", " ")
    parts = [text] if whole else [part for part in _PART.split(text) if _CHECKS.search(part)]
    steps = [step for part in parts for step in _STEP.split(part) if _RUNNER.search(step)]
    wanted = {place for step in steps for found in _OPTION.finditer(step) for place in _places(found)}
    return frozenset(name for name in names if _ends(name, wanted)) if wanted else frozenset()


def _places(found: re.Match[str]) -> Iterator[str]:
    """What an option may mean, as paths from wherever it is used."""
    place = re.sub(r"^(?:\.{1,2}/)+", "", found["place"])
    if found["plugin"] and _PYTEST.search(found.string):
        yield from (f"{place.replace('.', '/')}{end}" for end in (".py", "/__init__.py"))
    elif not found["plugin"] and place.endswith(_OF_NODE if found["program"] else _OF_SETTINGS):
        yield place
    elif found["program"] and place != found["place"]:
        yield from (f"{place}{end}" for suffix in _OF_NODE for end in (suffix, f"/index{suffix}"))


def _ends(name: str, wanted: set[str]) -> bool:
    parts = name.split("/")
    return not is_sectioned(name) and any("/".join(parts[at:]) in wanted for at in range(len(parts)))
