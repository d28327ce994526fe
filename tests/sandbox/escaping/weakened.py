"""Boxes that lack a layer: a program in the place of bubblewrap, which leaves some of its words out."""

import sys
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """\
#!{interpreter} -IS
import os, sys
words, end = sys.argv[1:], sys.argv.index("--") - 1
text = "\\0".join(["", *words[:end], ""])
for old, new in {changes!r}:
    text = text.replace("\\0" + "\\0".join(old) + "\\0", "\\0" + "".join(word + "\\0" for word in new))
kept = text[1:-1].split("\\0")
if {unfiltered!r}:
    place = kept.index("--seccomp")
    del kept[place:place + 2]
os.execv({program!r}, [{program!r}, *kept, *{added!r}, *words[end:]])
"""

Words = tuple[str, ...]


@dataclass(frozen=True)
class Lack:
    """What a box does without."""

    changes: tuple[tuple[Words, Words], ...] = ()
    """Words that are replaced wherever they stand."""
    unfiltered: bool = False
    """Has it no filter of system calls?"""
    added: Words = ()

    def program(self, bubblewrap: str, place: Path) -> str:
        """Make a program that makes such boxes."""
        text = _PROGRAM.format(
            interpreter=Path(getattr(sys, "_base_executable", sys.executable)).resolve(),
            changes=self.changes,
            unfiltered=self.unfiltered,
            added=self.added,
            program=bubblewrap,
        )
        place.write_text(text)
        place.chmod(0o755)
        return str(place)


ALL_CAPABILITIES = (("--cap-drop", "ALL"), ("--cap-add", "ALL"))
NESTING = (("--disable-userns",), ())
SAME_USER = (("--uid", "1000", "--gid", "1000"), ("--uid", "0", "--gid", "0"))
"""For another user a second user namespace is made, whose rights do not reach the mounts and the network."""
RIGHTS = Lack((ALL_CAPABILITIES, NESTING, SAME_USER), unfiltered=True)
MOUNTS = Lack(
    (
        *(((f"--ro-{kind}",), (f"--{kind}",)) for kind in ("bind", "bind-try", "bind-data")),
        (("--remount-ro", "/"), ()),
    )
)


def open_machine(bubblewrap: str) -> list[str]:
    """The words of a box that shows the whole machine, where every right can be had."""
    own = ("user", "pid", "net", "ipc", "uts")
    words = [bubblewrap, "--dev-bind", "/", "/", *(f"--unshare-{kind}" for kind in own)]
    return [*words, "--die-with-parent", "--cap-add", "ALL", "--"]
