"""What every server is asked by the harness itself."""

import pytest

from harness_executor.evidence.strangers import CONTROL, CONTROLS
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Meaning
from harness_executor.kernel.scenario import Kind, Scenario, Step
from tests.evidence.apps import equals, get, json_app, scenario
from tests.evidence.bench import BASE, CHANGE, STATS, Bench, named

DELETES = "    do_DELETE = do_GET"
"""Has an app answer a DELETE as it answers a GET."""
REDIRECTS = """
    def end_headers(self):
        if self.path not in ("/items", "/old"):
            self.send_header("location", "/old?from=" + self.path)
        super().end_headers()
"""
"""Has an app name a place with every answer of its own."""
PAGE = (200, {"total": 2})


def test_the_control_is_the_harness_own(bench: Bench) -> None:
    """An unknown route is tried by the harness itself, as a negative case."""
    finding = named(bench.examine(BASE, CHANGE, STATS).evidence.findings, CONTROL.name)
    assert (finding.source, finding.kind, finding.meaning) == ("harness", Kind.NEGATIVE, Meaning.HOLDS)


def test_an_app_that_answers_everything_has_no_control(bench: Bench) -> None:
    """Where everything is answered before and after, no control says anything, and all are left out."""
    base = json_app({}, otherwise=(200, {"page": 1}), more=DELETES)
    change = json_app({"/stats": (200, {"total": 2})}, otherwise=(200, {"page": 1}), more=DELETES)
    assert bench.meanings(base, change, STATS) == {"stats": Meaning.PROVES}


@pytest.mark.parametrize(
    ("status", "name"), [(200, "unknown route takes no DELETE"), (302, "unknown route leads elsewhere")]
)
def test_an_app_with_a_page_or_a_login_at_every_path_has_another_control(
    bench: Bench, status: int, name: str
) -> None:
    """What such an app does with an unknown route is held against both sides, and is a negative case."""
    base = json_app({}, otherwise=(status, {"page": 1}))
    change = json_app({"/stats": (200, {"total": 2})}, otherwise=(status, {"page": 1}))
    assert bench.meanings(base, change, STATS) == {"stats": Meaning.PROVES, name: Meaning.HOLDS}


def test_an_app_with_a_page_at_every_path_may_not_take_everything_now(bench: Bench) -> None:
    """A change after which every DELETE succeeds is caught where every GET did before."""
    base = json_app({}, otherwise=(200, {"page": 1}))
    change = json_app({"/stats": (200, {"total": 2})}, otherwise=(200, {"page": 1}), more=DELETES)
    meanings = bench.meanings(base, change, STATS)
    assert meanings == {"stats": Meaning.PROVES, "unknown route takes no DELETE": Meaning.REGRESSES}


def test_a_change_that_answers_everything_regresses(bench: Bench) -> None:
    """A change that made every route succeed is caught by the control."""
    meanings = bench.meanings(BASE, json_app({}, otherwise=(200, {"total": 2})), STATS)
    assert meanings == {"stats": Meaning.PROVES, CONTROL.name: Meaning.REGRESSES}


def drawn(path: str, *before: Step, **let: str) -> Scenario:
    """Asks for a path, and expects what an app answers that has a page for everything."""
    return scenario(
        "pages", *before, get(path, 200, equals("$.total", 2)), let=let or {"name": "{{ random.word }}"}
    )


@pytest.mark.parametrize("path", ["/{{ name }}", "/{{ random.slug }}", "/{{ name }}/{{ random.int }}?a=b"])
def test_a_page_at_every_path_may_be_asked_for(bench: Bench, path: str) -> None:
    """A scenario that asks for a path nobody can know wants just that, and another control counts."""
    meanings = bench.meanings(BASE, json_app({}, otherwise=PAGE), drawn(path))
    assert meanings == {"pages": Meaning.PROVES, CONTROLS[2].name: Meaning.HOLDS}


MET = Step(Call("/met?name={{ name }}"), Expect((200, 404)))
TOLD = get("/items", 200, capture={"name": "$[0]"})


@pytest.mark.parametrize(
    "asked",
    [
        drawn("/stats-{{ name }}"),
        drawn("/stats/{{ name }}"),
        drawn("/stats?{{ name }}"),
        drawn("/{{ name }}", name="stats"),
        drawn("/{{ name }}", MET),
        drawn("/{{ name }}", TOLD),
    ],
)
def test_a_page_at_some_paths_is_not_a_page_at_every_path(bench: Bench, asked: Scenario) -> None:
    """What has a part that is known, or was made by a step before, does not ask for everything."""
    change = json_app({"/items": (200, [1, 2])}, otherwise=PAGE)
    meanings = bench.meanings(BASE, change, asked)
    assert meanings == {"pages": Meaning.PROVES, CONTROL.name: Meaning.REGRESSES}


def test_what_is_asked_for_late_is_not_asked_for(bench: Bench) -> None:
    """A scenario that was written when the change was there does not excuse what it does."""
    bench.late = ("pages",)
    meanings = bench.meanings(BASE, json_app({}, otherwise=PAGE), drawn("/{{ name }}"))
    assert meanings == {"pages": Meaning.PROVES, CONTROL.name: Meaning.REGRESSES}


def test_who_is_led_elsewhere_from_one_path_may_be_from_all(bench: Bench) -> None:
    """A login for everything is asked for by one path that leads to it, if its place is looked at."""
    led = Step(Call("/page"), Expect(302, headers={"location": "/old"}))
    change = json_app({}, otherwise=(302, ""), more=REDIRECTS)
    meanings = bench.meanings(BASE, change, scenario("login", led))
    assert meanings == {"login": Meaning.PROVES, CONTROLS[1].name: Meaning.PROVES}


def test_a_place_that_nobody_looked_at_excuses_nothing(bench: Bench) -> None:
    """Where a redirect leads to must be expected by the scenario that asks for it."""
    led = Step(Call("/page"), Expect(302))
    change = json_app({}, otherwise=(302, ""), more=REDIRECTS)
    meanings = bench.meanings(BASE, change, scenario("login", led))
    assert meanings[CONTROL.name] is Meaning.REGRESSES


def test_a_change_that_takes_every_delete_regresses(bench: Bench) -> None:
    """A server that turns unknown paths away is seen to take every DELETE now."""
    change = CHANGE.replace("server = Threading", "Api.do_DELETE = yes\nserver = Threading")
    yes = "def yes(self):\n    self.send_response(204)\n    self.end_headers()\n\n"
    change = change.replace("class Api", f"{yes}class Api")
    meanings = bench.meanings(BASE, change, STATS)
    kept = {"stats": Meaning.PROVES, CONTROL.name: Meaning.HOLDS}
    assert meanings == {**kept, CONTROLS[2].name: Meaning.REGRESSES}
    taken = Step(Call("/{{ random.word }}", method="DELETE"), Expect(204))
    asked = scenario("deletes", taken)
    assert bench.meanings(BASE, change, STATS, asked) == {**kept, "deletes": Meaning.PROVES}


def test_a_refusal_says_how_to_ask_for_it(bench: Bench) -> None:
    """Who wants a page at every path is told which scenario says so."""
    found = bench.examine(BASE, json_app({}, otherwise=PAGE), STATS).evidence.findings
    assert "let a scenario ask `GET /{{ random.word }}`" in named(found, CONTROL.name).reason
