"""What prepares the database of a project before it is started."""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from harness_executor.workspace.detect import (
    alembics,
    flaskcommands,
    nodeace,
    nodepackages,
    nodepartners,
    pypaste,
)
from harness_executor.workspace.detect.alembics import assigned
from harness_executor.workspace.detect.declared import declared
from harness_executor.workspace.detect.reading import section
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Candidate, Stack, Step
from harness_executor.workspace.detect.variables import example_files

_SCRIPTS = (
    "db:migrate",
    "migrate",
    "migrate:latest",
    "migration:run",
    "migrations:run",
    "migrate:up",
    "db:migrate:up",
    "migrate:deploy",
    "prisma:migrate",
    "typeorm:migrate",
    "typeorm:migration:run",
    "migrations",
    "db:push",
    "db:setup",
)
_DRIZZLE = tuple(f"drizzle.config.{end}" for end in ("ts", "js", "mjs", "mts", "json"))
_INSISTS = re.compile(r"--env-file(?!-if)|\benv-cmd (?!.*(?:-f|--file)\b)")
"""A script that does not run without a file of variables."""


def steps(unit: Unit, stack: Stack, candidate: Candidate) -> tuple[Step, ...]:
    """The steps that a candidate may need, in order."""
    found = tuple(_python(unit, stack, candidate) if stack.language == "python" else _of_program(unit))
    return (*_settings(unit, stack), *(found or tuple(_named(unit, stack))[:1]))


def _settings(unit: Unit, stack: Stack) -> Iterator[Step]:
    """The file of variables that scripts insist on, made from the example that the project ships."""
    insists = stack.language != "python" and any(map(_INSISTS.search, nodepackages.scripts(unit).values()))
    if insists and not unit.has(".env"):
        example = next((unit.inner(name) for name in example_files(unit.files, unit.path(""))), "")
        if example:
            yield Step("settings", f"cp {example} .env", (example,), "scripts of package.json read .env")


def _named(unit: Unit, stack: Stack) -> Iterator[Step]:
    """A script that other files name for this."""
    for one in declared(unit):
        script = re.search(
            r"(?:^|\s)(python3?|node)\s+([\w./-]{0,60}(?:migrat|init_?db|create_?(?:db|tables)|setup_?db)\w{0,20}\.(?:py|js))\b",
            one.command,
        )
        if script and unit.has(script[2].removeprefix("./")):
            program = "{python}" if stack.language == "python" else "node"
            said = f"{one.where} names {script[2]}"
            yield Step("migrate", f"{program} {script[2]}", (), said, clears="migrat" not in script[2])


def seeds(unit: Unit, stack: Stack) -> str:
    """The command that fills the database with examples, if there is one."""
    own = nodepackages.scripts(unit) if stack.language != "python" else {}
    name = next((name for name in ("db:seed", "seed", "seed:run", "prisma:seed") if name in own), "")
    return nodepackages.run(unit, name) if name else ""


_MAKES_DATABASE = re.compile(r"^[ \t]*create\s+database\s+(?!if\b)", re.I | re.M)
"""A file that makes the database itself, which is there already."""


def schemas(unit: Unit) -> tuple[str, ...]:
    """Files of SQL that make the tables, by their place in the repository."""
    names = [name for name in unit.names if name.endswith(".sql") and "/test" not in name]
    liked = [
        name
        for name in names
        if re.search(r"(?:schema|init|create|structure|database)", PurePosixPath(name).name)
    ]
    return tuple(name for name in liked[:3] if not _MAKES_DATABASE.search(unit.files.text(name)))


def _python(unit: Unit, stack: Stack, candidate: Candidate) -> Iterator[Step]:
    if candidate.framework == "django":
        if not unit.files.has(_beside(candidate.folder, "manage.py")):
            return
        prefix = assigned(candidate)
        command = f"{prefix}{{python}} manage.py migrate --noinput"
        yield Step(
            "migrate", command, ("**/migrations/**", "**/models.py"), "Django keeps its tables by migrations"
        )
        return
    if candidate.framework == "pyramid":
        yield from pypaste.steps(unit, stack.dependencies, candidate)
        return
    verbs = _of_flask(unit) if "flask-migrate" in stack.dependencies else ()
    if verbs:
        flask = f"{assigned(candidate)}{{python}} -m flask{_flask_target(candidate)}"
        command = " && ".join(f"{flask} db {verb}" for verb in verbs)
        inputs = ("migrations/**",) if len(verbs) == 1 else ()
        yield Step("migrate", command, inputs, "flask-migrate is among the dependencies")
    else:
        found = tuple(alembics.steps(unit, stack.dependencies, candidate))
        yield from found or flaskcommands.steps(unit, candidate)


def _of_program(unit: Unit) -> Iterator[Step]:
    """What prepares the database of a Node program, be it in a package of the repository that it uses."""
    own = tuple(_node(unit))
    yield from own
    for one in nodepartners.inner(unit) if not own else ():
        folder = shlex.quote(os.path.relpath(f"/{one.folder}", f"/{unit.folder}"))
        found = _told(unit, one) or tuple(_node(one))
        yield from (replace(step, command=f"(cd {folder} && {step.command})") for step in found)


def _told(unit: Unit, partner: Unit) -> tuple[Step, ...]:
    """The script of a package that a script at the root runs for this, such as `--filter=db push`."""
    listed = section(unit.files.json("package.json"), "scripts")
    texts = [str(listed[name]) for name in _SCRIPTS if name in listed]
    last = [text.split()[-1] for text in texts if str(nodepackages.manifest(partner).get("name")) in text]
    name = next((one for one in last if one in nodepackages.scripts(partner)), "")
    return (_scripted(partner, name),) if name else ()


def _scripted(unit: Unit, name: str) -> Step:
    return Step(
        "migrate",
        nodepackages.run(unit, name),
        ("**/migrations/**",),
        f"package.json has the script {name}",
        lingers=True,
    )


def _node(unit: Unit) -> Iterator[Step]:
    own, known = nodepackages.scripts(unit), nodepackages.packages(unit)
    by_ace = tuple(nodeace.steps(unit))
    named = next((name for name in _SCRIPTS if name in own and "dev" not in own[name].split()), "")
    if by_ace:
        yield from by_ace
    elif any(name.endswith("schema.prisma") for name in unit.names) and "prisma" in known:
        has_any = any("prisma/migrations/" in name for name in unit.names)
        command = (
            "npx --offline --no-install prisma migrate deploy"
            if has_any
            else "npx --offline --no-install prisma db push --skip-generate"
        )
        yield Step("migrate", command, ("**/prisma/**",), "prisma keeps the tables")
    elif named:
        yield _scripted(unit, named)
    elif "drizzle-kit" in known and any(map(unit.has, _DRIZZLE)):
        verb = (
            "migrate" if any(name.endswith("meta/_journal.json") for name in unit.names) else "push --force"
        )
        command = f"npx --offline --no-install drizzle-kit {verb}"
        yield Step("migrate", command, (), "Drizzle keeps the tables", clears=verb != "migrate")
    elif unit.has("knexfile.js") or unit.has("knexfile.ts"):
        yield Step(
            "migrate", "npx --offline --no-install knex migrate:latest", ("**/migrations/**",), "knexfile"
        )
    elif "sequelize-cli" in known and unit.has(".sequelizerc"):
        yield Step(
            "migrate",
            "npx --offline --no-install sequelize-cli db:migrate",
            ("**/migrations/**",),
            ".sequelizerc",
        )


def _of_flask(unit: Unit) -> tuple[str, ...]:
    """What Flask-Migrate is told: migrations that nobody keeps are made, where the README says so."""
    if any(name.endswith("migrations/env.py") for name in unit.names):
        return ("upgrade",)
    is_told = any(re.search(r"\bflask db init\b", one.command) for one in declared(unit))
    return ("init", "migrate", "upgrade") if is_told else ()


def _flask_target(candidate: Candidate) -> str:
    said = re.search(r"--app (\S+) run", candidate.command)
    return f" --app {said[1]}" if said else ""


def _beside(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
