"""A Django program is given what it needs to answer on this machine."""

from pathlib import Path

import pytest

from tests.workspace.detect.trees import found

HEAD = "import os\nfrom decouple import Csv, config\nimport environ\nenv = environ.Env()\n"


def given(root: Path, settings: str, files: dict[str, str] | None = None) -> dict[str, str]:
    """The variables that a program with these settings is started with."""
    seen = found(root, {"requirements.txt": "django", "site/settings.py": HEAD + settings, **(files or {})})
    return {one.name: one.test_value for one in seen.stacks[0].variables if one.required}


@pytest.mark.parametrize(
    "hosts",
    [
        "ALLOWED_HOSTS = os.environ.get('HOSTS', '').split(',')",
        "ALLOWED_HOSTS = env.list('HOSTS')",
        "ALLOWED_HOSTS = config('HOSTS', default='shop.example', cast=Csv())",
        "ALLOWED_HOSTS = [os.environ['HOSTS']]",
        "ALLOWED_HOSTS = []\nif os.getenv('HOSTS'):\n    ALLOWED_HOSTS += os.getenv('HOSTS').split()",
        "listed = os.getenv('HOSTS', 'a')\nALLOWED_HOSTS = []\nALLOWED_HOSTS.extend(listed.split(','))",
        "if env.bool('DEBUG'):\n    ALLOWED_HOSTS = ['*']\nelse:\n    ALLOWED_HOSTS = env.list('HOSTS')",
    ],
)
@pytest.mark.parametrize("example", ["", "HOSTS=shop.example,localhost"])
def test_the_machine_itself_is_among_the_hosts(tmp_path: Path, hosts: str, example: str) -> None:
    """However the hosts are read, and whatever an example file says of them."""
    assert given(tmp_path, hosts, {".env.example": example})["HOSTS"] == "127.0.0.1"


def test_hosts_that_admit_the_machine_stay(tmp_path: Path) -> None:
    """What an example file or a default says is kept where it will do."""
    hosts = "ALLOWED_HOSTS = os.environ.get('HOSTS', 'localhost').split(',')"
    assert (
        given(tmp_path, hosts, {".env.example": "HOSTS=a.example,127.0.0.1"})["HOSTS"]
        == "a.example,127.0.0.1"
    )
    assert given(tmp_path, hosts.replace("localhost", "*"), {".env.example": ""}) == {}


@pytest.mark.parametrize(
    ("debug", "value"),
    [
        ("os.environ.get('DEBUG') == 'yes'", "yes"),
        ("os.environ.get('DEBUG', '0') in ('1', 'true')", "1"),
        ("bool(int(os.environ.get('DEBUG', 0)))", "1"),
        ("config('DEBUG', default=False, cast=bool)", "True"),
        ("os.environ['DEBUG'] != 'False'", "True"),
        ("config('DEBUG', default=True, cast=bool)", None),
    ],
)
def test_a_program_without_hosts_is_debugged(tmp_path: Path, debug: str, value: str | None) -> None:
    """Django asks for hosts unless it is debugged, so that is switched on in the words of the code."""
    assert given(tmp_path, f"DEBUG = {debug}\nALLOWED_HOSTS = []\n").get("DEBUG") == value


def test_debugging_stays_as_it_is_where_hosts_are_listed(tmp_path: Path) -> None:
    """A program that answers anyway is started as it would be."""
    assert "DEBUG" not in given(tmp_path, "DEBUG = os.getenv('DEBUG') == '1'\nALLOWED_HOSTS = ['*']\n")
