"""No way leads out of a box: each that is tried gets through where a layer is missing, and not with all."""

import json
import os
import shutil
from functools import cache
from pathlib import Path

import pytest

from harness_executor.config import Settings
from harness_executor.errors import NoBox
from harness_executor.sandbox.choice import choose
from tests.sandbox.escaping.deeds import DEEDS, Seen
from tests.sandbox.escaping.probe import Outcome, Result
from tests.sandbox.escaping.weakened import Lack
from tests.sandbox.ordinary import Person, bundled, people, place_of, run_as
from tests.sandbox.probes import BOX, PROBES, chosen

_DEEDS = "import sys; from tests.sandbox.escaping.deeds import main; main(*sys.argv[1:])"
_GROUND = "import sys; from tests.sandbox.escaping.ground import main; main(*sys.argv[1:])"
PROGRAMS = ("system", "bundled")
CASES = [
    pytest.param(person, program, name, id=f"{person.name}-{program}-{name}")
    for person in people()
    for program in PROGRAMS
    for name in chosen(person.met)
]


def program_in(folder: Path, kind: str) -> str:
    """The bubblewrap of the machine, or the one that is installed with this program."""
    if kind == "bundled":
        return str(folder / Path(*Path(bundled()).parts[-3:]))
    found = shutil.which("bwrap")
    assert found, "bubblewrap is needed for this test"
    return found


@cache
def tried(person: Person, program: str) -> dict[str, dict[str, Outcome]]:
    """What every probe came to, at every place; asked once for each person and program."""
    with place_of(person) as folder:
        said = run_as(person, folder, _GROUND, str(folder), program_in(folder, program), *person.met)
    return {
        where: {name: Outcome(Result(each["result"]), each["seen"]) for name, each in some.items()}
        for where, some in json.loads(said).items()
    }


@pytest.mark.parametrize(("person", "program", "name"), CASES)
def test_no_way_leads_out(person: Person, program: str, name: str) -> None:
    """The act gets through where its layer is missing, and is refused in the box."""
    found = tried(person, program)
    control = found[PROBES[name].control][name]
    assert control.result is Result.ESCAPED, f"the control is void: {control.seen}"
    assert found[BOX][name].result is Result.HELD, found[BOX][name].seen


@cache
def done(person: Person, program: str) -> dict[str, Seen]:
    """What every deed with whole boxes came to."""
    with place_of(person) as folder:
        said = run_as(person, folder, _DEEDS, str(folder), program_in(folder, program))
    return {name: Seen(**seen) for name, seen in json.loads(said).items()}


@pytest.mark.parametrize("name", DEEDS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("person", people(), ids=lambda person: person.name)
def test_boxes_hold_as_a_whole(person: Person, program: str, name: str) -> None:
    """What works on one machine or in one box does not reach from one box to another, or outlive it."""
    seen = done(person, program)[name]
    assert seen.works, f"the control is void: {seen.what}"
    assert seen.held, seen.what


def test_no_box_is_chosen_that_lacks_a_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bubblewrap that leaves out its filter is not used; without another, the layer is named."""
    real = choose(Settings(), tmp_path)
    Lack(unfiltered=True).program(real.program, tmp_path / "bwrap")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert choose(Settings(), tmp_path / "project").program != str(tmp_path / "bwrap")
    monkeypatch.setattr("harness_executor.sandbox.programs._PINNED", {"bwrap": set(), "libcap": set()})
    with pytest.raises(NoBox, match="does not hold: system call filter"):
        choose(Settings(), tmp_path / "project")
