"""Python programs, from their files alone."""

import sys
from pathlib import Path

import pytest

from harness_executor.workspace.detect.values import Kind, Place
from tests.workspace.detect.trees import commands, found

FASTAPI = "from fastapi import FastAPI\napp = FastAPI()\n@app.get('/health')\ndef health(): return {}\n"
FLASK = "from flask import Flask\napp = Flask(__name__)\n@app.route('/')\ndef index(): return 'hi'\n"


def test_finds_an_object_in_a_package(tmp_path: Path) -> None:
    """`app = FastAPI()` in a package is served by uvicorn, by the name it is imported by."""
    seen = found(
        tmp_path, {"requirements.txt": "fastapi\nuvicorn\n", "app/__init__.py": "", "app/main.py": FASTAPI}
    )
    assert commands(seen)[0] == "python3 -m uvicorn app.main:app --host 127.0.0.1 --port {port}"
    assert seen.main is not None
    assert (seen.main.framework, seen.kind) == ("fastapi", Kind.SERVER)
    assert "/health" in {route.path for route in seen.main.routes}


def test_finds_an_object_in_a_src_layout(tmp_path: Path) -> None:
    """With a src layout the module is found by PYTHONPATH, and the server runs at the root."""
    seen = found(
        tmp_path,
        {
            "pyproject.toml": "[project]\nname='shop'\ndependencies=['fastapi','uvicorn']\n",
            "src/shop/__init__.py": "",
            "src/shop/api.py": FASTAPI,
        },
    )
    best = seen.candidates[0]
    assert best.command == "python3 -m uvicorn shop.api:app --host 127.0.0.1 --port {port}"
    assert (best.folder, dict(best.env)) == (".", {"PYTHONPATH": "src"})


def test_imports_begin_where_they_lead(tmp_path: Path) -> None:
    """A file that imports its neighbours without a package is started in its own folder."""
    seen = found(
        tmp_path,
        {
            "requirements.txt": "flask\n",
            "backend/app.py": "import models\n" + FLASK,
            "backend/models.py": "",
        },
    )
    assert (seen.candidates[0].folder, commands(seen)[0].split()[4]) == ("backend", "app:app")


def test_finds_a_function_that_makes_an_application(tmp_path: Path) -> None:
    """create_app() is named to flask, and to uvicorn as a factory."""
    flask = (
        "from flask import Flask\ndef create_app(config=None):\n    app = Flask(__name__)\n    return app\n"
    )
    fastapi = "from fastapi import FastAPI\ndef make():\n    it = FastAPI()\n    return it\n"
    seen = found(tmp_path / "one", {"requirements.txt": "flask", "web/__init__.py": flask})
    assert commands(seen)[0] == "python3 -m flask --app web:create_app run --host 127.0.0.1 --port {port}"
    seen = found(tmp_path / "two", {"requirements.txt": "fastapi\nuvicorn", "main.py": fastapi})
    assert commands(seen)[0] == "python3 -m uvicorn --factory main:make --host 127.0.0.1 --port {port}"


def test_an_object_that_a_function_made_is_one_too(tmp_path: Path) -> None:
    """`app = create_app()` in wsgi.py is better than the function itself."""
    files = {
        "requirements.txt": "flask",
        "shop/__init__.py": "from flask import Flask\ndef create_app():\n    return Flask(__name__)\n",
        "wsgi.py": "from shop import create_app\napp = create_app()\n",
    }
    assert commands(found(tmp_path, files))[0].split()[4] == "wsgi:app"


def test_django_is_started_by_its_own_program(tmp_path: Path) -> None:
    """manage.py runs the server without reloading, after the migrations."""
    manage = "import os, sys\nfrom django.core.management import execute_from_command_line\n"
    seen = found(
        tmp_path, {"requirements.txt": "django", "site/manage.py": manage, "site/shop/models.py": ""}
    )
    best = seen.candidates[0]
    assert best.command == "python3 manage.py runserver 127.0.0.1:{port} --noreload"
    assert best.folder == "site"
    assert [step.command for step in seen.steps(seen.stack_of(best), best)] == [
        "python3 manage.py migrate --noinput"
    ]


@pytest.mark.parametrize(
    ("code", "command", "env", "place"),
    [
        ("int(sys.argv[1])", "python3 serve.py {port}", {}, Place.OPTION),
        (
            "int(os.environ.get('APP_PORT', 9000))",
            "python3 serve.py",
            {"APP_PORT": "{port}"},
            Place.ENVIRONMENT,
        ),
        ("8123", "python3 serve.py", {}, Place.FIXED),
    ],
)
def test_finds_where_the_port_is_set(
    tmp_path: Path, code: str, command: str, env: dict[str, str], place: Place
) -> None:
    """An argument, a variable of any name, or a number in the code."""
    text = (
        "import os, sys\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\n"
        f"class H(BaseHTTPRequestHandler):\n    def do_GET(self): pass\n\nPORT = {code}\n"
        "if __name__ == '__main__':\n    HTTPServer(('127.0.0.1', PORT), H).serve_forever()\n"
    )
    best = found(tmp_path, {"serve.py": text}).candidates[0]
    assert (best.command, dict(best.env), best.port.place) == (command, env, place)
    assert best.fixed_port == (8123 if place is Place.FIXED else None)


def test_an_option_for_the_port_is_used(tmp_path: Path) -> None:
    """--port of argparse is filled in."""
    text = (
        "import argparse\nfrom aiohttp import web\n"
        "def main():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('-p', '--port', default=8080)\n"
        "    args = parser.parse_args()\n    web.run_app(web.Application(), port=args.port)\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    best = found(tmp_path, {"requirements.txt": "aiohttp", "main.py": text}).candidates[0]
    assert (best.command, best.port.number) == ("python3 main.py --port {port}", 8080)


def test_a_command_and_a_library_are_no_servers(tmp_path: Path) -> None:
    """console_scripts make a CLI, a package alone makes a library; both say that nothing is served."""
    cli = found(
        tmp_path / "cli",
        {
            "pyproject.toml": "[project]\nname='cols'\ndependencies=['click']\n"
            "[project.scripts]\ncols='cols.cli:main'\n",
            "cols/__init__.py": "",
            "cols/cli.py": "import click\n@click.command()\ndef main(): pass\n",
        },
    )
    assert (cli.kind, cli.candidates) == (Kind.CLI, ())
    assert cli.main is not None
    assert cli.main.entries[0].command == "python3 -c 'from cols.cli import main; main()'"
    assert cli.main.framework == "click"
    library = found(
        tmp_path / "lib", {"pyproject.toml": "[project]\nname='slugs'\n", "slugs/__init__.py": ""}
    )
    assert (library.kind, library.notes) == (Kind.LIBRARY, ("nothing in this project starts a server",))
    assert library.main is not None
    assert library.main.imports == ("slugs",)


def test_the_interpreter_of_the_project_is_used(tmp_path: Path) -> None:
    """A virtual environment in the project is named as the folder of the command sees it."""
    for folder in (".venv", "backend"):
        (tmp_path / folder).mkdir()
    program = tmp_path / ".venv" / "bin" / "python"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    files = {"backend/requirements.txt": "flask", "backend/app.py": FLASK}
    assert commands(found(tmp_path, files))[0].startswith("../.venv/bin/python -m flask")


def test_code_of_another_version_or_hostile_code_is_passed_over(tmp_path: Path) -> None:
    """What cannot be parsed is no reason to fail."""
    files = {
        "old.py": "print 'hello'",
        "deep.py": "(" * 5000,
        "nul.py": "a = 1\0",
        "app.py": FLASK,
        "requirements.txt": "flask",
    }
    assert commands(found(tmp_path, files))[0].split()[4] == "app:app"


def test_modules_named_like_those_of_python_do_not_move_a_package(tmp_path: Path) -> None:
    """A package with a `typing.py` and a `logging.py` is still imported by its own name."""
    code = """
        import logging
        import typing
        from fastapi import FastAPI
        from .wiring import things
        app = FastAPI()
        """
    files = dict.fromkeys(("src/shop/__init__.py", "src/shop/typing.py", "src/shop/logging.py"), "")
    seen = found(tmp_path, {**files, "pyproject.toml": "[project]\nname='x'\n", "src/shop/main.py": code})
    assert " shop.main:app " in commands(seen)[0]


def test_a_command_that_serves_is_a_way_to_start(tmp_path: Path) -> None:
    """What a command of the project calls is called the same way; its file alone serves nothing."""
    code = """
        from tornado.options import define, options
        from tornado.web import Application

        define("port", default=8888)

        def main():
            Application([]).listen(options.port)
        """
    setup = "from setuptools import setup\nsetup(entry_points={'console_scripts': ['serve = shop:main']})\n"
    seen = found(tmp_path, {"setup.py": setup, "shop/__init__.py": code})
    assert commands(seen) == ["python3 -c 'from shop import main; main()' --port={port}"]
    assert (seen.candidates[0].framework, seen.kind) == ("tornado", Kind.SERVER)


def test_a_file_that_calls_what_serves_is_a_program(tmp_path: Path) -> None:
    """Without a `__main__`, the call at its end counts."""
    code = "import uvicorn\ndef main():\n    uvicorn.run('x:y', port=8001)\n"
    assert commands(found(tmp_path / "a", {"requirements.txt": "uvicorn", "go.py": code})) == []
    seen = found(tmp_path / "b", {"requirements.txt": "uvicorn", "go.py": code + "main()\n"})
    assert commands(seen) == ["python3 go.py"]


def test_the_file_with_more_routes_is_meant(tmp_path: Path) -> None:
    """A first try that was left beside the application does not come before it."""
    more = FLASK + "".join(f"@app.route('/{name}')\ndef {name}(): return ''\n" for name in "abcdef")
    seen = found(tmp_path, {"requirements.txt": "flask", "hello.py": FLASK, "shop.py": more})
    assert commands(seen)[0].split()[4] == "shop:app"


def test_older_versions_of_sanic_are_thought_of(tmp_path: Path) -> None:
    """They know no `--single-process`, and take the application by a name with a dot."""
    code = "from sanic import Sanic\napp = Sanic('shop')\n"
    seen = commands(found(tmp_path, {"requirements.txt": "sanic", "shop.py": code}))
    assert seen[0] == "python3 -m sanic shop:app --host 127.0.0.1 --port {port} --single-process"
    assert seen[1] == "python3 -m sanic shop.app --host 127.0.0.1 --port {port}"


def test_servers_of_wsgi_call_a_function_that_makes_an_application(tmp_path: Path) -> None:
    """gunicorn by a call in the name, waitress by an option; also one that another file's function makes."""
    code = "import falcon\ndef create_app(store):\n    app = falcon.App()\n    return app\n"
    files = {
        "requirements.txt": "falcon\ngunicorn\nwaitress\n",
        "look/__init__.py": "",
        "look/app.py": code,
        "look/main.py": "from look.app import create_app\ndef get_app():\n    return create_app({})\n",
    }
    assert commands(found(tmp_path, files)) == [
        "python3 -m gunicorn 'look.main:get_app()' --bind 127.0.0.1:{port}",
        "python3 -m waitress --listen=127.0.0.1:{port} --call look.main:get_app",
    ]


@pytest.mark.parametrize(
    ("requirements", "best"),
    [("connexion[uvicorn]\ngunicorn\n", "uvicorn"), ("connexion\ngunicorn\n", "gunicorn")],
)
def test_connexion_is_of_wsgi_or_of_asgi(tmp_path: Path, requirements: str, best: str) -> None:
    """Its version decides, which is not known: both kinds of server are ways."""
    code = "import connexion\napp = connexion.FlaskApp(__name__)\n"
    seen = found(tmp_path, {"requirements.txt": requirements, "app.py": code})
    assert {command.split()[2] for command in commands(seen)} == {"gunicorn", "uvicorn"}
    assert commands(seen)[0].split()[2] == best


def test_what_alembic_runs_is_no_server(tmp_path: Path) -> None:
    """Its env.py makes the application only to find the tables."""
    app = "from flask import Flask\ndef create_app():\n    app = Flask(__name__)\n    return app\n"
    env = "from shop.app import create_app\napp = create_app()\n"
    files = {"requirements.txt": "flask\n", "shop/__init__.py": "", "shop/app.py": app, "db/env.py": env}
    assert any("db.env" in one.command for one in found(tmp_path / "a", files).candidates)
    seen = found(tmp_path / "b", {**files, "db/script.py.mako": ""})
    assert "--app shop.app:create_app" in seen.candidates[0].command
    assert not any("db.env" in one.command for one in seen.candidates)


@pytest.mark.parametrize(
    ("code", "framework"),
    [
        (
            "from strawberry.asgi import GraphQL\napp = GraphQL(Schema(Query))\n",
            "strawberry",
        ),
        ("from ariadne.asgi import GraphQL\napp = GraphQL(schema)\n", "ariadne"),
        ("from fasthtml.common import *\napp, rt = fast_app()\nserve()\n", "fasthtml"),
        ("from fasthtml.common import FastHTML\napp = FastHTML()\n", "fasthtml"),
    ],
)
def test_applications_of_asgi_are_served_by_uvicorn(tmp_path: Path, code: str, framework: str) -> None:
    """Also the first of several things that one call gives, of a package that is imported whole."""
    best = found(tmp_path, {"requirements.txt": "uvicorn\n", "main.py": code}).candidates[0]
    assert best.command == "python3 -m uvicorn main:app --host 127.0.0.1 --port {port}"
    assert best.framework == framework


def test_the_entry_that_fastapi_is_told_is_meant(tmp_path: Path) -> None:
    """Of two applications, and imported from the folder of pyproject.toml."""
    told = (
        '[project]\nname = "x"\ndependencies = ["fastapi"]\n[tool.fastapi]\nentrypoint = "backend.web:app"\n'
    )
    files = {"pyproject.toml": told, "main.py": FASTAPI, "backend/web.py": FASTAPI, "backend/__init__.py": ""}
    best = found(tmp_path, files).candidates[0]
    assert best.command == "python3 -m uvicorn backend.web:app --host 127.0.0.1 --port {port}"
    assert (best.folder, "pyproject.toml names backend.web:app" in best.reasons) == (".", True)


def test_the_environment_beside_the_manifest_is_used(tmp_path: Path) -> None:
    """Imports that begin above a program do not change which packages it has."""
    files = {
        "backend/requirements.txt": "fastapi\nuvicorn\n",
        "backend/main.py": "from backend.shop import x\nfrom fastapi import FastAPI\napp = FastAPI()\n",
        "backend/shop.py": "",
    }
    for name in ("backend/.venv/bin/python", ".venv/bin/python"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).symlink_to(sys.executable)
    best = found(tmp_path, files).candidates[0]
    assert (best.folder, best.command.split()[0]) == (".", "backend/.venv/bin/python")


UVICORN = "{python} -m uvicorn %s --host 127.0.0.1 --port {port}".replace("{python}", "python3")
CREATOR = "from fastapi import FastAPI\nclass Maker:\n    def __init__(self):\n        self.app = FastAPI()\n"


@pytest.mark.parametrize(
    ("code", "command"),
    [
        (f"{CREATOR}app = Maker().app\n", UVICORN % "a:app"),
        (f"{CREATOR}maker = Maker()\napp = maker.app\n", UVICORN % "a:app"),
        (f"{CREATOR}    def make(self):\n        return self.app\napp = Maker().make()\n", UVICORN % "a:app"),
        ("import socketio\napp = socketio.ASGIApp(socketio.AsyncServer())\n", UVICORN % "a:app"),
        (
            "import uvicorn, sys\nuvicorn.Server(uvicorn.Config(f(), port=int(sys.argv[1]))).run()\n",
            "python3 a.py {port}",
        ),
        (
            "import sys\nfrom websockets.asyncio.server import serve\nserve(f, '', int(sys.argv[1]))\n",
            "python3 a.py {port}",
        ),
        (
            "import sys\nfrom aiohttp import web\nweb.TCPSite(run, '127.0.0.1', int(sys.argv[1])).start()\n",
            "python3 a.py {port}",
        ),
    ],
)
def test_servers_that_are_made_in_other_ways_are_seen(tmp_path: Path, code: str, command: str) -> None:
    """By objects that hold the application, by parts of servers, and without any application."""
    files = {"requirements.txt": "fastapi\nuvicorn\n", "a.py": code}
    assert commands(found(tmp_path, files))[0] == command


def test_a_manage_py_of_django_configurations_is_one(tmp_path: Path) -> None:
    """Its classes of settings come with a program of their own."""
    code = "from configurations.management import execute_from_command_line\n"
    best = found(tmp_path, {"requirements.txt": "django", "manage.py": code}).candidates[0]
    assert best.framework == "django"
