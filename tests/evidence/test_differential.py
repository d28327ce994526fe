"""Base and change side by side: what each scenario means."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import PortTaken, ServerExited
from harness_executor.evidence.breaking import EMPTY, KEY, VALUE
from harness_executor.evidence.differential import Lab, Observed, Place, compare, observe, settle
from harness_executor.evidence.sockets import free_port, listeners
from harness_executor.evidence.strangers import CONTROL
from harness_executor.kernel.acts import Call, Program
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Meaning, ServerRecord, Side
from harness_executor.kernel.scenario import Kind, Scenario, Step
from harness_executor.sandbox.base import Sandbox
from tests.evidence.apps import equals, get, json_app, scenario, start, write_app
from tests.evidence.bench import BASE, CHANGE, ITEMS, STATS, Bench, named
from tests.rooms import BOX, NO_BOX, PYTHON, room, sandbox_named


def servers(tmp_path: Path, side: Side, *codes: str) -> tuple[Place, ...]:
    """Servers of one side, which may differ from run to run."""
    names = [f"{side.value}-{run}" for run in range(1, len(codes) + 1)]
    return tuple(
        Place(side, run, room(write_app(tmp_path / name, code)), tmp_path / f"{name}.log")
        for run, (name, code) in enumerate(zip(names, codes, strict=True), 1)
    )


def later(tmp_path: Path, first: int, base: str, change: str = "") -> tuple[Place, ...]:
    """Two more servers of each side."""
    return tuple(
        Place(
            side,
            run,
            room(write_app(tmp_path / f"{side.value}-{run}", code)),
            tmp_path / f"{side.value}-{run}.log",
        )
        for side, code in zip(Side, (base, change or base), strict=True)
        for run in (first, first + 1)
    )


def places(tmp_path: Path, base: str, change: str) -> tuple[Place, ...]:
    """One server of each side."""
    return (
        Place(Side.BASE, 1, room(write_app(tmp_path / "base", base)), tmp_path / "base.log"),
        Place(Side.CHANGE, 1, room(write_app(tmp_path / "change", change)), tmp_path / "change.log"),
    )


def lab(sandbox: Sandbox, *scenarios: Scenario, seed: str = "seed", **how: int) -> Lab:
    """What is needed to run them."""
    return Lab(sandbox, SystemClock(), start(port=how.get("port")), scenarios, seed, lambda _: None)


def test_each_meaning_is_told_apart(bench: Bench) -> None:
    """Fail and pass on base and change give proves, holds, regresses and missing."""
    change = json_app({"/items": (200, [1, 2]), "/stats": (200, {"total": 2})})
    meanings = bench.meanings(
        BASE,
        change,
        STATS,
        ITEMS,
        scenario("old", get("/old"), kind=Kind.UNCHANGED),
        scenario("never", get("/never")),
    )
    assert meanings == {
        "stats": Meaning.PROVES,
        "items": Meaning.HOLDS,
        "old": Meaning.REGRESSES,
        "never": Meaning.MISSING,
        CONTROL.name: Meaning.HOLDS,
    }


def test_a_finding_says_what_went_wrong(bench: Bench) -> None:
    """The first failed comparison on the change is the reason, and a proof needs none."""
    findings = bench.examine(BASE, CHANGE, STATS, scenario("never", get("/never"))).evidence.findings
    assert named(findings, "never").reason == "GET /never: status_code: expected 200, got 404"
    assert named(findings, "stats").reason == ""


SHAKY = scenario("shaky", get("/items"))
WITHOUT = json_app({})


def test_what_differs_between_two_runs_of_base_is_noise(tmp_path: Path, sandbox: Sandbox) -> None:
    """A scenario that base passes only sometimes says nothing about the change."""
    where = (*servers(tmp_path, Side.BASE, BASE, WITHOUT), *servers(tmp_path, Side.CHANGE, BASE, BASE))
    what = lab(sandbox, SHAKY)
    (shaky, _) = compare(what, observe(what, where), {})
    assert shaky.finding.meaning is Meaning.NOISY


@pytest.mark.parametrize(
    ("before", "meaning"), [(WITHOUT, Meaning.MISSING), (BASE, Meaning.REGRESSES)], ids=["new", "old"]
)
def test_what_works_only_sometimes_on_the_change_does_not_work(
    tmp_path: Path, sandbox: Sandbox, before: str, meaning: Meaning
) -> None:
    """A change that passes one run of two has not passed."""
    where = (*servers(tmp_path, Side.BASE, before, before), *servers(tmp_path, Side.CHANGE, BASE, WITHOUT))
    what = lab(sandbox, SHAKY)
    (shaky, _) = compare(what, observe(what, where), {})
    assert shaky.finding.meaning is meaning


ONCE = json_app({"/items": (200, [1, 2])}, more="FAILS = [1]\n").replace(
    "ROUTES.get(self.path, OTHERWISE)",
    "(500, {}) if FAILS and FAILS.pop() else ROUTES.get(self.path, OTHERWISE)",
)
"""Fails the first request it gets."""


def test_failures_that_do_not_repeat_are_asked_again_on_new_servers(tmp_path: Path, sandbox: Sandbox) -> None:
    """All first runs failed and their echoes did not: servers 3 and 4 settle that it is noise."""
    where = (*servers(tmp_path, Side.BASE, ONCE, ONCE), *servers(tmp_path, Side.CHANGE, ONCE, ONCE))
    what = lab(sandbox, SHAKY)
    observed = observe(what, where)
    assert not any(one.runs[0].passed for one in observed)
    settled = settle(what, observed, lambda first: later(tmp_path, first, BASE))
    assert [one.place.run for one in settled] == [1, 2, 1, 2, 3, 4, 3, 4]
    (shaky, _) = compare(what, settled, {})
    assert shaky.finding.meaning is Meaning.NOISY


def test_failures_that_repeat_are_not_asked_again(tmp_path: Path, sandbox: Sandbox) -> None:
    """What fails steadily costs no more servers."""
    where = (
        *servers(tmp_path, Side.BASE, WITHOUT, WITHOUT),
        *servers(tmp_path, Side.CHANGE, WITHOUT, WITHOUT),
    )
    what = lab(sandbox, SHAKY)
    observed = observe(what, where)
    assert settle(what, observed, lambda first: later(tmp_path, first, BASE)) == observed


def test_what_seems_broken_is_asked_once_more(tmp_path: Path, sandbox: Sandbox) -> None:
    """Two servers that fail what base can do may be chance: two more say so, or do not."""
    where = (*servers(tmp_path, Side.BASE, BASE, BASE), *servers(tmp_path, Side.CHANGE, WITHOUT, WITHOUT))
    what = lab(sandbox, SHAKY)
    observed = observe(what, where)
    settled = settle(what, observed, lambda first: later(tmp_path, first, BASE, WITHOUT))
    assert [one.place.run for one in settled] == [1, 2, 1, 2, 3, 4, 3, 4]
    (shaky, _) = compare(what, settled, {})
    assert shaky.finding.meaning is Meaning.REGRESSES


TIRES = json_app({"/items": (200, [1, 2])}, more="LEFT = [1, 2]\n").replace(
    "ROUTES.get(self.path, OTHERWISE)",
    "ROUTES.get(self.path, OTHERWISE) if LEFT and LEFT.pop() else (500, {})",
)
"""Fails from the third request on."""


def test_new_behaviour_that_fails_later_is_asked_again(tmp_path: Path, sandbox: Sandbox) -> None:
    """What passed on both servers of the change, but not alike when repeated, has to pass on more of them."""
    where = (*servers(tmp_path, Side.BASE, WITHOUT, WITHOUT), *servers(tmp_path, Side.CHANGE, BASE, TIRES))
    what = lab(sandbox, SHAKY)
    observed = observe(what, where)
    assert [one.runs[0].passed for one in observed] == [False, False, True, True]
    settled = settle(what, observed, lambda first: later(tmp_path, first, WITHOUT))
    (shaky, _) = compare(what, settled, {})
    assert shaky.finding.meaning is Meaning.MISSING


def test_new_behaviour_that_a_server_allows_once_is_steady(tmp_path: Path, sandbox: Sandbox) -> None:
    """What every server of the change refuses the second time costs no more servers."""
    where = (*servers(tmp_path, Side.BASE, WITHOUT, WITHOUT), *servers(tmp_path, Side.CHANGE, TIRES, TIRES))
    what = lab(sandbox, SHAKY)
    observed = observe(what, where)
    assert settle(what, observed, lambda first: later(tmp_path, first, WITHOUT)) == observed


def test_what_passes_is_tried_with_broken_answers(bench: Bench) -> None:
    """How many broken answers a scenario notices is part of its finding, whether it proves or holds."""
    weak = scenario("weak", get("/stats"))
    findings = bench.examine(BASE, CHANGE, STATS, weak, ITEMS).evidence.findings
    strong = named(findings, "stats")
    assert strong.mutants == strong.killed > 0
    assert strong.survived == ()
    assert set(named(findings, "weak").survived) == {EMPTY, KEY, VALUE}
    assert named(findings, "items").mutants > named(findings, "items").killed > 0


def test_steps_that_base_passes_too_prove_nothing(bench: Bench) -> None:
    """Only what base could not do counts towards the strength of a proof."""
    padded = scenario("padded", get("/items", 200, equals("$[0]", 1)), get("/stats"))
    finding = named(bench.examine(BASE, CHANGE, padded).evidence.findings, "padded")
    assert finding.meaning is Meaning.PROVES
    assert set(finding.survived) == {EMPTY, KEY, VALUE}


def test_base_is_gone_before_the_change_begins(tmp_path: Path) -> None:
    """Without a box no code of the change runs while a server of base does, so that it cannot reach it."""
    bench = Bench(tmp_path, sandbox_named(NO_BOX))
    bench.how = replace(start(), env={"NOTES": str(bench.folder / "pids")})
    write = "open(os.environ['NOTES'], 'a').write(f'{os.getpid()} ')\n"
    look = (
        "pids = open(os.environ['NOTES']).read().split()\n"
        "ROUTES['/alive'] = (200, [len(pids), sum(os.path.exists(f'/proc/{pid}') for pid in pids)])\n"
    )
    alive = scenario("alive", get("/alive", 200, equals("$", [2, 0])))
    assert bench.meanings(json_app({}, more=write), json_app({}, more=look), alive)["alive"] is Meaning.PROVES


def test_both_sides_are_asked_the_same(tmp_path: Path, sandbox: Sandbox) -> None:
    """One seed gives both servers the same drawn values; another seed gives others."""
    what = scenario("drawn", get("/{{ random.word }}", 404))
    where = places(tmp_path, BASE, CHANGE)
    urls = [
        {one.runs[0].steps[0].exchange.asked for one in observe(lab(sandbox, what, seed=seed), where)}
        for seed in ("one", "two")
    ]
    assert [len(words) for words in urls] == [1, 1]
    assert urls[0] != urls[1]


def test_the_second_run_is_asked_anew(tmp_path: Path, sandbox: Sandbox) -> None:
    """Both sides are asked alike in a run, and with other values in the next: those are held out."""
    what = lab(sandbox, scenario("drawn", get("/{{ random.word }}", 404)))
    where = (*servers(tmp_path, Side.BASE, BASE, BASE), *servers(tmp_path, Side.CHANGE, CHANGE, CHANGE))
    asked = [one.runs[0].steps[0].exchange.asked for one in observe(what, where)]
    assert asked[:2] == asked[2:]
    assert asked[0] != asked[1]


def test_a_finding_says_whether_values_were_held_out(bench: Bench) -> None:
    """A scenario that draws nothing is asked the same in every run, and its finding says so."""
    drawn = scenario("drawn", get("/{{ random.word }}", 404))
    findings = bench.examine(BASE, CHANGE, STATS, drawn).evidence.findings
    assert [named(findings, name).held_out for name in ("stats", "drawn")] == [False, True]


def test_an_observation_says_that_the_server_was_ours_and_is_gone(tmp_path: Path, sandbox: Sandbox) -> None:
    """Each server has a record of its start, its socket and its end."""
    for one in observe(lab(sandbox, ITEMS), places(tmp_path, BASE, CHANGE)):
        assert one.problem is None
        assert isinstance(one.record, ServerRecord)
        assert one.record.started
        assert one.record.owns_port
        assert one.record.stopped
        assert one.record.port_free
        assert one.record.ready_in_seconds > 0
        assert one.record.detail == ""
        assert "GET /items" in one.tail


def test_a_server_that_dies_midway_keeps_what_was_seen(tmp_path: Path, sandbox: Sandbox) -> None:
    """Exchanges before the death count, the rest have no answer, and the record says it died."""
    deadly = json_app({"/items": (200, [1, 2])}, more="Api.do_DELETE = lambda self: os._exit(3)")
    die = scenario("die", replace(get("/items"), request=Call("/items", "DELETE")))
    what = lab(sandbox, ITEMS, die, STATS)
    base, change = observe(what, places(tmp_path, BASE, deadly))
    assert base.problem is None
    assert isinstance(change.problem, ServerExited)
    assert isinstance(change.record, ServerRecord)
    assert "ended with code 3" in change.record.detail
    assert change.record.started
    assert not change.record.owns_port
    assert change.record.stopped
    assert change.runs[0].passed
    assert change.runs[1].steps[0].exchange.answer is None
    views = compare(what, (base, change), {"items": "scenario_file"})
    assert [view.finding.meaning for view in views] == [
        Meaning.HOLDS,
        Meaning.MISSING,
        Meaning.MISSING,
        Meaning.REGRESSES,
    ]
    assert [view.finding.source for view in views] == [
        "scenario_file",
        "coordinator_designed",
        "coordinator_designed",
        "harness",
    ]


def test_a_server_that_never_started_ran_nothing(tmp_path: Path, sandbox: Sandbox) -> None:
    """Scenarios of a side without a server failed there, and say why."""
    what = lab(sandbox, ITEMS)
    observed = observe(what, places(tmp_path, BASE, "raise SystemExit('broken')"))
    (items, control) = compare(what, observed, {})
    assert items.finding.meaning is Meaning.REGRESSES
    assert items.finding.reason == "the server did not run this scenario"
    assert control.finding.meaning is Meaning.REGRESSES
    record = observed[1].record
    assert isinstance(record, ServerRecord)
    assert not record.started
    assert "broken" in record.detail


def test_servers_that_insist_on_one_port_do_not_meet(tmp_path: Path, sandbox: Sandbox) -> None:
    """A project that knows only one port is verified one server at a time, or each in a box of its own."""
    port = free_port()
    observed = observe(lab(sandbox, ITEMS, port=port), places(tmp_path, BASE, CHANGE))
    assert [one.problem for one in observed] == [None, None]
    assert all(one.runs[0].passed for one in observed)
    assert listeners(port) == []


def test_a_port_that_a_stranger_holds_is_the_problem_of_every_server(tmp_path: Path) -> None:
    """Nothing is asked of a stranger who sits on the port; to servers in boxes he is nobody."""
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        number, where = stranger.getsockname()[1], places(tmp_path, BASE, CHANGE)
        shared = observe(lab(sandbox_named(NO_BOX), ITEMS, port=number), where)
        boxed = observe(lab(sandbox_named(BOX), ITEMS, port=number), where)
    assert all(isinstance(one.problem, PortTaken) for one in shared)
    assert all(one.runs == () for one in shared)
    assert all(one.problem is None and one.runs[0].passed for one in boxed)


def test_the_user_is_told_when_servers_are_ready(bench: Bench) -> None:
    """Two servers of each side are announced."""
    bench.examine(BASE, CHANGE, STATS)
    said = sorted(note.split(" ready on port ")[0] for note in bench.notes)
    assert said == ["base server 1", "base server 2", "change server 1", "change server 2"]


def test_a_lab_runs_any_command(tmp_path: Path, sandbox: Sandbox) -> None:
    """How a server is started is the project's to say."""
    how = replace(lab(sandbox, ITEMS), start=replace(start(), command=f"cd . && {PYTHON} app.py $PORT"))
    observed: tuple[Observed, ...] = observe(how, places(tmp_path, BASE, CHANGE))
    assert all(one.runs[0].passed for one in observed)


def test_servers_that_cannot_reach_each_other_run_at_once(tmp_path: Path, sandbox: Sandbox) -> None:
    """In a box base and change run side by side; without one the base is done before the change starts."""
    order: list[str] = []
    what = replace(lab(sandbox, ITEMS), notify=order.append)
    slow = replace(what.start, command=f"case $PWD in *base) sleep 4;; esac; {what.start.command}")
    base, change = observe(replace(what, start=slow), places(tmp_path, BASE, CHANGE))
    assert [base.problem, change.problem] == [None, None]
    assert order[0].startswith("change" if sandbox == sandbox_named(BOX) else "base")


def test_programs_get_their_variables_filled_in(bench: Bench) -> None:
    """What environment.json says of a port or a service is for programs what it is for a server."""
    bench.how = replace(start(), command="", env={"PLACE": "127.0.0.1:{port}"})
    code = "import os\nprint(os.environ['PLACE'])\n"
    run = Step(run=Program(("python3", "app.py")), expect=Expect(stdout_matches=("^127.0.0.1:[0-9]+$",)))
    says = Scenario("says where", "say where", (run,), Kind.UNCHANGED)
    assert bench.meanings(code, f"{code}# changed\n", says)["says where"] is Meaning.HOLDS
