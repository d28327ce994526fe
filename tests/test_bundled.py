"""Prompts, guides and scripts that ship with the program."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest
from jinja2 import Environment, meta

from harness_executor.errors import HarnessError
from harness_executor.resources import bundled, guide
from harness_executor.subagents.jobs import Role

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "harness_executor"
SHIPPED = ("SKILL.md", "agents", "prompts", "scripts")


@cache
def _renders() -> dict[str, list[set[str]]]:
    """Template name to the value names of each `render` call in the package."""
    found: dict[str, list[set[str]]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "render":
                name = node.args[0]
                assert isinstance(name, ast.Constant), f"{path}: the template of a render is a plain text"
                given = {keyword.arg or "" for keyword in node.keywords}
                found.setdefault(str(name.value), []).append(given)
    return found


def _templates() -> dict[str, str]:
    return {
        path.name.removesuffix(".md.j2"): path.read_text(encoding="utf-8")
        for path in bundled("prompts").iterdir()
    }


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_found(name: str) -> None:
    """Each folder and file that the program needs at run time is found."""
    assert bundled(name).exists()


def test_what_is_not_there_is_an_error() -> None:
    """A name that does not ship is refused with a hint."""
    with pytest.raises(HarnessError, match="missing from this installation") as caught:
        bundled("nothing-of-the-kind")
    assert caught.value.hint


def test_the_project_worked_on_cannot_bring_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompts folder in the working directory is not used."""
    (tmp_path / "prompts").mkdir()
    monkeypatch.chdir(tmp_path)
    bundled.cache_clear()
    assert not bundled("prompts").is_relative_to(tmp_path)


def test_the_wheel_carries_what_ships() -> None:
    """pyproject.toml puts each folder and file where `bundled` looks for it in a wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {name: f"harness_executor/_bundled/{name}" for name in SHIPPED}
    assert all((ROOT / name).exists() for name in SHIPPED)


def test_every_template_is_used_and_every_message_has_one() -> None:
    """The templates in prompts/ are those that the code renders, no more and no fewer."""
    assert set(_templates()) == set(_renders())


@pytest.mark.parametrize("name", sorted(_templates()))
def test_a_template_gets_every_value_it_asks_for(name: str) -> None:
    """Each `render` call gives its template all the values it names, and no other."""
    asked = meta.find_undeclared_variables(Environment(autoescape=False).parse(_templates()[name]))  # noqa: S701 - parsed, not rendered
    assert all(given == asked for given in _renders()[name])


@pytest.mark.parametrize("role", Role)
def test_a_guide_is_given_without_its_front_matter(role: Role) -> None:
    """A subagent reads who it is, and none of what other programs read of the file."""
    assert guide(role).startswith(f"You are the {role}")
    assert "description:" not in guide(role)


def test_every_script_is_a_door_into_the_program() -> None:
    """Each script is short and imports its work from harness_executor.cli."""
    scripts = list(bundled("scripts").glob("*.py"))
    assert scripts
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 30
        assert "from harness_executor.cli." in text
