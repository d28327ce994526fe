"""The fence of Landlock: what is its own beside the contract of every box."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_executor.kernel.assurance import Assurance
from harness_executor.sandbox.fence import version
from harness_executor.sandbox.landlock import Fenced, Landlock
from harness_executor.sandbox.profile import BARE
from harness_executor.sandbox.trial import try_box
from harness_executor.sandbox.trying import LAYERS
from tests.sandbox.staying import Mark
from tests.sandbox.subjects import Subject, subject

BEYOND = {"names of files", "capability bound", "network of its own"}


class Strict(Landlock):
    """The fence, as if everything were asked of it."""

    layers = LAYERS


@pytest.fixture
def fenced(tmp_path: Path, mark: Mark) -> Iterator[Subject]:
    """The fence around a tree."""
    with subject("landlock", tmp_path, mark.text) as made:
        yield made


def test_holds_what_it_says() -> None:
    """Every layer that the fence is asked for holds on this machine."""
    assert [layer for layer in try_box(Landlock()) if not layer.holds] == []


def test_says_what_it_cannot_hold() -> None:
    """Layers that need namespaces do not hold, none other, and evidence is not called sandboxed."""
    broken = {layer.name for layer in try_box(Strict()) if not layer.holds}
    assert "names of files" in broken
    assert broken <= BEYOND
    assert set(Landlock.layers) == {*LAYERS} - BEYOND
    assert Landlock.assurance is Assurance.UNSANDBOXED


def test_names_and_permissions_outside_are_in_reach(fenced: Subject, home: Path) -> None:
    """A command can ask for a file of the user by its name and change its permissions: a gap we know."""
    (home / "secret").touch(0o600)
    done = fenced.python(fenced.open(), f"print(os.stat({str(home / 'secret')!r}).st_size)")
    assert done.output == "0\n"
    fenced.python(fenced.open(), f"os.chmod({str(home / 'secret')!r}, 0o640)")
    assert (home / "secret").stat().st_mode & 0o777 == 0o640


def test_the_tree_stays_where_it_lies(fenced: Subject) -> None:
    """Without mounts a tree cannot appear elsewhere, and the network is the machine's."""
    box = fenced.open()
    assert box.root == fenced.tree
    assert not box.is_private


def test_commands_do_ordinary_work(fenced: Subject) -> None:
    """A shell, git, tar, pipes and temporary files work behind the fence."""
    line = (
        "git init -q repo && cd repo && echo one > file && git add file && "
        "git -c user.name=T -c user.email=t@example.com commit -qm one && git log --oneline | wc -l && "
        "tar cf ../tree.tar file && mkdir out && tar xf ../tree.tar -C out && cp -p out/file copy && "
        "chmod +x copy && touch copy && sort < file > /dev/null && echo done > /dev/stdout"
    )
    done = fenced.shell(fenced.open(), line)
    assert (done.code, done.output) == (0, "1\ndone\n")


def test_commands_make_no_connection_at_all(fenced: Subject) -> None:
    """Not even a server of the same box is reached from within; its owner reaches it."""
    body = """
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname(), 3)
    """
    assert "PermissionError" in fenced.python(fenced.open(), body).output


def test_a_command_cannot_touch_its_keeper(fenced: Subject) -> None:
    """Whoever says how a command ended stands outside the fence."""
    body = "os.kill(os.getppid(), signal.SIGKILL)"
    done = fenced.python(fenced.open(), body)
    assert "PermissionError" in done.output
    assert done.code == 1


def test_no_capability_is_left(fenced: Subject) -> None:
    """A command has no capability, whoever runs it, and gets none back from a program."""
    asked = ("CapEff", "CapPrm", "CapInh", "CapAmb")
    body = f"print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith({asked!r})])"
    assert fenced.python(fenced.open(), body).output.split() == ["0" * 16] * 4


def test_a_fence_that_does_not_stand_runs_nothing(fenced: Subject) -> None:
    """Where the kernel refuses a part of the fence, the command is not started."""
    box = fenced.open()
    assert isinstance(box, Fenced)
    words = list(box.words)
    at = len(BARE) + 2
    for place, wrong in ((at + 1, "00" * 8), (at, "0,0,0,-2")):
        broken = [*words[:place], wrong, *words[place + 1 :], "touch", "ran"]
        done = subprocess.run(broken, cwd=fenced.tree, env={}, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert not (fenced.tree / "ran").exists()
    assert (
        "the fence does not stand: seccomp"
        in subprocess.run(
            [*words[: at + 1], "00" * 8, *words[at + 2 :], "true"],
            env={},
            capture_output=True,
            text=True,
            check=False,
        ).stderr
    )
    assert (
        subprocess.run([*words, "touch", "ran"], cwd=fenced.tree, env=dict(box.env), check=False).returncode
        == 0
    )
    assert (fenced.tree / "ran").exists()


def test_a_home_is_gone_with_its_box(fenced: Subject) -> None:
    """What a command kept in its home is removed when the box is closed."""
    box = fenced.open()
    fenced.shell(box, 'echo kept > "$HOME/file"; mkdir -p "$TMPDIR/a/b"')
    home = Path(box.environment()["HOME"])
    assert (home / "file").exists()
    fenced.boxes.clear()
    assert box.close()
    assert not home.parent.exists()


def test_knows_the_version_of_the_kernel() -> None:
    """The version of Landlock is a number that the kernel gives."""
    assert version() >= 6
    assert os.uname().sysname == "Linux"
