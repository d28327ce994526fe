"""What a Node project is made with: packages, package manager, scripts, commands."""

import re
from typing import Any

from harness_executor.workspace.detect.reading import section
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Commands, Entry

_LOCKS = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "yarn.lock": "yarn",
    "pnpm-lock.yaml": "pnpm",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}
_INSTALLS = {
    "npm": "npm ci",
    "yarn": "yarn install --frozen-lockfile",
    "pnpm": "pnpm install --frozen-lockfile",
    "bun": "bun install --frozen-lockfile",
}
_PLACEHOLDER = "no test specified"
_WATCHES = re.compile(
    r"--watch(?:-?all)?(?:=(?!false|0).*)?|(?:[\w.@/]+[:-])*watch(?:er)?|nodemon", re.IGNORECASE
)
_SPLIT = re.compile(r"\s*(?:&&|\|\||[;|&])\s*")
_SHORT = "-w"
_OTHER_SHORT = frozenset(("npm", "pnpm", "yarn", "jest"))
"""Programs for which that names a workspace, or how many work at once."""
_OF_REACT = re.compile(r"\b(?:react-scripts|craco|react-app-rewired) +test\b")
"""What watches unless it is told that nobody is there."""


def manifest(unit: Unit) -> dict[str, Any]:
    """The package.json of a unit."""
    return unit.files.json(unit.path("package.json"))


def scripts(unit: Unit) -> dict[str, str]:
    """The scripts of its package.json."""
    return {name: str(text) for name, text in section(manifest(unit), "scripts").items()}


def packages(unit: Unit) -> frozenset[str]:
    """The packages that a unit lists; those of a workspace's root are shared."""
    data = manifest(unit)
    lists = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    return frozenset(name for listed in lists for name in section(data, listed))


def package_manager(unit: Unit) -> str:
    """What installs the packages: what is named, else by the lock file."""
    for folder in unit.above():
        prefix = "" if folder == "." else f"{folder}/"
        named = str(unit.files.json(f"{prefix}package.json").get("packageManager") or "").split("@")[0]
        if named in _INSTALLS:
            return named
        for lock, tool in _LOCKS.items():
            if unit.files.has(prefix + lock):
                return tool
    return "npm"


def install_command(unit: Unit) -> str:
    """The one command that installs the packages."""
    manager = package_manager(unit)
    if manager == "npm" and not any(unit.has(lock) for lock in ("package-lock.json", "npm-shrinkwrap.json")):
        return "npm install"
    return _INSTALLS[manager]


def run(unit: Unit, script: str, *words: str) -> str:
    """How a script is run; npm can run the scripts of every package manager but bun's."""
    more = f" -- {' '.join(words)}" if words else ""
    return f"bun run {script}{more}" if package_manager(unit) == "bun" else f"npm run {script}{more}"


def checks(unit: Unit, known: frozenset[str]) -> Commands:
    """The commands that check a unit."""
    own = scripts(unit)
    test = "" if _PLACEHOLDER in own.get("test", _PLACEHOLDER) else own["test"]
    test = "" if watches(test) else test
    typed = next(
        (name for name in ("typecheck", "type-check", "check-types", "tsc", "types") if name in own), ""
    )
    lint = next((name for name in ("lint", "lint:check", "eslint") if name in own), "")
    is_typescript = unit.has("tsconfig.json") and "typescript" in known
    return Commands(
        install_command(unit),
        run(unit, "build") if "build" in own else "",
        ("CI=true " if _OF_REACT.search(test) else "") + run(unit, "test") if test else "",
        run(unit, lint) if lint and "--fix" not in own[lint] else "",
        run(unit, typed) if typed else "npx --offline --no-install tsc --noEmit" if is_typescript else "",
    )


def watches(script: str) -> bool:
    """Does a script wait for files to change, and never end?"""
    for words in map(str.split, _SPLIT.split(script)):
        is_told = "false" in words and any(word.lower().startswith("--watch") for word in words)
        is_short = _SHORT in words and not _OTHER_SHORT.intersection(words)
        if is_short or (not is_told and any(map(_WATCHES.fullmatch, words))):
            return True
    return False


def entries(unit: Unit) -> tuple[Entry, ...]:
    """The commands that a unit installs."""
    data = manifest(unit)
    bin_ = data.get("bin")
    name = str(data.get("name") or "").rsplit("/", 1)[-1]
    table = {name: bin_} if isinstance(bin_, str) else section(data, "bin")
    return tuple(
        Entry(
            str(key),
            f"node {str(target).removeprefix('./')}",
            f"package.json has the command {key}",
            installed=True,
        )
        for key, target in table.items()
        if re.fullmatch(r"[\w./-]{1,120}", str(target))
    )
