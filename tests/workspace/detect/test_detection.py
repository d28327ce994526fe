"""Which of several programs is meant, and what is found of the samples under tests/apps."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness_executor.errors import UsageError
from harness_executor.workspace.detect.detection import detect
from harness_executor.workspace.detect.environment import Choice, environment
from tests.workspace.detect.trees import commands, found

APPS = Path(__file__).parents[2] / "apps"
SAMPLES = sorted(path.parent.name for path in APPS.glob("*/app.yaml"))
FLASK = "from flask import Flask\napp = Flask(__name__)\n"
EXPRESS = "const app = require('express')();\napp.listen(process.env.PORT || 3000);\n"
PACKAGE = json.dumps({"name": "x", "scripts": {"start": "node server.js"}, "dependencies": {"express": "5"}})


def _has(wanted: Any, command: str) -> bool:
    return any(one in command for one in wanted["any"]) if isinstance(wanted, dict) else wanted in command


@pytest.mark.parametrize("name", SAMPLES)
def test_knows_every_sample(name: str) -> None:
    """Kind, language, framework, package manager, start, steps, services and variables of each sample."""
    wanted = yaml.safe_load((APPS / name / "app.yaml").read_text(encoding="utf-8"))["init"]
    seen = detect(APPS / name / "base")
    best = seen.candidates[0] if seen.candidates else None
    steps = seen.steps(seen.stack_of(best), best) if best else ()
    data = environment(seen, Choice(best, steps))
    assert data["project"]["type"] == wanted["type"]
    assert data["project"]["language"] == wanted["language"]
    for key in ("framework",):
        assert data["project"][key] == wanted.get(key, data["project"][key])
    assert data["runtime"]["package_manager"] == wanted.get(
        "package_manager", data["runtime"]["package_manager"]
    )
    startup = data.get("startup", {})
    started = f"{startup.get('working_dir')} {startup.get('command', '')}"
    assert all(_has(part, started) for part in wanted.get("start", [])), started
    assert [step["name"] for step in startup.get("steps", [])] == wanted.get("steps", [])
    assert [service["type"] for service in data.get("services", [])] == wanted.get("services", [])
    assert set(wanted.get("env_vars", [])) <= set(data.get("env_vars", {}).get("required", {}))
    assert wanted.get("build", "") == (data["runtime"].get("build_command") if startup.get("build") else "")


def test_decoys_do_not_win(tmp_path: Path) -> None:
    """Servers in examples, documentation, tests and templates are not the one that is meant."""
    files = {
        f"{folder}/app.py": FLASK for folder in ("examples", "docs", "tests/fixtures", "templates/flask")
    }
    files |= {"requirements.txt": "flask", "service/run_it.py": FLASK + "app.run(port=5001)\n"}
    files |= {"examples/node/package.json": PACKAGE, "examples/node/server.js": EXPRESS}
    files |= {"node_modules/express/server.js": EXPRESS, "node_modules/express/package.json": PACKAGE}
    seen = found(tmp_path, files)
    assert all("service" in candidate.source for candidate in seen.candidates)


def test_a_library_with_examples_is_a_library(tmp_path: Path) -> None:
    """Examples make no server of a library."""
    files = {"package.json": '{"name": "lib", "main": "index.js"}', "index.js": "", "examples/a.js": EXPRESS}
    seen = found(tmp_path, files)
    assert (seen.candidates, seen.kind.value) == ((), "library")


def test_a_backend_is_meant_rather_than_its_pages(tmp_path: Path) -> None:
    """backend/ comes before frontend/, and both are named."""
    front = json.dumps({"name": "f", "scripts": {"dev": "vite"}, "devDependencies": {"vite": "7"}})
    files = {"backend/requirements.txt": "flask", "backend/app.py": FLASK, "frontend/package.json": front}
    seen = found(tmp_path, files)
    assert seen.candidates[0].folder == "backend"
    assert "there are servers in backend, frontend" in seen.notes[0]


def test_app_picks_another_one(tmp_path: Path) -> None:
    """--app names a folder, even one of examples; one that is not there is refused."""
    files = {"package.json": PACKAGE, "server.js": EXPRESS, "examples/b/package.json": PACKAGE}
    files["examples/b/server.js"] = EXPRESS
    assert found(tmp_path, files).candidates[0].folder == "."
    assert {one.folder for one in found(tmp_path, files, app="examples/b").candidates} == {"examples/b"}
    with pytest.raises(UsageError, match="no folder"):
        found(tmp_path, files, app="nowhere")


def test_other_files_give_weight_to_a_candidate(tmp_path: Path) -> None:
    """What the Procfile names wins over an equal."""
    files = {
        "requirements.txt": "flask",
        "one.py": FLASK,
        "two.py": FLASK,
        "Procfile": "web: gunicorn two:app\n",
    }
    seen = found(tmp_path, files)
    assert "two:app" in commands(seen)[0]
    assert "Procfile names two:app" in seen.candidates[0].reasons


def test_names_that_could_run_something_are_quoted(tmp_path: Path) -> None:
    """A file name of a repository cannot put a command of its own into ours."""
    files = {
        "requirements.txt": "flask",
        "a;touch x.py": FLASK + "\nif __name__ == '__main__':\n    app.run()\n",
    }
    seen = found(tmp_path, files)
    assert commands(seen)
    assert all("'" in command for command in commands(seen) if "touch" in command)


def test_an_empty_folder_is_nothing(tmp_path: Path) -> None:
    """Nothing is found where nothing is."""
    seen = detect(tmp_path)
    assert (seen.main, seen.candidates, seen.stacks) == (None, (), ())
    assert environment(seen, Choice())["project"]["type"] == "library"


def test_a_command_of_another_file_has_the_framework_of_the_code(tmp_path: Path) -> None:
    """What a README starts is made with what the code imports."""
    files = {
        "requirements.txt": "fastapi\nuvicorn\n",
        "README.md": "```\nuvicorn shop.main:app\n```\n",
        "shop/main.py": "from fastapi import APIRouter\nfrom .setup import make\napp = make(APIRouter())\n",
        "shop/setup.py": "def make(router): ...\n",
    }
    best = found(tmp_path, files).candidates[0]
    assert (best.framework, best.source) == ("fastapi", "README.md")


def test_every_way_to_start_the_server_comes_before_a_page_beside_it(tmp_path: Path) -> None:
    """A page for browsers in another folder is tried last, whatever its score; alone it is meant itself."""
    page = '{"name": "web", "dependencies": {"next": "15"}, "scripts": {"start": "next start"}}'
    scripts = '{"start": "node s.js", "dev": "node s.js -d"}'
    api = f'{{"name": "api", "dependencies": {{"express": "5"}}, "scripts": {scripts}}}'
    files = {
        "apps/web/package.json": page,
        "apps/web/app/page.jsx": "",
        "apps/api/package.json": api,
        "apps/api/s.js": "express().listen(process.env.PORT)",
    }
    seen = found(tmp_path / "both", files)
    assert [one.folder for one in seen.candidates] == ["apps/api"] * (len(seen.candidates) - 1) + ["apps/web"]
    assert len(seen.candidates) > 2
    alone = found(tmp_path / "page", {name: text for name, text in files.items() if "web" in name})
    assert alone.candidates[0].folder == "apps/web"


ENDLESS = {
    "comments that never end": ("i.js", "/* a " * 40_000),
    "empty lines in a table of routes": ("i.js", "Bun.serve({ routes: {\n" + "\n" * 200_000),
    "routers in routers": (
        "i.js",
        "".join(f"app.use('/p{n}', r);app.get('/{n}', f);\n" for n in range(9_000)),
    ),
    "questions one after the other": ("a.py", "if a: b\n" * 40_000),
    "calls one after the other": ("a.py", "f()\n" * 40_000),
    "empty lines in a schema": ("schema.sql", "\n" * 200_000),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_no_file_is_looked_at_for_long(tmp_path: Path, name: str) -> None:
    """What takes as many steps as a file has letters, squared, would not end in this test."""
    path, text = ENDLESS[name]
    more = {"package.json": '{"name": "a"}', "requirements.txt": "", path: text}
    seen = found(tmp_path, more)
    assert [stack.folder for stack in seen.stacks][:1] == ["."]
    assert bool(seen.schemas(seen.stacks[0])) is (path == "schema.sql")


ODD = {
    "a type of 900 parts": "from pydantic import BaseSettings\nclass S(BaseSettings):\n    a: "
    + "b|" * 900
    + "c\n",
    "a number of 6,000 digits": f"os.getenv('A', 0x{'f' * 5_000})\napp.run(port=0x{'f' * 5_000})\n",
    "a port of other digits": "app.run(port='\u00b2')\n",
    "a chain of 900 names": "a" + ".b" * 900 + "()\n",
    "brackets in brackets": "(" * 5_000 + ")" * 5_000,
}


@pytest.mark.parametrize("name", ODD)
def test_odd_code_hides_nothing_of_the_rest(tmp_path: Path, name: str) -> None:
    """A file that nobody would write does not end the detection."""
    seen = found(tmp_path, {"requirements.txt": "flask", "app.py": FLASK, "odd.py": FLASK + ODD[name]})
    assert "{python} -m flask --app app:app run" in seen.candidates[0].command.replace("python3", "{python}")


def test_ports_of_other_digits_are_none(tmp_path: Path) -> None:
    """What Unicode calls a digit is not always a number."""
    code = EXPRESS.replace("process.env.PORT || 3000", "\u00b2")
    assert found(tmp_path, {"package.json": PACKAGE, "server.js": code}).candidates
