"""Honest changes of what a client sees."""

import json
from pathlib import Path

from tests.claims.app import CATCH_ALL, COUNT, LOGIN, ROUTES, START
from tests.claims.asking import COUNTS, LISTS, add_item, at, scenario, step
from tests.claims.case import Corpus, Outcome
from tests.claims.project import make_project, verified_task

CORPUS = Corpus()


@CORPUS.honest("a new endpoint")
def new_endpoint(place: Path) -> Outcome:
    """Something that was not there is there."""
    project = make_project(place)
    project.append(COUNT)
    return project.verify(COUNTS, LISTS)


@CORPUS.honest("a new endpoint, recorded for a task and completed")
def completed_task(place: Path) -> Outcome:
    """The way of a coding agent: init, change, verify, complete."""
    return verified_task(place)[0].complete()


@CORPUS.honest("a changed behaviour")
def changed(place: Path) -> Outcome:
    """The newest item comes first."""
    project = make_project(place)
    project.swap("list(ITEMS.values())", "list(ITEMS.values())[::-1]")
    newest = step("/items", 200, at("$[0].name", "{{ name }}-2"), at("$[1].name", "{{ name }}-1"))
    steps = (add_item("{{ name }}-1"), add_item("{{ name }}-2"), newest)
    return project.verify(scenario("the newest comes first", *steps, kind="changed"))


@CORPUS.honest("a bug fixed")
def bug_fix(place: Path) -> Outcome:
    """A blank name was taken for a name."""
    project = make_project(place)
    project.swap("if not name:", "if not name or not name.strip():")
    refused = step("/items", 400, at("$.error", "name is required"), method="POST", json={"name": "  "})
    return project.verify(scenario("a blank name is no name", refused, kind="changed"), LISTS)


@CORPUS.honest("a new validation")
def validation(place: Path) -> Outcome:
    """What was created before is refused now; the refusal is the proof."""
    project = make_project(place)
    project.swap("if not name:", "if not name or len(name) > 20:")
    long = step("/items", 400, method="POST", json={"name": "{{ name }}-with-a-long-tail"})
    return project.verify(scenario("long names are refused", long, kind="negative"), LISTS)


@CORPUS.honest("a refactoring that nobody can see")
def refactoring(place: Path) -> Outcome:
    """The code is another; every answer is the same."""
    project = make_project(place)
    project.swap("list(ITEMS.values())", "[ITEMS[number] for number in sorted(ITEMS)]")
    return project.verify(LISTS, words=("--base", "HEAD", "--refactor"))


@CORPUS.honest("a refactoring, opened as one and completed")
def completed_refactoring(place: Path) -> Outcome:
    """The way of a coding agent, for a change that nobody can see."""
    project = make_project(place)
    project.open_task("tidy up", "--refactor")
    project.swap("list(ITEMS.values())", "[*ITEMS.values()]")
    project.verify(LISTS, words=())
    return project.complete()


@CORPUS.honest("a time in the body that is always another")
def timestamps(place: Path) -> Outcome:
    """What changes by itself is not compared; what was asked for is."""
    project = make_project(place)
    project.append(COUNT.replace("{", '{"at": time.time(), ') + "\nimport time\n")
    counted = step("/items/count", 200, at("$.count", 1), at("$.at", 1e9, "at_least"))
    return project.verify(scenario("items are counted", add_item(), counted))


@CORPUS.honest("ids drawn at random")
def random_ids(place: Path) -> Outcome:
    """Every server gives other ids; the scenario remembers the one it was given."""
    project = make_project(place)
    project.swap("number = len(ITEMS) + 1", "number = random.randrange(10**9)")
    project.append("\n\nimport random\n" + COUNT)
    read_back = step("/items/{{ id }}", 200, at("$.name", "{{ name }}"), at("$.id", "{{ id }}"))
    found = scenario("an item is found by its id", add_item(), read_back, kind="unchanged")
    return project.verify(COUNTS, found)


@CORPUS.honest("an endpoint that deletes")
def deletion(place: Path) -> Outcome:
    """204 has no body; that the item is gone is the proof."""
    project = make_project(place)
    project.append("""
        @on("DELETE", "/items/([0-9]+)")
        def drop(ask, number):
            return (204, None) if ITEMS.pop(int(number), None) else (404, None)
    """)
    gone = step("/items/{{ id }}", 404)
    return project.verify(
        scenario("an item is deleted", add_item(), step("/items/{{ id }}", 204, method="DELETE"), gone)
    )


@CORPUS.honest("a count that is compared with a list nobody looks into")
def compared_later(place: Path) -> Outcome:
    """Nobody can say what the number is, but it must be the length of the list."""
    project = make_project(place)
    project.append(COUNT)
    counted = step("/items/count", 200, capture={"n": "$.count"})
    listed = step("/items", 200, at("$", "{{ n }}", "length"))
    return project.verify(scenario("the count is the length of the list", add_item(), counted, listed))


@CORPUS.honest("a redirect")
def redirect(place: Path) -> Outcome:
    """The old path leads to the new one."""
    project = make_project(place)
    project.append("""
        @on("GET", "/things")
        def moved(ask):
            return 301, None, {"location": "/items"}
    """)
    moved = step("/things", 301, headers={"location": "/items"})
    return project.verify(scenario("things are items now", moved))


@CORPUS.honest("a header and the body that goes with it")
def header(place: Path) -> Outcome:
    """The list says how long it is."""
    project = make_project(place)
    project.swap(
        "return 200, list(ITEMS.values())",
        'return 200, list(ITEMS.values()), {"x-total": len(ITEMS), "cache-control": "no-store"}',
    )
    listed = step(
        "/items", 200, at("$[0].name", "{{ name }}"), headers={"x-total": "1", "cache-control": "no-store"}
    )
    return project.verify(scenario("the list says how long it is", add_item(), listed, kind="changed"))


@CORPUS.honest("a page in HTML")
def page(place: Path) -> Outcome:
    """The body is no JSON."""
    project = make_project(place)
    project.append("""
        @on("GET", "/page")
        def page(ask):
            rows = "".join(f"<li>{item['name']}</li>" for item in ITEMS.values())
            return 200, f"<!doctype html><ul>{rows}</ul>"
    """)
    shown = step("/page", 200, body_contains=["<li>{{ name }}</li>"], headers={"content-type": "text/html"})
    return project.verify(scenario("a page shows the items", add_item(), shown))


@CORPUS.honest("pages of a long list")
def pagination(place: Path) -> Outcome:
    """Two items, one for each page."""
    project = make_project(place)
    project.swap(
        "return 200, list(ITEMS.values())",
        "size, page = int(ask.query.get('size', 100)), int(ask.query.get('page', 1))\n"
        "    return 200, list(ITEMS.values())[size * (page - 1) : size * page]",
    )
    first = step("/items?size=1&page=1", 200, at("$", 1, "length"), at("$[0].name", "{{ name }}-1"))
    second = step("/items?size=1&page=2", 200, at("$", 1, "length"), at("$[0].name", "{{ name }}-2"))
    return project.verify(
        scenario("a page has one item", add_item("{{ name }}-1"), add_item("{{ name }}-2"), first, second),
        LISTS,
    )


@CORPUS.honest("a filter in the query")
def query_filter(place: Path) -> Outcome:
    """Only what was asked for is listed."""
    project = make_project(place)
    project.swap(
        "list(ITEMS.values())",
        "[item for item in ITEMS.values() if ask.query.get('name') in (None, item['name'])]",
    )
    found = step("/items?name={{ name }}", 200, at("$[*].name", ["{{ name }}"]))
    return project.verify(scenario("items by name", add_item("another"), add_item(), found, kind="changed"))


@CORPUS.honest("a PUT that a GET shows")
def put_then_get(place: Path) -> Outcome:
    """What was written is kept."""
    project = make_project(place)
    project.append("""
        @on("PUT", "/items/([0-9]+)")
        def rename(ask, number):
            ITEMS[int(number)]["name"] = ask.data()["name"]
            return 200, ITEMS[int(number)]
    """)
    renamed = step("/items/{{ id }}", 200, method="PUT", json={"name": "{{ name }} the second"})
    read_back = step("/items/{{ id }}", 200, at("$.name", "{{ name }} the second"))
    return project.verify(scenario("an item is renamed", add_item(), renamed, read_back))


@CORPUS.honest("a route behind a token")
def token(place: Path) -> Outcome:
    """Without the token it is closed, with the token it answers."""
    project = make_project(place)
    project.append("""
        @on("GET", "/private")
        def private(ask):
            if ask.headers.get("authorization") != "Bearer letmein":
                return 401, {"error": "who are you?"}, {"www-authenticate": "Bearer"}
            return 200, {"secret": len(ITEMS)}
    """)
    closed = step("/private", 401, at("$.error", "who are you?"), headers={"www-authenticate": "Bearer"})
    opened = step("/private", 200, at("$.secret", 1), sent={"authorization": "Bearer letmein"})
    return project.verify(
        scenario("closed without the token", closed, kind="negative"),
        scenario("open with the token", add_item(), opened),
    )


@CORPUS.honest("a single-page application with a negative case of its own")
def single_page(place: Path) -> Outcome:
    """Unknown paths are answered, as they were; bad input is turned away."""
    project = make_project(place, {"routes.py": ROUTES + CATCH_ALL})
    project.append(COUNT)
    refused = step("/items", 400, at("$.error", "name is required"), method="POST", json={})
    return project.verify(COUNTS, scenario("an item needs a name", refused, kind="negative"))


@CORPUS.honest("a single-page application without a word about what is turned away")
def single_page_alone(place: Path) -> Outcome:
    """The harness finds by itself that it does not say yes to everything."""
    project = make_project(place, {"routes.py": ROUTES + CATCH_ALL})
    project.append(COUNT)
    return project.verify(COUNTS)


@CORPUS.honest("a program that leads to its login from everywhere")
def behind_a_login(place: Path) -> Outcome:
    """Unknown paths are not there, but nobody says so."""
    project = make_project(place, {"routes.py": ROUTES + LOGIN})
    project.append(COUNT)
    return project.verify(COUNTS)


@CORPUS.honest("a page for every path, as it was asked for")
def page_for_all(place: Path) -> Outcome:
    """What is asked for with a path that nobody can know is a page at every path."""
    project = make_project(place)
    project.append(CATCH_ALL)
    any_page = step("/{{ name }}", 200, body_contains=["<h1>Welcome</h1>"])
    return project.verify(scenario("unknown pages are the start page", any_page, kind="changed"), LISTS)


@CORPUS.honest("a login that everybody is led to now")
def login_for_all(place: Path) -> Outcome:
    """One page that leads to the login was asked for; the others lead there too."""
    project = make_project(place)
    project.append(LOGIN)
    led = step("/admin", 302, headers={"location": "/login"})
    return project.verify(scenario("who is nobody has to log in", led), LISTS)


@CORPUS.honest("a single-page application that becomes stricter")
def stricter(place: Path) -> Outcome:
    """Unknown paths were answered and are not any more; the scenario asks for just that."""
    project = make_project(place, {"routes.py": ROUTES + CATCH_ALL})
    project.swap(CATCH_ALL, "")
    unknown = step("/no/such/page", 404, at("$.error", "not found"))
    return project.verify(scenario("unknown pages are turned away", unknown, kind="changed"))


@CORPUS.honest("words in every script")
def unicode(place: Path) -> Outcome:
    """Greek, Chinese and a smile, in paths and bodies."""
    project = make_project(place)
    project.append("""
        @on("GET", "/grüße/(.+)")
        def greet(ask, name):
            return 200, {"text": f"Γειά, {name} 你好 ☺"}
    """)
    greeted = step("/grüße/{{ name }}-ñ", 200, at("$.text", "Γειά, {{ name }}-ñ 你好 ☺"))
    kept = step("/items/{{ id }}", 200, at("$.name", "日本 {{ name }} ☕"))
    return project.verify(
        scenario("a greeting in Greek", greeted),
        scenario("names in any script", add_item("日本 {{ name }} ☕"), kept, kind="unchanged"),
    )


@CORPUS.honest("a session kept in a cookie")
def session(place: Path) -> Outcome:
    """The client remembers what it was given, as a browser does."""
    project = make_project(place)
    project.append("""
        @on("POST", "/login")
        def login(ask):
            name = ask.data()["name"]
            return 200, {"hello": name}, {"set-cookie": f"who={name}; Path=/"}


        @on("GET", "/me")
        def me(ask):
            name = (ask.headers.get("cookie") or "").removeprefix("who=")
            return (200, {"name": name}) if name else (401, {"error": "who are you?"})
    """)
    known = step("/login", 200, at("$.hello", "{{ name }}"), method="POST", json={"name": "{{ name }}"})
    return project.verify(
        scenario("who is logged in is known", known, step("/me", 200, at("$.name", "{{ name }}"))),
        scenario("a stranger is not", step("/me", 401), kind="negative"),
    )


@CORPUS.honest("a task of a coding agent that says how both sides are started")
def first_use(place: Path) -> Outcome:
    """Nothing in the project says it, and one command starts old and new alike."""
    project = make_project(place, {"harness/environment.json": ""})
    project.open_task()
    project.append(COUNT)
    proved = project.verify(COUNTS, LISTS, words=("--start", START))
    return project.complete() if proved.accepted else proved


@CORPUS.honest("a form instead of JSON")
def form(place: Path) -> Outcome:
    """The body is sent as it is written, with a header of its own."""
    project = make_project(place)
    project.swap(
        'name = ask.data().get("name")',
        'name = ask.data().get("name") or dict(part.split("=") for part in ask.text.split("&")).get("name")',
    )
    sent = {"content-type": "application/x-www-form-urlencoded"}
    added = step(
        "/items", 201, at("$.name", "{{ name }}"), method="POST", body="a=1&name={{ name }}", sent=sent
    )
    return project.verify(scenario("a form adds an item", added), LISTS)


@CORPUS.honest("a kept scenario that is given up, as a person allowed")
def given_up(place: Path) -> Outcome:
    """The change removes the route and the file that promised it."""
    kept = "harness/scenarios/kept.json"
    project = make_project(place, {"routes.py": ROUTES + COUNT, kept: json.dumps([COUNTS])})
    project.write("routes.py", ROUTES)
    project.git("rm", "-q", kept)
    gone = scenario("the count is gone", step("/items/count", 404), kind="negative")
    return project.verify(gone, LISTS, words=("--base", "HEAD", "--allow-scenarios", kept))
