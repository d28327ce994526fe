"""Commands that other files name."""

from pathlib import Path

from harness_executor.workspace.detect.declared import declared, started, targets
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.unit import Unit
from tests.workspace.detect.trees import grow

FILES = {
    "Procfile": "web: gunicorn -k gevent shop.wsgi:app -b 0.0.0.0:$PORT\nworker: celery worker\n",
    "Dockerfile": 'FROM x\nCMD ["uvicorn", "shop.main:app", \\\n "--host", "0.0.0.0", "--port", "80"]\n',
    "docker-compose.yml": "services:\n  web:\n    build: .\n    command: uvicorn shop.main:app --reload\n",
    "Makefile": "run: build\n\tpython serve.py\nlint:\n\truff .\n",
    "README.md": "Run it:\n\n```sh\n$ poetry run flask run\n```\n\nnode is not used\n",
}


def unit(root: Path) -> Unit:
    """A program with all of these files."""
    return Unit(Files(grow(root, FILES)), ".")


def test_reads_every_file_that_names_a_start(tmp_path: Path) -> None:
    """Procfile, Dockerfile, compose, Makefile and the code of a README."""
    named = {one.where: one.command for one in declared(unit(tmp_path))}
    assert named["Procfile"].startswith("gunicorn -k gevent")
    assert named["Dockerfile"] == "uvicorn shop.main:app --host 0.0.0.0 --port 80"
    assert named["docker-compose.yml"] == "uvicorn shop.main:app --reload"
    assert named["Makefile"] == "python serve.py"
    assert named["README.md"] == "poetry run flask run"


def test_servers_are_made_to_take_any_port(tmp_path: Path) -> None:
    """The port of the file is replaced, and what chooses the worker stays."""
    one = unit(tmp_path)
    commands = {candidate.command for candidate in started(one, declared(one))}
    assert commands == {
        "{python} -m gunicorn -k gevent shop.wsgi:app --bind 127.0.0.1:{port}",
        "{python} -m uvicorn shop.main:app --host 127.0.0.1 --port {port}",
    }


def test_a_command_with_tricks_is_not_taken_over(tmp_path: Path) -> None:
    """Pipes, redirections and substitutions of a repository do not become ours."""
    for text in ("uvicorn a:app; touch x", "uvicorn a:app | sh", "uvicorn `id`:app", "uvicorn 'a:app$(id)'"):
        one = Unit(Files(grow(tmp_path, {"Procfile": f"web: {text}\n"})), ".")
        assert not list(started(one, declared(one)))


def test_targets_of_a_makefile_have_their_lines() -> None:
    """Continued lines are one, and assignments are no targets."""
    assert targets("A := 1\nrun: x\n\ta \\\n\t b\nend:\n") == {"run": ["a  \t b"], "end": []}
