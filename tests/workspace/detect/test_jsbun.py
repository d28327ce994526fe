"""Programs that Bun runs."""

import json
from pathlib import Path

import pytest

from harness_executor.workspace.detect.values import Kind, Place
from tests.workspace.detect.trees import commands, found

HONO = """
import { Hono } from 'hono'

const app = new Hono()
app.get('/todos', (c) => c.json([]))

export default app
"""
"""As the template of Hono for Bun has it."""
SERVE = """
const server = Bun.serve({
  port: 4100,
  routes: {
    "/health": new Response("OK"),
    "/todos/:id": (req) => Response.json({ id: req.params.id }),
  },
});
"""
FETCH = """
const port = Number(process.env.API_PORT ?? 4200)
export default { port, fetch(req: Request) { return new Response('hi') } }
"""


def manifest(**more: object) -> str:
    """A package.json with Bun among its packages, or not."""
    return json.dumps({"name": "x", "private": True, **more})


def on_bun(**more: object) -> str:
    """One of a program whose types are Bun's."""
    return manifest(devDependencies={"@types/bun": "1"}, **more)


def test_what_a_file_exports_is_served(tmp_path: Path) -> None:
    """By Bun, on PORT; a script that loads it anew all the time comes after."""
    said = manifest(scripts={"dev": "bun run --hot src/index.ts"}, dependencies={"hono": "4"})
    seen = found(tmp_path, {"package.json": said, "src/index.ts": HONO})
    assert commands(seen) == ["bun src/index.ts", "npm run dev"]
    best = seen.candidates[0]
    assert (best.framework, best.env, best.port.place) == ("hono", {"PORT": "{port}"}, Place.ENVIRONMENT)


def test_the_server_of_bun_is_found_with_its_port_and_routes(tmp_path: Path) -> None:
    """Where no script starts it: the file itself is run."""
    seen = found(tmp_path, {"package.json": on_bun(module="index.ts"), "index.ts": SERVE})
    assert commands(seen) == ["bun index.ts"]
    assert (seen.candidates[0].port.place, seen.candidates[0].fixed_port) == (Place.FIXED, 4100)
    assert seen.main is not None
    assert {route.path for route in seen.main.routes} == {"/health", "/todos/:id"}


def test_serve_may_be_imported(tmp_path: Path) -> None:
    """Then it is Bun's as well."""
    code = 'import { serve, sql } from "bun";\nserve(settings);\n'
    assert commands(found(tmp_path, {"package.json": on_bun(), "api.ts": code})) == ["bun api.ts"]


def test_a_port_that_is_exported_is_read(tmp_path: Path) -> None:
    """By the variable of its own."""
    best = found(tmp_path, {"package.json": on_bun(), "src/server.ts": FETCH}).candidates[0]
    assert (best.command, best.env) == ("bun src/server.ts", {"API_PORT": "{port}"})


def test_bun_may_be_one_of_the_packages(tmp_path: Path) -> None:
    """Then that one is run, wherever it is found."""
    said = manifest(devDependencies={"bun": "1"}, module="index.ts")
    assert commands(found(tmp_path, {"package.json": said, "index.ts": SERVE})) == [
        "npx --offline --no-install bun index.ts"
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": manifest(dependencies={"hono": "4"}, main="src/index.ts"), "src/index.ts": HONO},
        {"package.json": on_bun(module="src/index.ts"), "src/index.ts": "export default function add() {}\n"},
        {"package.json": on_bun(module="src/index.ts"), "src/index.ts": "", "src/routes/todos.ts": HONO},
        {
            "package.json": on_bun(),
            "src/data.ts": "import { SQL } from 'bun'\nexport const data = new SQL('')\n",
        },
    ],
    ids=["without Bun", "another export", "a part of a program", "another use of Bun"],
)
def test_what_bun_does_not_serve_is_no_server(tmp_path: Path, files: dict[str, str]) -> None:
    """A router that is exported for another runtime, or for a program, is not started."""
    seen = found(tmp_path, files)
    assert (seen.candidates, seen.kind) == ((), Kind.LIBRARY)
