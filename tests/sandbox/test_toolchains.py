"""Which folders a box shows so that programs start, and which it never shows."""

import os
from pathlib import Path

import pytest

from harness_executor.sandbox.base import Room
from harness_executor.sandbox.profile import shown_folders
from harness_executor.sandbox.toolchains import (
    environment_folders,
    interpreter,
    own_folders,
    stores,
    tool_folders,
    visible_path,
)


def program(path: Path) -> Path:
    """A program in its folder; gives the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path.parent


def folder(path: Path) -> Path:
    """A folder."""
    path.mkdir(parents=True, exist_ok=True)
    return path


def tools(*places: Path | str) -> set[Path]:
    """What is shown for a search path."""
    return set(tool_folders(os.pathsep.join(map(str, places)), Path("/nonexistent")))


def is_seen(place: Path, shown: set[Path]) -> bool:
    """Is a file shown, by itself or in a folder?"""
    return any(place.is_relative_to(one) for one in shown)


def test_a_version_manager_of_python_is_shown_with_its_versions(home: Path) -> None:
    """Programs of pyenv stand for those of its versions, so its root is shown, though it is a clone."""
    shims = program(home / ".pyenv/shims/python3")
    folder(home / ".pyenv/versions/3.12.1/lib")
    folder(home / ".pyenv/.git")
    assert home / ".pyenv" in tools(shims)


def test_a_version_of_node_is_shown_and_not_its_siblings(home: Path) -> None:
    """Of nvm only the version that is in use is shown."""
    used = program(home / ".nvm/versions/node/v20.1.0/bin/node")
    folder(home / ".nvm/versions/node/v20.1.0/lib/node_modules/npm")
    other = program(home / ".nvm/versions/node/v18.0.0/bin/node")
    shown = tools(used)
    assert is_seen(home / ".nvm/versions/node/v20.1.0/lib", shown)
    assert not is_seen(other, shown)
    assert not is_seen(home / ".nvm/alias", shown)


def test_an_activated_environment_is_shown(home: Path) -> None:
    """A virtual environment anywhere on the search path comes with its packages."""
    place = program(home / ".virtualenvs/app/bin/python")
    (place.parent / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert is_seen(home / ".virtualenvs/app/lib/python3.12/site-packages", tools(place))


def test_programs_of_the_user_come_with_what_their_links_lead_to(home: Path) -> None:
    """A link into an installation shows that, one into a package of Node the package, another one file."""
    place = folder(home / ".local/bin")
    pipx = home / ".local/share/pipx/venvs/black"
    program(pipx / "bin/black")
    (pipx / "pyvenv.cfg").touch()
    program(home / ".local/lib/node_modules/@acme/tool/dist/cli.js")
    program(home / "notes/scripts/helper.sh")
    (home / "notes/scripts/passwords.txt").touch()
    (place / "black").symlink_to(pipx / "bin/black")
    (place / "tool").symlink_to("../lib/node_modules/@acme/tool/dist/cli.js")
    (place / "helper").symlink_to(home / "notes/scripts/helper.sh")
    (place / "gone").symlink_to(home / "gone")
    assert tools(place) == {
        *(place, pipx, home / ".local/lib/node_modules/@acme/tool", home / "notes/scripts/helper.sh"),
    }


def test_a_link_by_way_of_a_link_is_shown_by_both_names(home: Path) -> None:
    """What a link says has to be there, and so has what it comes to."""
    real = home / ".local/share/uv/python/cpython-3.12.5"
    program(real / "bin/python3.12")
    folder(real / "lib")
    (real.parent / "cpython-3.12").symlink_to(real.name)
    place = folder(home / ".local/bin")
    (place / "python3.12").symlink_to(real.parent / "cpython-3.12/bin/python3.12")
    assert tools(place) == {place, real, real.parent / "cpython-3.12"}


def test_programs_of_cargo_are_shown_without_its_credentials(home: Path) -> None:
    """The folder beside the programs holds tokens, and is not shown."""
    place = program(home / ".cargo/bin/rg")
    (home / ".cargo/credentials.toml").write_text('token = "secret"\n')
    assert tools(place) == {place}
    assert not is_seen(home / ".cargo/credentials.toml", tools(place))


@pytest.mark.parametrize("secret", [".git", ".env", "credentials.json"])
def test_a_folder_of_work_shows_what_programs_need_and_nothing_else(home: Path, secret: str) -> None:
    """A project of the user's whose `bin` is on the search path keeps its other files to itself."""
    place = program(home / "work/api/bin/serve")
    folder(home / "work/api/lib")
    before = tools(place)
    assert is_seen(home / "work/api/config/master.key", before), "the control: nothing marks it as work"
    folder(home / "work/api" / secret)
    shown = tools(place)
    assert shown == {place, home / "work/api/lib"}


@pytest.mark.parametrize(
    "place",
    [
        ".",
        "..",
        ".local",
        ".config",
        ".cache",
        ".local/share",
        ".ssh",
        ".aws",
        ".gnupg/x",
        "/",
        "/home",
        "/home/x",
    ],
)
def test_what_is_wide_or_secret_is_never_shown(home: Path, place: str) -> None:
    """A home, what holds homes, and folders of secrets stay away, even if they are on the search path."""
    made = Path(os.path.normpath(home / place))
    if made.is_relative_to(home):
        folder(made)
    assert tools(made) == set()


@pytest.mark.parametrize("name", ["bin", ".local/bin"])
def test_a_home_with_a_library_is_no_installation(home: Path, name: str) -> None:
    """A folder called `lib` beside the programs does not make a home one thing."""
    place = program(home / name / "tool")
    folder(place.parent / "lib")
    assert tools(place) == {place}


def test_a_home_by_another_name_is_a_home(home: Path, tmp_path: Path) -> None:
    """A link to a home, and a way around, are seen through."""
    program(home / "bin/tool")
    folder(home / "lib")
    alias = tmp_path / "far" / "alias"
    alias.parent.mkdir()
    alias.symlink_to(home)
    assert tools(alias / "bin") == {alias / "bin"}
    assert tools(f"{home}/x/../bin") == {home / "bin"}
    assert tools(alias) == set()


def test_relative_places_are_not_followed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the search path says of the current folder means nothing to a box."""
    program(home / "bin/tool")
    monkeypatch.chdir(home)
    assert tools("bin", ".", "", "./bin") == set()
    monkeypatch.setenv("PATH", "bin:.::/usr/bin")
    assert visible_path(()) == "/usr/bin"


def test_places_of_the_system_need_nothing(home: Path) -> None:
    """What every user has is shown already, and a folder that is not there is not asked for."""
    assert tools("/usr/bin", "/bin", "/usr/local/bin", home / "gone/bin") == set()


def test_the_search_path_of_a_box_has_what_is_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places that a box lacks are left out, in the order the user has."""
    place, hidden = program(home / "bin/tool"), program(home / ".secret/bin/tool")
    monkeypatch.setenv("PATH", f"{hidden}:{place}:/usr/bin")
    assert visible_path((place,)) == f"{place}:/usr/bin"
    monkeypatch.setenv("PATH", str(hidden))
    assert visible_path(()) == os.defpath


def environment(place: Path, home_line: str) -> Path:
    """A virtual environment that names where it comes from."""
    folder(place)
    (place / "pyvenv.cfg").write_text(f"home = {home_line}\nversion = 3.12\n")
    return place


def python(prefix: Path) -> Path:
    """An installation of Python; gives the folder of its programs."""
    program(prefix / "bin/python3.12")
    folder(prefix / "lib/python3.12")
    (prefix / "lib/python3.12/os.py").touch()
    return prefix / "bin"


def test_an_environment_shows_the_python_it_was_made_from(home: Path, tmp_path: Path) -> None:
    """The installation is shown by the name that the environment has for it, and by its real one."""
    programs = python(home / ".pyenv/versions/3.12.1")
    (home / ".pyenv/versions/3.12").symlink_to("3.12.1")
    named = environment(tmp_path / "a", str(home / ".pyenv/versions/3.12/bin"))
    assert set(environment_folders([named])) == {programs.parent, home / ".pyenv/versions/3.12"}
    assert environment_folders([environment(tmp_path / "b", "/usr/bin")]) == ()


@pytest.mark.parametrize(
    "named", ["{home}/.ssh", "{home}/bin", "/root/.ssh", "{home}/work/../bin", "bin", "/", ""]
)
def test_an_environment_that_lies_shows_nothing(home: Path, tmp_path: Path, named: str) -> None:
    """Whatever an environment says it comes from, no home and no secret is shown for it."""
    folder(home / ".ssh")
    folder(home / "work")
    python(home)
    line = named.format(home=home)
    assert environment_folders([environment(tmp_path / ".venv", line)]) == ()


def test_an_environment_without_a_word_shows_nothing(tmp_path: Path) -> None:
    """A folder that is no environment, or one whose file cannot be read as text, is passed over."""
    odd = folder(tmp_path / "odd")
    (odd / "pyvenv.cfg").write_bytes(b"\xff\xfe home = \x00")
    assert environment_folders([folder(tmp_path / "empty"), odd]) == ()


def room(tmp_path: Path, at: Path) -> Room:
    """A tree for a project."""
    return Room(folder(tmp_path / "tree"), folder(at))


def test_programs_of_the_project_are_those_of_the_tree(home: Path, tmp_path: Path) -> None:
    """A place within the project, by any name, is not shown from the user's own copy."""
    at = home / "project"
    place = program(at / "bin/tool")
    folder(at / "lib")
    alias = tmp_path / "far" / "alias"
    alias.parent.mkdir()
    alias.symlink_to(at)
    searched = f"{place}:{alias}/bin:{home}/x/../project/bin"
    shown = shown_folders(room(tmp_path, at), searched, ())
    assert set(shown) == set(own_folders())


def test_an_installation_around_the_project_is_shown_in_parts(home: Path, tmp_path: Path) -> None:
    """Where the project lies among others beside a folder of programs, the others stay away."""
    place = program(home / "code/bin/tool")
    folder(home / "code/lib")
    folder(home / "code/other")
    shown = set(shown_folders(room(tmp_path, home / "code/project"), str(place), ()))
    assert shown - set(own_folders()) == {place, home / "code/lib"}


def test_programs_in_a_home_that_is_the_project_are_shown(home: Path, tmp_path: Path) -> None:
    """They are not in the tree, and without them nothing starts; what the tree has is not covered."""
    manager = program(home / ".nvm/v20/bin/node").parent
    folder(manager / "lib")
    own = program(home / "bin/tool")
    shown_in = room(tmp_path, home)
    searched = f"{manager}/bin:{own}"
    assert {manager, own} <= set(shown_folders(shown_in, searched, ()))
    folder(shown_in.tree / "bin" / "tool")
    shown = shown_folders(shown_in, searched, ())
    assert manager in shown
    assert own not in shown
    (shown_in.tree / ".nvm").symlink_to(tmp_path)
    assert manager not in shown_folders(shown_in, searched, ())


def test_stores_of_packages_are_shown_and_nothing_beside_them(home: Path) -> None:
    """Packages that were installed for the user have their place in any home."""
    folder(home / ".local/lib/python3.12/site-packages")
    folder(home / ".rustup/toolchains")
    folder(home / ".cargo/registry")
    (home / ".cargo/credentials.toml").touch()
    assert set(stores()) == {".local/lib/python3.12/site-packages", ".rustup", ".cargo/registry"}


def test_a_store_that_leads_to_a_home_is_none(home: Path) -> None:
    """A link in the place of a store shows nothing wide."""
    (home / ".rustup").symlink_to(home)
    assert stores() == {}


def test_our_own_interpreter_is_shown() -> None:
    """The process that keeps a box has an interpreter in it, outside of any virtual environment."""
    assert interpreter().is_file()
    assert is_seen(interpreter(), {*own_folders(), Path("/usr")})
