"""What has to be built before a Node program is started."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.workspace.detect.environment import Choice, environment
from tests.workspace.detect.trees import commands, found

SERVER = "require('express')().listen(process.env.PORT);\n"


def package(name: str, **more: Any) -> str:
    """A package.json."""
    return json.dumps({"name": name, **more})


def test_a_script_that_runs_another_means_that_one(tmp_path: Path) -> None:
    """`start` that only runs `serve`, which starts from dist/, is built first and said directly."""
    scripts = {"start": "npm run serve", "serve": "node dist/server.js", "build": "tsc"}
    files = {
        "package.json": package("it", scripts=scripts, dependencies={"express": "5"}),
        "src/server.ts": SERVER,
    }
    best = found(tmp_path, files).candidates[0]
    assert (best.command, best.build) == ("node dist/server.js", "npm run build")


def test_what_another_script_than_build_makes_is_made_too(tmp_path: Path) -> None:
    """A start from lib/ comes after the script compile, where there is no other."""
    files = {
        "package.json": package(
            "it", scripts={"start": "node lib/", "compile": "tsc"}, dependencies={"express": "5"}
        ),
        "src/index.ts": SERVER,
    }
    best = found(tmp_path, files).candidates[0]
    assert (best.command, best.build) == ("node lib/", "npm run compile")


def test_packages_of_the_repository_are_built_before_those_that_need_them(tmp_path: Path) -> None:
    """An app is started after the packages beside it that are there only when built, the deepest first."""
    built = {"main": "dist/index.js", "scripts": {"build": "tsc"}}
    files = {
        "package.json": package("all", private=True, workspaces=["apps/*", "packages/*"]),
        "apps/api/package.json": package(
            "api",
            scripts={"start": "node index.js"},
            dependencies={"express": "5", "@all/users": "*", "@all/plain": "*"},
        ),
        "apps/api/index.js": SERVER,
        "packages/users/package.json": package("@all/users", **built, dependencies={"@all/core": "*"}),
        "packages/users/src/index.ts": "export const a = 1;",
        "packages/core/package.json": package("@all/core", **built),
        "packages/core/src/index.ts": "export const b = 1;",
        "packages/plain/package.json": package("@all/plain", main="index.js", scripts={"build": "tsc"}),
        "packages/plain/index.js": "",
    }
    best = found(tmp_path, files).candidates[0]
    assert (best.command, best.folder) == ("node index.js", "apps/api")
    assert best.build == (
        "npm --prefix ../../packages/core run build && npm --prefix ../../packages/users run build"
    )


def test_a_program_of_nest_without_a_start_script_is_built_and_started(tmp_path: Path) -> None:
    """What `nest build` makes of the file that listens is started."""
    scripts = {"build": "nest build", "dev": "nest start --watch"}
    files = {
        "package.json": package("it", scripts=scripts, dependencies={"@nestjs/core": "11"}),
        "src/app.ts": "const app = await NestFactory.create(M); await app.listen(3000);",
    }
    best = found(tmp_path, files).candidates[0]
    assert (best.command, best.build) == ("node dist/app.js", "npm run build")


def test_commands_and_libraries_that_are_made_are_built_first(tmp_path: Path) -> None:
    """A project without a server whose command or import is in dist/ is built before it is used."""
    offers: list[dict[str, Any]] = [{"bin": {"it": "dist/cli.js"}}, {"exports": {"import": "./dist/i.mjs"}}]
    for number, more in enumerate(offers):
        files = {"package.json": package("it", scripts={"build": "tsc"}, **more), "src/cli.ts": ""}
        made = environment(found(tmp_path / str(number), files), Choice())
        assert (made["startup"], made["runtime"]["build_command"]) == ({"build": True}, "npm run build")
    plain = {"package.json": package("it", scripts={"build": "tsc"}, main="index.js"), "index.js": ""}
    assert "startup" not in environment(found(tmp_path / "plain", plain), Choice())


@pytest.mark.parametrize(
    ("start", "command", "build"),
    [
        ("tsc && node dist/index.js", "node dist/index.js", "npx --offline --no-install tsc"),
        ("npx tsc -p . && node ./dist/a.js", "node ./dist/a.js", "npx --offline --no-install tsc -p ."),
        ("tsc && NODE_ENV=production node dist/index.js", "npm run start", ""),
        ("echo starting; node index.js", "npm run start", ""),
    ],
)
def test_a_start_that_compiles_first_is_the_start(
    tmp_path: Path, start: str, command: str, build: str
) -> None:
    """What comes before the server in its script does not hide it, and is done once where it compiles."""
    files = {
        "package.json": package("it", scripts={"start": start}, dependencies={"express": "5"}),
        "src/index.ts": SERVER,
    }
    best = found(tmp_path, files).candidates[0]
    assert (best.command, best.build) == (command, build)


@pytest.mark.parametrize("start", ["tsc", "tsc && echo done", "npm run lint && tsc-alias;"])
def test_a_script_that_only_compiles_is_no_start(tmp_path: Path, start: str) -> None:
    """Nothing is served by what ends with a compiler."""
    files = {
        "package.json": package("it", scripts={"start": start}, dependencies={"express": "5"}),
        "src/index.ts": SERVER,
    }
    assert "npm run start" not in commands(found(tmp_path, files))
