"""Programs that Bun runs: what opens a port there, and what Bun is told."""

import re
import shlex

from harness_executor.workspace.detect import nodepackages
from harness_executor.workspace.detect.unit import Unit

_OPENS = re.compile(
    r"\bBun\.serve\s*\(|\bimport\s*\{[^}]{0,200}\bserve\b[^}]{0,200}\}\s*from\s*['\"]bun['\"]"
)
_EXPORTS = re.compile(r"\bexport\s+default\s+(?:\{.{0,2000}?\bfetch\b|new\s+(?:OpenAPI)?Hono\b)", re.S)
_HANDED_ON = re.compile(r"\bexport\s+default\s+([A-Za-z_$][\w$]{0,60})\s*;?\s*(?:$|\n)")
_RUN = re.compile(
    r"\bbun\s+(?:run\s+)?(?:--?[\w-]+(?:=\S+)?\s+)*((?:\./)?[\w./-]{1,100}\.(?:[mc]?[jt]s|[jt]sx))\b"
)
_TYPES = frozenset({"bun", "@types/bun", "bun-types"})


def is_used(unit: Unit) -> bool:
    """Is a program run by Bun, and not only by Node?"""
    is_named = bool(_TYPES & nodepackages.packages(unit)) or nodepackages.package_manager(unit) == "bun"
    return is_named or bool(_run(unit))


def serving(unit: Unit, texts: dict[str, str]) -> tuple[str, ...]:
    """The files that open a port when Bun runs them: by themselves, or by what they export."""
    if not is_used(unit):
        return ()
    begun = {unit.path(name) for name in _begun(unit)}
    return tuple(
        name for name, text in texts.items() if _OPENS.search(text) or (name in begun and _is_served(text))
    )


def command(unit: Unit, inner: str) -> str:
    """How Bun runs a file, be it TypeScript or not; it may be one of the packages."""
    bun = "npx --offline --no-install bun" if "bun" in nodepackages.packages(unit) else "bun"
    return f"{bun} {shlex.quote(inner)}"


def _begun(unit: Unit) -> set[str]:
    """The files that a person has Bun run: those that are named, or else those of the usual names."""
    data = nodepackages.manifest(unit)
    named = [*_run(unit), *(str(data.get(key) or "") for key in ("module", "main"))]
    found = {name.removeprefix("./") for name in named if name}
    usual = (f"{folder}{name}.ts" for folder in ("", "src/") for name in ("index", "server", "app", "main"))
    return found or set(usual)


def _run(unit: Unit) -> list[str]:
    return [name for text in nodepackages.scripts(unit).values() for name in _RUN.findall(text)]


def _is_served(text: str) -> bool:
    """Does Bun serve what a file exports: something that has `fetch`?"""
    handed = _HANDED_ON.search(text)
    made = handed and re.search(
        rf"\b{re.escape(handed[1])}\s*(?::[^=\n]{{1,80}})?=\s*(?:new\s+(?:OpenAPI)?Hono\b|\{{.{{0,2000}}?\bfetch\b)",
        text,
        re.S,
    )
    return bool(made or _EXPORTS.search(text))
