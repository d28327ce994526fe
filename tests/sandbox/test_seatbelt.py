"""The profile for macOS, as a text: nothing here runs it."""

from pathlib import Path

from harness_executor.kernel.assurance import Assurance
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.seatbelt import Seatbelt, profile


def test_denies_what_is_not_said() -> None:
    """Everything is denied first, and every other line allows something by name."""
    version, first, *rest = profile((), ()).splitlines()
    assert (version, first) == ("(version 1)", "(deny default)")
    assert all(line.startswith("(allow ") and line.endswith(")") for line in rest)


def test_the_network_is_loopback_only() -> None:
    """No line about the network names anything but this machine."""
    lines = [line for line in profile((), ()).splitlines() if "network" in line]
    assert len(lines) == 3
    assert all('"localhost:*"' in line for line in lines)


def test_only_what_may_be_written_to_is_written_to(tmp_path: Path) -> None:
    """A folder to read has no line for writing; one to write to has both."""
    read, write = tmp_path / "read", tmp_path / "write"
    text = profile((read,), (write,))
    assert f'(allow file-read* (subpath "{read}"))' in text
    assert f'(allow file-write* (subpath "{read}"))' not in text
    assert f'(allow file-read* (subpath "{write}"))' in text
    assert f'(allow file-write* (subpath "{write}"))' in text


def test_a_name_cannot_add_a_rule() -> None:
    """Quotes and backslashes of a folder's name stay part of the name."""
    text = profile((Path('/x")) (allow default) (("\\'),), ())
    assert '(subpath "/x\\")) (allow default) ((\\"\\\\")' in text


def test_links_are_followed_before_they_are_named(tmp_path: Path) -> None:
    """A folder is named by its real place, which is the only one the profile knows."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert f'(subpath "{tmp_path / "real"}")' in profile((tmp_path / "link",), ())


def test_a_box_has_no_line_about_the_users_home(tmp_path: Path, home: Path) -> None:
    """A read-only tree can be read and not written to, and the user's home appears nowhere."""
    (tmp_path / "tree").mkdir()
    box = Seatbelt().open(Room(tmp_path / "tree", tmp_path / "project", writable=False))
    program, flag, text = box.words
    assert (program, flag) == ("/usr/bin/sandbox-exec", "-p")
    assert f'(allow file-read* (subpath "{tmp_path / "tree"}"))' in text
    assert f'(allow file-write* (subpath "{tmp_path / "tree"}"))' not in text
    assert f'"{home}' not in text
    assert box.environment()["HOME"] != str(home)
    assert box.close()
    assert not Path(box.environment()["HOME"]).exists()


def test_nothing_is_promised() -> None:
    """As long as it was never run, evidence from it is not called sandboxed."""
    assert Seatbelt.assurance is Assurance.UNSANDBOXED
