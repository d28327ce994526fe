"""Node programs, from their files alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.workspace.detect.values import Kind, Place
from tests.workspace.detect.trees import commands, found

SERVER = (
    "const express = require('express');\nconst app = express();\n"
    "app.get('/health', (req, res) => res.json({}));\n// app.listen(1)\n"
    "app.listen(process.env.PORT || 3000);\n"
)


def package(**more: Any) -> str:
    """A package.json."""
    return json.dumps({"name": "it", "dependencies": {"express": "5"}, **more})


def test_a_start_script_is_said_directly(tmp_path: Path) -> None:
    """`node server.js` is run without npm, with PORT."""
    seen = found(
        tmp_path, {"package.json": package(scripts={"start": "node server.js"}), "server.js": SERVER}
    )
    best = seen.candidates[0]
    assert (best.command, dict(best.env)) == ("node server.js", {"PORT": "{port}"})
    assert (best.port.place, best.port.number) == (Place.ENVIRONMENT, 3000)
    assert seen.main is not None
    assert (seen.main.language, seen.main.framework) == ("node", "express")
    assert {route.path for route in seen.main.routes} == {"/health"}


def test_what_a_build_makes_is_built_first(tmp_path: Path) -> None:
    """A start from dist/ needs the build."""
    files = {
        "package.json": package(
            scripts={"build": "tsc", "start": "node dist/index.js"}, devDependencies={"typescript": "5"}
        ),
        "src/index.ts": "import express from 'express';\n"
        "const port = Number(process.env.API_PORT ?? 8080);\nexpress().listen(port);\n",
        "tsconfig.json": '{"compilerOptions": {"outDir": "dist"}}',
    }
    seen = found(tmp_path, files)
    best = seen.candidates[0]
    assert (best.command, best.build) == ("node dist/index.js", "npm run build")
    assert dict(best.env) == {"API_PORT": "{port}"}
    assert seen.main is not None
    assert seen.main.language == "typescript"


def test_a_build_within_the_start_script_becomes_a_step(tmp_path: Path) -> None:
    """`npm run build && node dist/server.js` is split, so that it is built once."""
    scripts = {"build": "tsc", "start": "npm run build && node dist/server.js"}
    seen = found(tmp_path, {"package.json": package(scripts=scripts), "src/server.ts": SERVER})
    assert (seen.candidates[0].command, seen.candidates[0].build) == ("node dist/server.js", "npm run build")


def test_a_port_that_is_unpacked_is_a_variable(tmp_path: Path) -> None:
    """`const { API_PORT = 3000 } = process.env` takes the port from there."""
    code = "const { API_PORT: port = 3000 } = process.env;\nrequire('express')().listen(port);\n"
    files = {"package.json": package(scripts={"start": "node server.js"}), "server.js": code}
    best = found(tmp_path, files).candidates[0]
    assert (dict(best.env), best.port.number) == ({"API_PORT": "{port}"}, 3000)


def test_a_port_that_a_function_of_the_program_asks_for_is_a_variable(tmp_path: Path) -> None:
    """`port: env('APP_PORT')` in the settings is found, and not the port of a service."""
    files = {
        "package.json": package(dependencies={"express": "5"}, scripts={"start": "node s.js"}),
        "s.js": "const port = settings().port;\nrequire('express')().listen(port);\n",
        "settings.js": "const db = { port: env('DB_PORT', 1) };\nconst app = { port: env('APP_PORT', 2) };\n",
    }
    assert dict(found(tmp_path, files).candidates[0].env) == {"APP_PORT": "{port}"}


def test_a_port_in_a_file_or_in_the_code_is_fixed(tmp_path: Path) -> None:
    """config.json and a number in listen() are both what the server insists on."""
    http = "const http = require('http'); const config = require('./config.json');\n"
    listens = http + "http.createServer(() => {}).listen(config.server.port);\n"
    files = {"package.json": package(dependencies={}, scripts={"start": "node i.js"}), "i.js": listens}
    files["config.json"] = '{"server": {"port": 4300}}'
    best = found(tmp_path / "file", files).candidates[0]
    assert (best.port.place, best.fixed_port) == (Place.FILE, 4300)
    files["i.js"] = http + "http.createServer(() => {}).listen(4301);\n"
    best = found(tmp_path / "code", files).candidates[0]
    assert (best.port.place, best.fixed_port) == (Place.FIXED, 4301)


def test_watchers_and_process_managers_come_later(tmp_path: Path) -> None:
    """The file that listens is better than pm2 or nodemon around it."""
    scripts = {"start": "pm2 start eco.json", "dev": "nodemon src/index.js"}
    seen = found(tmp_path, {"package.json": package(scripts=scripts), "src/index.js": SERVER})
    assert commands(seen)[0] == "node src/index.js"


def test_the_lock_file_names_the_package_manager(tmp_path: Path) -> None:
    """npm, yarn, pnpm and bun, by lock file or by packageManager."""
    for lock, manager, install in (
        ("package-lock.json", "npm", "npm ci"),
        ("yarn.lock", "yarn", "yarn install --frozen-lockfile"),
        ("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"),
        ("bun.lock", "bun", "bun install --frozen-lockfile"),
    ):
        main = found(tmp_path / manager, {"package.json": package(), lock: "{}"}).main
        assert main is not None
        assert (main.package_manager, main.commands.install) == (manager, install)
    main = found(tmp_path / "named", {"package.json": package(packageManager="pnpm@9.1.0")}).main
    assert main is not None
    assert main.package_manager == "pnpm"


def test_settings_of_the_program_are_read_and_those_of_tools_are_not(tmp_path: Path) -> None:
    """`src/config/db.config.js` is code of the program; `vite.config.js` is not, wherever it lies."""
    files = {"package.json": package(scripts={"start": "node server.js"}), "server.js": SERVER}
    files["src/config/db.config.js"] = "exports.host = process.env.SHOP_HOST"
    files["web.config.js"] = "exports.host = process.env.TOP_HOST"
    files["config/vite.config.js"] = "exports.host = process.env.VITE_HOST"
    seen = found(tmp_path, files).main
    assert seen is not None
    assert [one.name for one in seen.variables] == ["SHOP_HOST"]


def test_a_page_for_browsers_is_a_frontend(tmp_path: Path) -> None:
    """vite is told the port by an option."""
    data = {"name": "page", "scripts": {"dev": "vite"}, "devDependencies": {"vite": "7"}}
    seen = found(tmp_path, {"package.json": json.dumps(data), "src/main.js": ""})
    assert seen.kind is Kind.FRONTEND
    assert commands(seen) == ["npm run dev -- --port {port} --host 127.0.0.1"]


def test_a_library_that_shows_itself_on_a_page_is_a_library(tmp_path: Path) -> None:
    """A bundler that serves a demonstration makes no frontend of a published package."""
    data = {"dependencies": {}, "devDependencies": {"vite": "7"}, "scripts": {"start": "vite demo"}}
    library = package(**data, exports="./index.js")
    assert found(tmp_path / "a", {"package.json": library, "index.js": ""}).kind is Kind.LIBRARY
    page = package(**data, exports="./index.js", private=True)
    assert found(tmp_path / "b", {"package.json": page, "index.js": ""}).kind is Kind.FRONTEND


def test_a_command_and_a_library_are_no_servers(tmp_path: Path) -> None:
    """`bin` makes a CLI, `main` alone a library."""
    data = {"name": "todo", "bin": {"todo": "bin/todo.js"}, "dependencies": {"commander": "14"}}
    cli = found(tmp_path / "cli", {"package.json": json.dumps(data), "bin/todo.js": ""})
    assert cli.main is not None
    assert (cli.kind, cli.main.entries[0].command, cli.main.framework) == (
        Kind.CLI,
        "node bin/todo.js",
        "commander",
    )
    lib = found(tmp_path / "lib", {"package.json": '{"name": "units", "main": "index.js"}', "index.js": ""})
    assert lib.kind is Kind.LIBRARY


def test_routes_of_controllers_have_their_prefix(tmp_path: Path) -> None:
    """Nest's controllers, and the global prefix."""
    code = "@Controller('rooms')\nexport class R {\n  @Get()\n  all() {}\n  @Get(':id')\n  one() {}\n}\n"
    main = "const app = await NestFactory.create(M); app.setGlobalPrefix('api'); await app.listen(3000);"
    files = {
        "package.json": package(dependencies={"@nestjs/core": "11"}),
        "src/rooms.ts": code,
        "src/main.ts": main,
    }
    stack = found(tmp_path, files).main
    assert stack is not None
    assert {"/rooms", "/rooms/:id", "/api/rooms"} <= {route.path for route in stack.routes}


def test_a_program_that_the_command_of_fastify_serves_is_a_server(tmp_path: Path) -> None:
    """`fastify start` listens for an app that does not do so itself; one that watches comes later."""
    scripts = {"start": "fastify start -l info app.js", "dev": "fastify start -w -l info app.js"}
    data = package(scripts=scripts, dependencies={"fastify": "5", "fastify-cli": "7"})
    seen = found(tmp_path, {"package.json": data, "app.js": "module.exports = async (fastify) => {}"})
    assert [(one.command, dict(one.env)) for one in seen.candidates] == [
        ("npm run start", {"PORT": "{port}"}),
        ("npm run dev", {"PORT": "{port}"}),
    ]
    assert seen.candidates[1].score < 64


def test_a_command_that_opens_a_port_is_said_to(tmp_path: Path) -> None:
    """What installs a command is no server by itself, and the note says how to have it started as one."""
    data = {"name": "serve", "bin": {"serve": "bin/cli.js"}, "dependencies": {"express": "5"}}
    seen = found(tmp_path, {"package.json": json.dumps(data), "bin/cli.js": SERVER})
    assert seen.kind is Kind.CLI
    assert "bin/cli.js listens" in seen.notes[0]
    assert "--start" in seen.notes[0]


def test_a_file_that_waits_for_an_event_opens_no_port(tmp_path: Path) -> None:
    """Only what listens on a port is a way to start."""
    files = {
        "package.json": package(scripts={}),
        "index.js": SERVER,
        "events.js": "app.listen('SIGTERM', () => app.end());\nemitter.listen('user:made', [Mailer]);\n",
    }
    assert commands(found(tmp_path, files)) == ["node index.js"]


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("jest", "npm run test"),
        *(
            (f"jest {word}", "npm run test")
            for word in ("--watchAll=false", "--no-watch", "-w 4", "test/watch.js")
        ),
        *(
            (f"vitest {word}", "npm run test")
            for word in ("run", "--watch=false", "--watch false", "--no-watch")
        ),
        *(
            (text, "npm run test")
            for text in ("npm test -w pkg", "yarn workspaces run test && npm test -w a")
        ),
        *((f"jest {word}", "") for word in ("--watch", "--watchAll", "--watch=true", "&& jest --watch")),
        *((text, "") for text in ("mocha -w", "vitest watch", "npm run test:watch", "nodemon --exec jest")),
        *((text, "") for text in ("tsc-watch --noEmit", "tsc -w & jest", "node --watch --test", "")),
        ("react-scripts test", "CI=true npm run test"),
        ("craco test --watchAll=false", "CI=true npm run test"),
        ("react-scripts test --watch", ""),
    ],
)
def test_tests_that_watch_files_are_no_check(tmp_path: Path, script: str, command: str) -> None:
    """A script that never ends is left out, and no other one for a word that looks like it."""
    seen = found(tmp_path, {"package.json": package(scripts={"test": script}), "server.js": SERVER}).main
    assert seen is not None
    assert seen.commands.test == command
