"""Commands that other files name: pyproject.toml, Procfile, Dockerfile, compose, Makefile, README."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.reading import Files, section
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Candidate, Place, Port

COMPOSE = (
    "compose.yml",
    "compose.yaml",
    "docker-compose.yml",
    "docker-compose.yaml",
    "docker-compose.*.yml",
    "compose.*.yml",
)
_TARGETS = ("run", "start", "serve", "dev", "server", "up", "runserver", "run-dev", "run-server", "develop")
_RUNNERS = (
    ("poetry", "run"),
    ("uv", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("exec",),
    ("dotenv", "run"),
)
_KEPT = {
    "gunicorn": ("-k", "--worker-class", "--chdir"),
    "uvicorn": ("--app-dir",),
    "hypercorn": (),
    "daphne": (),
}
_ENDS = {
    "gunicorn": "--bind 127.0.0.1:{port}",
    "uvicorn": "--host 127.0.0.1 --port {port}",
    "hypercorn": "--bind 127.0.0.1:{port}",
    "daphne": "-b 127.0.0.1 -p {port}",
}
_PAGES = ("README*", "Readme*", "readme*", "DEVELOPMENT.md", "docs/DEVELOPMENT.md", "CONTRIBUTING.md")
_PROGRAMS = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?:poetry|uv|pipenv|pdm|python3?|uvicorn|gunicorn|hypercorn|daphne|flask|fastapi"
    r"|node|npm|yarn|pnpm|bun)\b"
)


@frozen
class Declared:
    """A command that a file names."""

    where: str
    command: str
    weight: int
    """How much it says about what is meant."""


def declared(unit: Unit) -> tuple[Declared, ...]:
    """Every command that the files of a unit, or those of the root, name for starting it."""
    folders = dict.fromkeys((unit.folder, "."))
    found: list[Declared] = []
    for folder in folders:
        prefix = "" if folder == "." else f"{folder}/"
        found += _entrypoint(unit.files, f"{prefix}pyproject.toml")
        found += _procfile(unit.files, f"{prefix}Procfile")
        found += _dockerfiles(unit.files, prefix)
        found += _compose(unit.files, prefix)
        found += _makefile(unit.files, f"{prefix}Makefile")
        found += _pages(unit.files, prefix)
    return tuple(dict.fromkeys(found))[:200]


def supported(candidates: Iterable[Candidate], named: tuple[Declared, ...]) -> Iterator[Candidate]:
    """The candidates, with more weight for those that other files name too."""
    for candidate in candidates:
        key = _key(candidate)
        telling = [one for one in named if key and key in re.split(r"[\s\"',;]+", one.command)]
        best = max(telling, key=lambda one: one.weight, default=None)
        if best is None:
            yield candidate
        else:
            said = f"{best.where} names {key}"
            yield replace(candidate, score=candidate.score + best.weight, reasons=(*candidate.reasons, said))


def started(unit: Unit, named: tuple[Declared, ...]) -> Iterator[Candidate]:
    """The commands of servers among what is named, made to take any port."""
    for one in named:
        found = _server(one.command)
        if found:
            command, framework = found
            reason = f"{one.where} has `{one.command[:100]}`"
            port = Port(Place.OPTION, name="--port")
            yield Candidate(
                command, 62 + one.weight, (reason,), unit.folder, framework, {}, port, source=one.where
            )


def _key(candidate: Candidate) -> str:
    """The word of a command that other files would name too."""
    words = candidate.command.replace("'", "").split()
    named = [word for word in words if re.fullmatch(r"[\w.]+:[\w.]+", word) and not word.startswith("127.")]
    files = [
        word
        for word in words
        if word.endswith((".py", ".js", ".mjs", ".cjs", ".ts")) and "/python" not in word
    ]
    return next(iter([*named, *files]), "")


def _server(command: str) -> tuple[str, str] | None:
    words = _bare(command.rsplit("&&", 1)[-1])
    if len(words) > 2 and words[0].startswith("python") and words[1] == "-m":
        words = words[2:]
    program = words[0].rsplit("/", 1)[-1] if words else ""
    if program not in _KEPT or any(mark in command for mark in "`|<>;"):
        return None
    target = next((word for word in words[1:] if re.fullmatch(r"[\w.]+:[\w.]+(?:\(\))?", word)), "")
    if not target or target[0].isdigit() or target.startswith("unix:"):
        return None
    kept = [shlex.quote(part) for flag in _KEPT[program] for part in _option(words, flag)]
    kept += ["--factory"] if program == "uvicorn" and "--factory" in words else []
    parts = ["{python} -m", program, *kept, shlex.quote(target), _ENDS[program]]
    return " ".join(parts), ""


def _option(words: list[str], flag: str) -> tuple[str, ...]:
    for place, word in enumerate(words):
        if word == flag and place + 1 < len(words):
            return (flag, words[place + 1])
        if word.startswith(f"{flag}="):
            return (word,)
    return ()


def _bare(command: str) -> list[str]:
    try:
        words = shlex.split(command.strip(), comments=True)
    except ValueError:
        return []
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        words = words[1:]
    for runner in _RUNNERS:
        if tuple(words[: len(runner)]) == runner:
            words = words[len(runner) :]
    return words


def _entrypoint(files: Files, name: str) -> Iterator[Declared]:
    """What `fastapi run` would serve, which says for certain what is meant."""
    said = section(files.toml(name), "tool", "fastapi").get("entrypoint")
    if isinstance(said, str):
        yield Declared(name, f"uvicorn {said}", 24)


def _procfile(files: Files, name: str) -> Iterator[Declared]:
    for line in files.text(name).splitlines():
        kind, colon, command = line.partition(":")
        if colon and kind.strip() in ("web", "api", "server"):
            yield Declared(name, command.strip(), 8)


def _dockerfiles(files: Files, prefix: str) -> Iterator[Declared]:
    for name in files.like(
        f"{prefix}Dockerfile*", f"{prefix}docker/Dockerfile*", f"{prefix}docker/*/Dockerfile"
    ):
        text = files.text(name).replace("\\\n", " ")
        for line in text.splitlines():
            word, _, rest = line.strip().partition(" ")
            if word.upper() in ("CMD", "ENTRYPOINT") and rest.strip():
                yield Declared(name, _listed(rest.strip()), 6)


def _compose(files: Files, prefix: str) -> Iterator[Declared]:
    for name in files.like(*(prefix + pattern for pattern in COMPOSE)):
        for service in section(files.yaml(name), "services").values():
            command = section({"s": service}, "s").get("command")
            if isinstance(command, list):
                yield Declared(name, " ".join(str(word) for word in command), 5)
            elif isinstance(command, str):
                yield Declared(name, command, 5)


def _makefile(files: Files, name: str) -> Iterator[Declared]:
    for target, lines in targets(files.text(name)).items():
        if target in _TARGETS:
            yield from (Declared(name, line.lstrip("@-").strip(), 5) for line in lines)


def targets(text: str) -> dict[str, list[str]]:
    """The targets of a Makefile, each with its lines."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        named = re.match(r"([\w.-]{1,60})\s*:(?!=)", line)
        if named:
            current = found.setdefault(named[1], [])
        elif line.startswith("\t"):
            current.append(line.strip())
    return found


def _pages(files: Files, prefix: str) -> Iterator[Declared]:
    for name in files.like(*(prefix + page for page in _PAGES)):
        for line in _code_lines(files.text(name)):
            command = line.strip().removeprefix("$ ").removeprefix("> ").strip()
            if _PROGRAMS.match(command):
                yield Declared(name, command[:300], 4)


def _code_lines(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines()[:3000]:
        if line.strip().startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced or line.startswith(("    ", "\t", "$ ")):
            yield line


def _listed(text: str) -> str:
    try:
        words = json.loads(text) if text.startswith("[") else text
    except ValueError:
        return text
    return " ".join(str(word) for word in words) if isinstance(words, list) else str(words)
