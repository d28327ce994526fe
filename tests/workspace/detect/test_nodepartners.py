"""Packages of the same repository that count to a Node program."""

import json
from pathlib import Path

from harness_executor.workspace.detect.nodepartners import partners
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.unit import units
from tests.workspace.detect.trees import found, grow

SERVER = "import { db } from '@it/db';\nexpress().listen(process.env.PORT);\n"
FILES = {
    "package.json": json.dumps({"name": "all", "private": True, "workspaces": ["apps/*", "packages/*"]}),
    "apps/api/package.json": json.dumps(
        {
            "name": "api",
            "scripts": {"start": "node s.js"},
            "dependencies": {"express": "5", "@it/db": "*", "@it/docs": "*"},
        }
    ),
    "apps/api/s.js": SERVER,
    "packages/db/package.json": json.dumps(
        {
            "name": "@it/db",
            "main": "i.js",
            "dependencies": {"pg": "8", "drizzle-orm": "1", "drizzle-kit": "1"},
        }
    ),
    "packages/db/i.js": "new Pool({ url: process.env.DATABASE_URL, a: process.env.POOL_NAME! });",
    "packages/db/drizzle.config.ts": "",
    "packages/db/.env.example": "DATABASE_URL=postgresql://me:secret@localhost:5435/shop\n",
    "apps/docs/package.json": json.dumps(
        {"name": "@it/docs", "scripts": {"start": "serve"}, "dependencies": {"ioredis": "5"}}
    ),
    "apps/docs/i.js": "process.env.DOCS_KEY!",
}


def test_what_a_package_of_the_repository_needs_the_program_needs(tmp_path: Path) -> None:
    """Its database, variables and tables are those of the program; those of other programs are not."""
    seen = found(tmp_path, FILES)
    best = seen.candidates[0]
    stack = seen.stack_of(best)
    assert (best.command, best.folder) == ("node s.js", "apps/api")
    services = {one.type: one for one in seen.services(stack)}
    assert list(services) == ["postgresql"]
    assert services["postgresql"].required is True
    assert services["postgresql"].connection["url_env"] == "DATABASE_URL"
    assert str(services["postgresql"].connection["default_url"]).endswith("/shop")
    assert {one.name for one in stack.variables if one.required} == {"DATABASE_URL", "POOL_NAME"}
    made = "(cd ../../packages/db && npx --offline --no-install drizzle-kit push --force)"
    assert [step.command for step in seen.steps(stack, best)] == [made]


def test_tables_of_the_program_itself_come_first(tmp_path: Path) -> None:
    """A program that migrates itself needs nothing of the packages beside it."""
    own = json.loads(FILES["apps/api/package.json"])
    own["scripts"]["db:migrate"] = "node migrate.js"
    seen = found(tmp_path, {**FILES, "apps/api/package.json": json.dumps(own)})
    best = seen.candidates[0]
    assert [step.name for step in seen.steps(seen.stack_of(best), best)] == ["migrate"]
    assert "npm run db:migrate" in seen.steps(seen.stack_of(best), best)[0].command


def test_the_script_that_the_root_runs_for_the_tables_is_the_one(tmp_path: Path) -> None:
    """Of the scripts of a package, the one is run that a script at the root names for this."""
    root = {**json.loads(FILES["package.json"]), "scripts": {"db:push": "pnpm run --filter=@it/db push"}}
    data = {**json.loads(FILES["packages/db/package.json"]), "scripts": {"migrate": "a", "push": "b"}}
    more = {"package.json": json.dumps(root), "packages/db/package.json": json.dumps(data)}
    seen = found(tmp_path, {**FILES, **more})
    best = seen.candidates[0]
    made = "(cd ../../packages/db && npm run push)"
    assert [(step.command, step.lingers) for step in seen.steps(seen.stack_of(best), best)] == [(made, True)]


def test_packages_that_all_need_each_other_are_each_taken_once(tmp_path: Path) -> None:
    """Forty packages in rings end as soon as each was seen, those below before those above."""
    names = [f"p{number}" for number in range(40)]
    files = {
        f"{name}/package.json": json.dumps({"name": name, "devDependencies": dict.fromkeys(names, "*")})
        for name in names
    }
    found_ = {one.folder: one for one in units(Files(grow(tmp_path, files)))}
    taken = [one.folder for one in partners(found_["p0"])]
    assert sorted(taken) == sorted(names[1:])
    assert taken[-1] == "p1"
