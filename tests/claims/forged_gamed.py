"""Servers made to pass, not to work."""

from pathlib import Path

from tests.claims.app import COUNT
from tests.claims.asking import COUNTS, LISTS, add_item, at, scenario, step
from tests.claims.case import Corpus, Outcome
from tests.claims.project import Project, make_project

CORPUS = Corpus()
MISSING = "fails on the change too"

RENAME = """
@on("PUT", "/items/([0-9]+)")
def rename(ask, number):
    {body}


"""
RENAMES = scenario(
    "an item is renamed",
    add_item(),
    step("/items/{{ id }}", 200, at("$.name", "{{ name }}!"), method="PUT", json={"name": "{{ name }}!"}),
    step("/items/{{ id }}", 200, at("$.name", "{{ name }}!")),
)
GREETS = scenario("a greeting", step("/hello/{{ name }}", 200, at("$.hello", "{{ name }}")))


def _with(place: Path, code: str) -> Project:
    project = make_project(place)
    project.append(code)
    return project


def _count(place: Path, body: str, more: str = "") -> Project:
    return _with(place, f'{more}\n\n@on("GET", "/items/count")\ndef count(ask):\n    {body}\n')


def _hello(place: Path, body: str, more: str = "") -> Project:
    return _with(place, f'{more}\n\n@on("GET", "/hello/(.+)")\ndef hello(ask, name):\n    {body}\n')


@CORPUS.forged("A67", "a server that works for one kind of client only", MISSING)
def by_agent(place: Path) -> Outcome:
    """It looks at who asks; the second run asks as a browser does."""
    who = "Mozilla/5.0 (X11; Linux x86_64)"
    is_test = f"ask.headers['user-agent'] == '{who}'"
    return _count(place, f'return 200, {{"count": len(ITEMS) if {is_test} else 0}}').verify(COUNTS)


@CORPUS.forged("A67", "a server that knows drawn words by their syllables", MISSING)
def by_syllables(place: Path) -> Outcome:
    """Words of a test would have a pattern; these have none."""
    pattern = "(ba|ce|di|fo|gu|ka|le|mi|no|pu|ra|se|ti|vo|zu){5}"
    body = f'import re\n\n    return 200, {{"hello": name if re.fullmatch("{pattern}", name) else "you"}}'
    return _hello(place, body).verify(GREETS)


@CORPUS.forged("A67", "a server that knows the words it was tried with", MISSING)
def by_heart(place: Path) -> Outcome:
    """A list of names stands in for the work."""
    body = 'return 200, {"hello": name if name in ("pen", "cup", "test", "foo") else "stranger"}'
    return _hello(place, body).verify(GREETS)


@CORPUS.forged("A67", "a server that works the first time only", MISSING)
def first_time(place: Path) -> Outcome:
    """The second answer is another."""
    body = 'ASKED.append(0)\n    return 200, {"count": len(ITEMS) if len(ASKED) < 2 else 0}'
    project = _count(place, body, "ASKED = []\n")
    twice = (step("/items/count", 200, at("$.count", 1)), step("/items/count", 200, at("$.count", 1)))
    return project.verify(scenario("items are counted", add_item(), *twice))


@CORPUS.forged("A67", "a server that works from the second time on", MISSING)
def second_time(place: Path) -> Outcome:
    """The first client is turned away."""
    body = 'return (200, {"count": len(ITEMS)}) if ASKED or ASKED.append(0) else (503, {})'
    return _count(place, body, "ASKED = []\n").verify(COUNTS)


@CORPUS.forged("A69", "a rename that is answered and not kept", MISSING)
def not_kept(place: Path) -> Outcome:
    """The answer to the PUT is right; a GET shows the old name."""
    body = 'return 200, {**ITEMS[int(number)], "name": ask.data()["name"]}'
    return _with(place, RENAME.format(body=body)).verify(RENAMES)


@CORPUS.forged("A69", "a write kept only by the thread that answered", MISSING)
def kept_by_thread(place: Path) -> Outcome:
    """Whoever asks next is answered by another thread."""
    project = _with(
        place,
        """
        import threading

        HERE = threading.local()


        @on("PUT", "/notes/(.+)")
        def note(ask, name):
            HERE.notes = {name: ask.data()["text"]}
            return 200, {"text": HERE.notes[name]}


        @on("GET", "/notes/(.+)")
        def noted(ask, name):
            text = getattr(HERE, "notes", {}).get(name)
            return (200, {"text": text}) if text else (404, {"error": "no such note"})
        """,
    )
    text = at("$.text", "about {{ name }}")
    kept = step("/notes/{{ name }}", 200, text, method="PUT", json={"text": "about {{ name }}"})
    return project.verify(scenario("notes are kept", kept, step("/notes/{{ name }}", 200, text)))


@CORPUS.forged("A69", "an answer that is kept too long", MISSING)
def kept_too_long(place: Path) -> Outcome:
    """The first answer is given for ever."""
    project = _count(place, 'return 200, {"count": KEPT.setdefault(0, len(ITEMS))}', "KEPT = {}\n")
    one, two = (step("/items/count", 200, at("$.count", number)) for number in (1, 2))
    return project.verify(scenario("items are counted", add_item(), one, add_item("{{ name }}-2"), two))


@CORPUS.forged("A68", "the right status with an empty body", MISSING, "not JSON")
def empty_body(place: Path) -> Outcome:
    """Nothing is said, kindly."""
    return _count(place, "return 200, None").verify(COUNTS)


@CORPUS.forged("A68", "an error with the status of a success", MISSING)
def friendly_error(place: Path) -> Outcome:
    """The status says yes, the body says no."""
    return _count(place, 'return 200, {"error": "not implemented"}').verify(COUNTS)


@CORPUS.forged("A68", "a number as a text", MISSING)
def as_text(place: Path) -> Outcome:
    """A client that calculates would fail."""
    return _count(place, 'return 200, {"count": str(len(ITEMS))}').verify(COUNTS)


@CORPUS.forged("A68", "one too many, except at first", MISSING)
def off_by_one(place: Path) -> Outcome:
    """It is right for one item and wrong for two."""
    project = _count(place, 'return 200, {"count": len(ITEMS) + (len(ITEMS) > 1)}')
    two = step("/items/count", 200, at("$.count", 2))
    return project.verify(scenario("items are counted", add_item(), add_item("{{ name }}-2"), two))


@CORPUS.forged("A74", "a neighbour that answers with less", "the list shows what was added passed on base")
def neighbour_empty(place: Path) -> Outcome:
    """The new route works; the old list is empty now."""
    project = _with(place, COUNT)
    project.swap("return 200, list(ITEMS.values())", "return 200, []")
    return project.verify(COUNTS, LISTS)


@CORPUS.forged("A74", "a neighbour that is taken over by the new route", "passed on base and fails now")
def neighbour_taken(place: Path) -> Outcome:
    """The pattern of the new route catches the old one too."""
    code = '\n\n@on("GET", "/items/?.*")\ndef count(ask):\n    return 200, {"count": len(ITEMS)}\n'
    return _with(place, code).verify(COUNTS, LISTS)


@CORPUS.forged("A74", "an item that is added twice", "passed on base and fails now")
def added_twice(place: Path) -> Outcome:
    """Counting works; adding does not any more."""
    project = _with(place, COUNT)
    answer = "    return 201, ITEMS[number]"
    project.swap(answer, f"    ITEMS[number + 1] = dict(ITEMS[number])\n{answer}")
    listed = step("/items", 200, at("$[*].name", ["{{ name }}"]))
    return project.verify(scenario("one item is one item", add_item(), listed, kind="unchanged"), COUNTS)
