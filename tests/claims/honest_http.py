"""Honest changes of many kinds, as people ask for them."""

from pathlib import Path

from tests.claims.app import ROUTES
from tests.claims.asking import COUNTS, LISTS, Data, add_item, at, scenario, step
from tests.claims.case import Corpus, Outcome
from tests.claims.project import Project, make_project

CORPUS = Corpus()
RETURNS_LIST = "return 200, list(ITEMS.values())"


def _with(place: Path, code: str) -> Project:
    project = make_project(place)
    project.append(code)
    return project


def _asking(path: str, **request: object) -> Data:
    return {"request": {"path": path, **request}, "expect": {"status": 200, "json": []}}


@CORPUS.honest("a PATCH that changes one field")
def patch(place: Path) -> Outcome:
    """What is not named stays."""
    project = _with(
        place,
        """
        @on("PATCH", "/items/([0-9]+)")
        def patch(ask, number):
            ITEMS[int(number)].update(ask.data())
            return 200, ITEMS[int(number)]
        """,
    )
    change = step("/items/{{ id }}", 200, at("$.color", "red"), method="PATCH", json={"color": "red"})
    kept = step("/items/{{ id }}", 200, at("$.name", "{{ name }}"), at("$.color", "red"))
    return project.verify(scenario("one field is changed", add_item(), change, kept), LISTS)


@CORPUS.honest("a DELETE after which nothing is there")
def delete(place: Path) -> Outcome:
    """The answer has no body; the proof is that it is gone."""
    project = _with(
        place,
        """
        @on("DELETE", "/items/([0-9]+)")
        def remove(ask, number):
            return (204, None) if ITEMS.pop(int(number), None) else (404, {"error": "no such item"})
        """,
    )
    gone = (step("/items/{{ id }}", 204, method="DELETE"), step("/items/{{ id }}", 404))
    left = step("/items", 200, at("$[*].name", ["{{ name }}-2"]))
    return project.verify(scenario("an item goes", add_item(), *gone, add_item("{{ name }}-2"), left))


@CORPUS.honest("a header for pages of other origins")
def cors(place: Path) -> Outcome:
    """The body is as it was; a header is new."""
    project = make_project(place)
    project.swap(RETURNS_LIST, f'{RETURNS_LIST}, {{"access-control-allow-origin": "*"}}')
    seen = at("$[*].name", "{{ name }}", "contains")
    asked = step("/items", 200, seen, headers={"access-control-allow-origin": "*"})
    return project.verify(scenario("other origins may read", add_item(), asked, kind="changed"))


@CORPUS.honest("a route renamed, with a redirect from the old name")
def renamed(place: Path) -> Outcome:
    """Old clients are led to where it is now."""
    project = _with(
        place,
        """
        @on("GET", "/things")
        def things(ask):
            return 200, list(ITEMS.values())


        @on("GET", "/items")
        def moved(ask):
            return 308, None, {"location": "/things"}
        """,
    )
    there = step("/things", 200, at("$[0].name", "{{ name }}"))
    led = step("/items", 308, headers={"location": "/things"})
    return project.verify(scenario("items are things now", add_item(), there, led, kind="changed"))


@CORPUS.honest("a limit on how often a client may ask")
def rate_limit(place: Path) -> Outcome:
    """The third request is one too many."""
    project = _with(
        place,
        """
        ASKED = {}


        @on("GET", "/quota/(.+)")
        def quota(ask, who):
            ASKED[who] = ASKED.get(who, 0) + 1
            left = 2 - ASKED[who]
            if left < 0:
                return 429, {"error": "slow down"}, {"retry-after": 60}
            return 200, {"left": left}, {"x-ratelimit-remaining": left}
        """,
    )
    first = step("/quota/{{ name }}", 200, at("$.left", 1), headers={"x-ratelimit-remaining": "1"})
    second = step("/quota/{{ name }}", 200, at("$.left", 0))
    third = step("/quota/{{ name }}", 429, headers={"retry-after": "60"})
    return project.verify(scenario("two requests and no more", first, second, third))


@CORPUS.honest("a list that can be sorted")
def sorting(place: Path) -> Outcome:
    """By name when it is asked for; as before when it is not."""
    project = make_project(place)
    project.swap(
        "list(ITEMS.values())",
        "sorted(ITEMS.values(), key=lambda item: item[ask.query.get('sort', 'id')])",
    )
    by_name = step("/items?sort=name", 200, at("$[*].name", ["{{ name }}-a", "{{ name }}-b"]))
    steps = (add_item("{{ name }}-b"), add_item("{{ name }}-a"), by_name)
    return project.verify(scenario("sorted by name", *steps, kind="changed"))


@CORPUS.honest("a search that ignores case")
def search(place: Path) -> Outcome:
    """Part of a name is enough."""
    project = _with(
        place,
        """
        @on("GET", "/search")
        def search(ask):
            part = ask.query["q"].lower()
            found = [item for item in ITEMS.values() if part in item["name"].lower()]
            return 200, {"total": len(found), "found": found}
        """,
    )
    asked = step("/search?q=X-{{ name }}", 200, at("$.total", 1), at("$.found[0].name", "x-{{ name }}-y"))
    return project.verify(scenario("a part is found", add_item("x-{{ name }}-y"), add_item("other"), asked))


@CORPUS.honest("a new field in an old answer")
def new_field(place: Path) -> Outcome:
    """Clients that do not know it see what they saw."""
    project = make_project(place)
    project.swap('{"id": number, "name": name}', '{"id": number, "name": name, "length": len(name)}')
    asked = step("/items/{{ id }}", 200, at("$.length", 4), at("$.name", "four"))
    return project.verify(scenario("items know their length", add_item("four"), asked, kind="changed"), LISTS)


@CORPUS.honest("a field taken out of an answer")
def removed_field(place: Path) -> Outcome:
    """That it is gone is what was asked for."""
    secret = ROUTES.replace('"name": name}', '"name": name, "owner": "root"}')
    project = make_project(place, {"routes.py": secret})
    project.swap(', "owner": "root"', "")
    asked = step("/items/{{ id }}", 200, at("$.owner", op="absent"), at("$.name", "{{ name }}"))
    return project.verify(scenario("owners are not shown", add_item(), asked, kind="changed"))


@CORPUS.honest("errors in another form")
def error_form(place: Path) -> Outcome:
    """The status stays, the body says more."""
    project = make_project(place)
    project.swap('{"error": "name is required"}', '{"error": {"code": "required", "field": "name"}}')
    refused = step("/items", 400, at("$.error.code", "required"), method="POST", json={})
    return project.verify(scenario("errors have codes", refused, kind="negative"), LISTS)


@CORPUS.honest("a faster way to the same answers")
def faster(place: Path) -> Outcome:
    """An index beside the list; nobody can see it."""
    project = make_project(place)
    project.swap("item = ITEMS.get(int(number))", "item = INDEX(int(number))")
    project.append("INDEX = ITEMS.get\n")
    asked = step("/items/{{ id }}", 200, at("$.name", "{{ name }}"))
    one = scenario("one item", add_item(), asked, kind="unchanged")
    return project.verify(one, LISTS, words=("--base", "HEAD", "--refactor"))


@CORPUS.honest("notes kept in a database")
def database(place: Path) -> Outcome:
    """SQLite, in a file of the project."""
    project = _with(
        place,
        """
        import sqlite3


        def _run(text, *values):
            with sqlite3.connect("notes.db") as base:
                base.execute("create table if not exists notes (id integer primary key, text)")
                return base.execute(text, values).fetchall()


        @on("POST", "/notes")
        def note(ask):
            ((number,),) = _run("insert into notes (text) values (?) returning id", ask.data()["text"])
            return 201, {"id": number}


        @on("GET", "/notes/([0-9]+)")
        def noted(ask, number):
            rows = _run("select text from notes where id = ?", number)
            return (200, {"text": rows[0][0]}) if rows else (404, {"error": "no such note"})
        """,
    )
    kept = step("/notes", 201, at("$.id", op="exists"), method="POST", json={"text": "{{ name }}"})
    kept["capture"] = {"id": "$.id"}
    read = step("/notes/{{ id }}", 200, at("$.text", "{{ name }}"))
    return project.verify(scenario("notes are kept", kept, read), LISTS)


@CORPUS.honest("work done in the background")
def background(place: Path) -> Outcome:
    """The first answer promises, the second waits and delivers."""
    project = _with(
        place,
        """
        import threading

        JOBS = {}


        @on("POST", "/jobs")
        def begin(ask):
            number, words = len(JOBS) + 1, ask.data()["words"]
            thread = threading.Thread(target=lambda: JOBS[number].append(words.upper()))
            JOBS[number] = [thread]
            thread.start()
            return 202, {"job": number}


        @on("GET", "/jobs/([0-9]+)")
        def wait(ask, number):
            JOBS[int(number)][0].join()
            return 200, {"result": JOBS[int(number)][1]}
        """,
    )
    begun = step("/jobs", 202, at("$.job", op="exists"), method="POST", json={"words": "ab{{ id2 }}"})
    begun["capture"] = {"job": "$.job"}
    done = step("/jobs/{{ job }}", 200, at("$.result", "AB{{ id2 }}"))
    case = scenario("work is done later", begun, done)
    return project.verify({**case, "let": {"id2": "{{ random.int }}"}})


@CORPUS.honest("another format for who asks for it")
def negotiation(place: Path) -> Outcome:
    """CSV by the accept header, JSON as ever."""
    project = make_project(place)
    project.swap(
        f"    {RETURNS_LIST}",
        '    if ask.headers.get("accept") == "text/csv":\n'
        "        lines = [f\"{item['id']},{item['name']}\" for item in ITEMS.values()]\n"
        '        return 200, "id,name\\n" + "\\n".join(lines), {"content-type": "text/csv"}\n'
        f"    {RETURNS_LIST}",
    )
    asked = step("/items", 200, body_contains=["id,name", ",{{ name }}"], sent={"accept": "text/csv"})
    asked["expect"]["headers"] = {"content-type": "text/csv"}
    return project.verify(scenario("a table of items", add_item(), asked), LISTS)


@CORPUS.honest("answers that need not be sent twice")
def etag(place: Path) -> Outcome:
    """Who has the newest version is told so."""
    project = _with(
        place,
        """
        @on("GET", "/version")
        def version(ask):
            tag = f"v{len(ITEMS)}"
            if ask.headers.get("if-none-match") == tag:
                return 304, None, {"etag": tag}
            return 200, {"tag": tag}, {"etag": tag}
        """,
    )
    first = step("/version", 200, at("$.tag", "v1"), headers={"etag": "v1"}, capture={"tag": "$.tag"})
    again = step("/version", 304, sent={"if-none-match": "{{ tag }}"})
    return project.verify(scenario("the same is not sent again", add_item(), first, again))


@CORPUS.honest("an answer with a time and an id that always differ")
def noisy_fields(place: Path) -> Outcome:
    """What differs by nature is not compared."""
    project = _with(
        place,
        """
        import time
        import uuid


        @on("GET", "/hello/(.+)")
        def hello(ask, name):
            return 200, {"hello": name, "at": time.time(), "id": str(uuid.uuid4())}
        """,
    )
    asked = step("/hello/{{ name }}", 200, at("$.hello", "{{ name }}"), at("$.at", "number", "type"))
    return project.verify(scenario("a greeting", asked))


@CORPUS.honest("a server that takes its time to start")
def slow_start(place: Path) -> Outcome:
    """Two seconds until it listens."""
    project = make_project(place)
    project.swap("    web.serve()", "    import time\n\n    time.sleep(2)\n    web.serve()", "app.py")
    project.append('\n\n@on("GET", "/items/count")\ndef count(ask):\n    return 200, {"count": len(ITEMS)}\n')
    return project.verify(COUNTS)


@CORPUS.honest("a very large answer")
def large(place: Path) -> Outcome:
    """Half a million bytes, compared at both ends."""
    project = _with(
        place,
        """
        @on("GET", "/numbers")
        def numbers(ask):
            return 200, {"first": 0, "rows": [{"n": number, "square": number**2} for number in range(15_000)]}
        """,
    )
    ends = (at("$.rows", 15_000, "length"), at("$.rows[-1].square", 14_999**2), at("$.first", 0))
    return project.verify(scenario("numbers and squares", step("/numbers", 200, *ends)))


@CORPUS.honest("a page with another heading")
def heading(place: Path) -> Outcome:
    """Only a few words of a page change."""
    page = '\n\n@on("GET", "/page")\ndef page(ask):\n    return 200, "<h1>Things</h1><p>Welcome</p>"\n'
    project = make_project(place, {"routes.py": ROUTES + page})
    project.swap("<h1>Things</h1>", "<h1>All items</h1>")
    shown = step("/page", 200, body_contains=["<h1>All items</h1>", "Welcome"])
    return project.verify(scenario("the page says items", shown, kind="changed"))


@CORPUS.honest("a file that is uploaded")
def upload(place: Path) -> Outcome:
    """A form with a file, as a browser sends it."""
    project = _with(
        place,
        """
        @on("POST", "/files")
        def store(ask):
            head, _, rest = ask.text.partition("\\r\\n\\r\\n")
            body = rest.rsplit("\\r\\n--", 1)[0]
            name = head.split('filename="')[1].split('"')[0]
            ITEMS[name] = {"name": name, "text": body}
            return 201, {"name": name, "size": len(body)}


        @on("GET", "/files/(.+)")
        def stored(ask, name):
            return (200, ITEMS[name]) if name in ITEMS else (404, {"error": "no such file"})
        """,
    )
    file = {"name": "{{ name }}.txt", "text": "hello {{ name }}"}
    sent = _asking("/files", method="POST", files={"file": file})
    sent["expect"] = {"status": 201, "json": [at("$.name", "{{ name }}.txt")]}
    read = step("/files/{{ name }}.txt", 200, at("$.text", "hello {{ name }}"))
    return project.verify(scenario("a file is kept", sent, read))


@CORPUS.honest("events as they happen")
def events(place: Path) -> Outcome:
    """The first frames of a stream are looked at."""
    project = _with(
        place,
        """
        @on("GET", "/events/(.+)")
        def events(ask, name):
            text = "".join(f"data: {name}-{number}\\n\\n" for number in range(3))
            return 200, text, {"content-type": "text/event-stream"}
        """,
    )
    asked = _asking("/events/{{ name }}", listen={"frames": 2})
    asked["expect"]["json"] = [at("$[0].data", "{{ name }}-0"), at("$[1].data", "{{ name }}-1")]
    return project.verify(scenario("events are told", asked))


@CORPUS.honest("words in the language of the reader")
def language(place: Path) -> Outcome:
    """By the accept-language header, English as ever."""
    project = _with(
        place,
        """
        HELLO = {"de": "Grüß dich", "en": "Hello"}


        @on("GET", "/hello/(.+)")
        def hello(ask, name):
            language = (ask.headers.get("accept-language") or "en")[:2]
            return 200, {"text": f"{HELLO.get(language, HELLO['en'])}, {name}!"}
        """,
    )
    said = at("$.text", "Grüß dich, {{ name }}!")
    german = step("/hello/{{ name }}", 200, said, sent={"accept-language": "de"})
    english = step("/hello/{{ name }}", 200, at("$.text", "Hello, {{ name }}!"))
    return project.verify(scenario("greetings in two languages", german, english))
