"""Changes that do not do what is claimed, and scenarios that would not notice."""

import json
from pathlib import Path

from tests.claims.app import CATCH_ALL, COUNT, ROUTES, YES
from tests.claims.asking import COUNTS, LISTS, Data, add_item, at, scenario, step
from tests.claims.case import Corpus, Outcome
from tests.claims.project import UNBOXED, Project, make_project

CORPUS = Corpus()
MISSING = "fails on the change too"
WEAK = "the proof is too weak"
BLANK = scenario("blank is refused", step("/items", 400, method="POST", json={}), kind="negative")
UNPROVED = "no scenario failed before and passes now"

RATE = """
import pathlib


@on("GET", "/rate")
def rate(ask):
    return 200, {"rate": int(pathlib.Path("rate.txt").read_text())}
"""
"""An answer that is read from a file each time."""

LUCKY = """
import os

try:
    os.mkdir({place!r})
    LUCK = 1
except OSError:
    LUCK = 0
"""
"""Good luck for the first server that starts, and for no other."""


def _counting(place: Path) -> Project:
    project = make_project(place)
    project.append(COUNT)
    return project


def _asks(*checks: Data, status: object = 200, name: str = "items are counted") -> Data:
    return scenario(name, step("/items/count", status, *checks))


@CORPUS.forged("A66", "a change that says yes to every path", "unknown route is turned away passed on base")
def catch_all(place: Path) -> Outcome:
    """Whatever is asked for is there."""
    project = make_project(place)
    project.append(CATCH_ALL)
    return project.verify(scenario("a start page", step("/start", 200, body_contains=["<h1>Welcome</h1>"])))


@CORPUS.forged("A66", "no negative case where every path is answered", "no negative case was shown")
def no_negative(place: Path) -> Outcome:
    """Whatever the harness asks by itself is answered, so nothing shows that the server can say no."""
    project = make_project(place, {"routes.py": ROUTES + YES})
    project.append(COUNT)
    return project.verify(COUNTS)


@CORPUS.forged(
    "A66", "a page at every path, and now a yes to everything", "unknown route takes no DELETE passed"
)
def now_everything(place: Path) -> Outcome:
    """A single-page application answers unknown paths, but it has turned away what is no page."""
    project = make_project(place, {"routes.py": ROUTES + CATCH_ALL})
    project.append(COUNT + YES.removeprefix(CATCH_ALL))
    return project.verify(COUNTS)


@CORPUS.forged(
    "A66",
    "a yes to every path but the kind that tests make up",
    "unknown route is turned away passed on base",
)
def all_but_uuids(place: Path) -> Outcome:
    """It turns away what looks like a made-up name."""
    project = make_project(place)
    project.append(CATCH_ALL.replace("return 200", "return 404 if ask.path.count('-') > 3 else 200"))
    return project.verify(scenario("a start page", step("/start", 200, body_contains=["<h1>Welcome</h1>"])))


@CORPUS.forged("A66", "a change that takes every DELETE", "unknown route takes no DELETE passed on base")
def takes_deletes(place: Path) -> Outcome:
    """Pages that are not there are still turned away; whoever deletes one empties the list."""
    project = _counting(place)
    project.append("""
        @otherwise("DELETE")
        def nothing_left(ask):
            ITEMS.clear()
            return 200, {}
    """)
    return project.verify(COUNTS, LISTS)


@CORPUS.forged(
    "A66", "a page at every path, where one of known name was asked for", "let a scenario ask `GET /{{ random"
)
def one_page_asked_for(place: Path) -> Outcome:
    """A path with a part of its own is not every path."""
    project = make_project(place)
    project.append(CATCH_ALL)
    greeted = step("/hello/{{ name }}", 200, body_contains=["<h1>Welcome</h1>"])
    return project.verify(scenario("a page for everybody", greeted))


@CORPUS.forged("A66", "a negative case by name only", "negative")
def negative_by_name(place: Path) -> Outcome:
    """What is called negative expects a yes."""
    project = make_project(place, {"routes.py": ROUTES + CATCH_ALL})
    project.append(COUNT)
    return project.verify(COUNTS, scenario("anything goes", step("/anything", 200), kind="negative"))


@CORPUS.forged("A68", "a proof that looks at the status only", WEAK, "an empty body")
def status_only(place: Path) -> Outcome:
    """Any answer with that status would do."""
    return _counting(place).verify(_asks())


@CORPUS.forged("A68", "a proof that allows every status", WEAK, "another status")
def any_status(place: Path) -> Outcome:
    """The body is looked at; the status may be anything."""
    return _counting(place).verify(_asks(at("$.count", 0), status=[200, 404, 500]))


@CORPUS.forged("A68", "a proof that looks at types only", WEAK, "a value changed")
def type_only(place: Path) -> Outcome:
    """Any number would do."""
    return _counting(place).verify(_asks(at("$.count", "integer", "type")))


@CORPUS.forged("A68", "a proof that a key is there, whatever it holds", WEAK, "a value changed")
def exists_only(place: Path) -> Outcome:
    """Any value would do."""
    return _counting(place).verify(_asks(at("$.count", op="exists")))


@CORPUS.forged("A68", "a proof that any redirect would do for", WEAK, "another location")
def any_redirect(place: Path) -> Outcome:
    """The change redirects, to nowhere; the scenario does not look where."""
    project = make_project(place)
    project.append("""
        @on("GET", "/things")
        def moved(ask):
            return 301, None, {"location": "/x"}
    """)
    return project.verify(scenario("things are items now", step("/things", 301)))


@CORPUS.forged("A68", "a weak proof behind a strong step that always passed", WEAK, "an empty body")
def weak_behind_strong(place: Path) -> Outcome:
    """All that is looked at closely was there before; what is new is looked at by its status only."""
    return _counting(place).verify(scenario("items are counted", add_item(), step("/items/count", 200)))


@CORPUS.forged("A68", "scenarios that all pass on base already", UNPROVED)
def nothing_proved(place: Path) -> Outcome:
    """Everything is fine, and was fine before."""
    return _counting(place).verify(LISTS)


@CORPUS.forged("A68", "the harness's own control as the only proof", UNPROVED)
def control_as_proof(place: Path) -> Outcome:
    """The change stops answering unknown paths; what was asked for is not shown by any scenario."""
    project = make_project(place, {"routes.py": ROUTES + CATCH_ALL})
    project.swap(CATCH_ALL, COUNT)
    return project.verify(LISTS)


@CORPUS.forged("A68", "a visible change passed off as a refactoring", "items are counted", "refactoring")
def refactoring_that_adds(place: Path) -> Outcome:
    """With --refactor no proof is asked for, so a weak one could slip in."""
    return _counting(place).verify(LISTS, _asks(), words=("--base", "HEAD", "--refactor"))


@CORPUS.forged("A67", "a change that spoils the base beside it", UNPROVED)
def spoils_base(place: Path) -> Outcome:
    """What worked before is made to fail there, so that it seems new here."""
    project = make_project(place, {"routes.py": ROUTES + RATE, "rate.txt": "5"})
    project.append("""
        for folder in pathlib.Path("..").glob("base-*"):
            (folder / "rate.txt").write_text("0")
    """)
    return project.verify(scenario("the rate is five", step("/rate", 200, at("$.rate", 5))))


@CORPUS.forged("A67", "a refactoring that breaks a route", "passed on base and fails now")
def refactoring_that_breaks(place: Path) -> Outcome:
    """Nothing was to change for a client."""
    project = make_project(place)
    project.swap("list(ITEMS.values())", "list(ITEMS)")
    return project.verify(LISTS, words=("--base", "HEAD", "--refactor"))


@CORPUS.forged(
    "A67", "a neighbouring route broken by the change", "the list shows what was added passed on base"
)
def neighbour_broken(place: Path) -> Outcome:
    """What was asked for is there; what was there before is not."""
    project = _counting(place)
    project.swap("list(ITEMS.values())", "[]")
    return project.verify(COUNTS, LISTS)


@CORPUS.forged(
    "A67",
    "a neighbouring route that works only sometimes now",
    "the list shows what was added passed on base",
)
def neighbour_shaken(place: Path) -> Outcome:
    """One of two servers of the change lost the list; that is no noise, since the base never did."""
    project = _counting(place)
    project.append(LUCKY.format(place=str(place / "lucky")))
    project.swap("list(ITEMS.values())", "list(ITEMS.values()) * LUCK")
    return project.verify(COUNTS, LISTS, words=UNBOXED)


@CORPUS.forged("A67", "a change that sends errors instead of refusals", "passed on base and fails now", "500")
def refusal_lost(place: Path) -> Outcome:
    """The negative case of the base is gone."""
    project = _counting(place)
    project.swap('400, {"error"', '500, {"error"')
    turned_away = scenario("no name", step("/items", 400, method="POST", json={}), kind="negative")
    return project.verify(COUNTS, turned_away)


@CORPUS.forged("A74", "a write that is answered and not kept", MISSING, "/items/")
def not_kept(place: Path) -> Outcome:
    """PUT says yes; GET shows the old value."""
    project = make_project(place)
    project.append("""
        @on("PUT", "/items/([0-9]+)")
        def rename(ask, number):
            return 200, ask.data()
    """)
    renamed = step(
        "/items/{{ id }}", 200, at("$.name", "{{ name }}!"), method="PUT", json={"name": "{{ name }}!"}
    )
    read_back = step("/items/{{ id }}", 200, at("$.name", "{{ name }}!"))
    return project.verify(scenario("an item is renamed", add_item(), renamed, read_back))


@CORPUS.forged("A74", "an empty body with the right status", MISSING, "not JSON")
def empty_body(place: Path) -> Outcome:
    """The route is there and says nothing."""
    project = make_project(place)
    project.append("""
        @on("GET", "/items/count")
        def count(ask):
            return 200, None
    """)
    return project.verify(COUNTS)


@CORPUS.forged("A75", "an answer that is right for the known input only", MISSING, "/greeting")
def special_case(place: Path) -> Outcome:
    """The example of the request is built in; the value drawn at run time is not."""
    project = make_project(place)
    project.append("""
        @on("GET", "/greeting")
        def greet(ask):
            return 200, {"text": "Hello, Ada"}
    """)
    greeted = step("/greeting?name={{ name }}", 200, at("$.text", "Hello, {{ name }}"))
    return project.verify(scenario("a greeting by name", greeted))


@CORPUS.forged("A68", "noise that poses as proof", UNPROVED)
def noise(place: Path) -> Outcome:
    """One of two servers of the same base passes; the change always does."""
    lucky = LUCKY.format(place=str(place / "lucky"))
    project = make_project(place, {"routes.py": ROUTES + lucky + COUNT.replace("len(ITEMS)", "LUCK")})
    project.write("routes.py", ROUTES + COUNT.replace("len(ITEMS)", "1"))
    return project.verify(_asks(at("$.count", 1)))


@CORPUS.forged("A63", "a change that was taken back", "nothing changed: the tree equals the base")
def reverted(place: Path) -> Outcome:
    """The working tree is what it was."""
    project = _counting(place)
    project.git("checkout", "--quiet", "routes.py")
    return project.verify(COUNTS)


@CORPUS.forged(
    "A63", "the base verified against itself as a refactoring", "nothing changed: the tree equals the base"
)
def base_as_head(place: Path) -> Outcome:
    """With nothing changed, everything holds."""
    return make_project(place).verify(LISTS, words=("--base", "HEAD", "--head", "HEAD", "--refactor"))


def _gives_up(place: Path, left: list[Data], *words: str) -> Outcome:
    """Lists are broken, while the file that promised them is left with some scenarios."""
    kept = "harness/scenarios/kept.json"
    project = make_project(place, {kept: json.dumps([LISTS, BLANK])})
    project.append(COUNT)
    project.swap("return 200, list(ITEMS.values())", "return 200, []")
    project.write(kept, json.dumps(left))
    return project.verify(COUNTS, words=("--base", "HEAD", *words))


@CORPUS.forged(
    "A66", "a kept scenario that goes, and nobody allowed it", "shows what was added passed on base", "hint"
)
def gives_up_alone(place: Path) -> Outcome:
    """A change cannot allow itself what it is judged by."""
    return _gives_up(place, [BLANK])


@CORPUS.forged(
    "A66", "a kept scenario that stays where another is allowed to go", "shows what was added passed on base"
)
def gives_up_another(place: Path) -> Outcome:
    """What the change keeps still has to hold, whatever was allowed of its file."""
    return _gives_up(place, [LISTS], "--allow-scenarios", "*")


@CORPUS.forged(
    "A66",
    "a kept scenario of another file than the one that is allowed",
    "shows what was added passed on base",
)
def gives_up_elsewhere(place: Path) -> Outcome:
    """The pattern names a file that the change does not touch."""
    return _gives_up(place, [BLANK], "--allow-scenarios", "harness/scenarios/old.json")
