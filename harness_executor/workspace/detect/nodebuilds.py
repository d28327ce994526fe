"""What has to be built before a Node program can be started, in its own folder and in its workspace."""

import os
import re

from harness_executor.workspace.detect import nodepackages, nodepartners
from harness_executor.workspace.detect.nodepackages import run
from harness_executor.workspace.detect.reading import section
from harness_executor.workspace.detect.unit import Unit

_OUTPUTS = ("dist/", "build/", "lib/", "out/", ".next/", "./dist/", "./build/", "./lib/", "./out/")
_RUNS = re.compile(r"^(?:[A-Z_]+=\S+\s+)*node\s+(?:--?[\w=:./@-]+\s+)*([\w./-]+)\s*$")
_ALIAS = re.compile(r"\s*(?:npm run|npm run-script|yarn run|yarn|pnpm run|pnpm)\s+([\w:.-]+)\s*")
_BUILT_FIRST = re.compile(r"(?:npm|yarn|pnpm) (?:run )?build && (node [\w./-]+)")
_COMPILED_FIRST = re.compile(r"(?:npx )?(tsc(?: [\w ./=-]+)?) && (node [\w./-]+)")
_MAKERS = ("build", "compile", "build:server", "build:api", "build:backend", "build:ts", "build:prod")
"""Scripts that make what is started, the likeliest first."""
_COMPILES = re.compile(r"\btsc\b|\bnest build\b")
_DEEPEST = 5


def started(unit: Unit, name: str) -> tuple[str, str]:
    """What a script starts, said directly where that is the same, and what has to be built before."""
    own = nodepackages.scripts(unit)
    name = _meant(own, name)
    text = own[name]
    after = _BUILT_FIRST.fullmatch(text.strip())
    if f"pre{name}" in own:
        return run(unit, name), _build(unit, text)
    if after:
        return after[1], whole(unit)
    compiled = _COMPILED_FIRST.fullmatch(text.strip())
    if compiled:
        return compiled[2], _after_members(unit, f"npx --offline --no-install {compiled[1]}")
    direct = _RUNS.match(text) and "=" not in text.split("node", maxsplit=1)[0]
    return (text.strip() if direct else run(unit, name)), _build(unit, text)


def whole(unit: Unit) -> str:
    """The build of a unit, after those of the packages beside it that it needs."""
    return _after_members(unit, run(unit, maker(unit) or "build"))


def _after_members(unit: Unit, command: str) -> str:
    return " && ".join(part for part in (members(unit), command) if part)


def members(unit: Unit) -> str:
    """The builds of packages of the same repository that a unit needs, and that are there only when built."""
    made = [one for one in nodepartners.partners(unit) if _is_made(one)]
    folders = [os.path.relpath(f"/{one.folder}", f"/{unit.folder}") for one in made]
    return " && ".join(f"npm --prefix {folder} run build" for folder in folders)


def maker(unit: Unit) -> str:
    """The script that makes what is started."""
    own = nodepackages.scripts(unit)
    return next((name for name in _MAKERS if name in own), "")


def making(unit: Unit) -> str:
    """What makes the commands and imports that a unit offers, where they are not in the repository."""
    return whole(unit) if _is_made(unit) else ""


def output(unit: Unit, inner: str) -> str:
    """Where the build puts what it makes of a file, if it is known to make one file of each."""
    if not _COMPILES.search(nodepackages.scripts(unit).get(maker(unit), "")):
        return ""
    said = re.search(r"\"outDir\"\s*:\s*\"(?:\./)?([\w./-]{1,60})\"", unit.text("tsconfig.json"))
    folder = f"{said[1].rstrip('/')}/" if said else "dist/"
    return folder + inner.removeprefix("src/").rsplit(".", 1)[0] + ".js"


def _meant(own: dict[str, str], name: str) -> str:
    """The script that one leads to, where it does nothing but run another."""
    for _ in range(_DEEPEST):
        other = _ALIAS.fullmatch(own[name])
        if not other or other[1] not in own or f"pre{name}" in own or f"post{name}" in own:
            break
        name = other[1]
    return name


def _build(unit: Unit, text: str) -> str:
    """What has to be run first, if a script starts what is made by another."""
    if not maker(unit) or re.search(r"(?:run|yarn|pnpm) (?:build|compile)|\btsc\b", text):
        return members(unit)
    words = text.replace("&&", " ").split()
    from_output = any(f"{word}/".startswith(_OUTPUTS) for word in words) and not any(
        unit.has(word.removeprefix("./")) for word in words
    )
    is_built = from_output or re.search(r"\b(?:next|nuxt|remix-serve) start\b", text)
    return whole(unit) if is_built else members(unit)


def _is_made(unit: Unit) -> bool:
    """Is what others import or run of a package made by its build, and not in the repository?"""
    data = nodepackages.manifest(unit)
    offered = [text for key in ("exports", "main", "module", "bin") for text in _texts(data.get(key))]
    own = [text.removeprefix("./") for text in offered if "*" not in text and ".d." not in text]
    missing = [text for text in own if text.startswith(_OUTPUTS) and not unit.has(text)]
    return bool(missing) and bool(section(data, "scripts").get("build"))


def _texts(value: object) -> list[str]:
    """The files that an entry of exports leads to, whatever the conditions."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [value] if isinstance(value, str) else []
