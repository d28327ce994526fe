"""Whole runs in which a change offers what the frozen scenarios do not touch, with a scripted model."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.kernel.events import AgentAsked, Verified
from harness_executor.kernel.revisions import ScenariosAdded, ScenariosAmended, ScenariosRequested
from tests.claims.app import PYTHON
from tests.claims.asking import at, scenario, step
from tests.claims.case import Outcome
from tests.claims.project import Project, make_project
from tests.claims.script import call, submit
from tests.steps.scripted import facts, run_script

REQUEST = "count the letters of a word, and turn a word around"
COUNTED = "GET /count?word=w answers with the number of its letters"
TURNED = "GET /turn?word=w answers with the word turned around"
APP = """\
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        parts = urlsplit(self.path)
        word = parse_qs(parts.query).get("word", [""])[0]
        if parts.path == "/same":
            return self.answer(200, {"word": word})
        return self.answer(404, {"error": "not found"})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Api).serve_forever()
"""
LAST = '        return self.answer(404, {"error": "not found"})\n'
COUNT = '        if parts.path == "/count":\n            return self.answer(200, {"letters": len(word)})\n'
TURN = '        if parts.path == "/turn":\n            return self.answer(200, {"word": word[::-1]})\n'
WRONG = TURN.replace("word[::-1]", "word")


def app(*routes: str) -> str:
    """The server with these routes before the last."""
    return APP.replace(LAST, "".join(routes) + LAST)


COUNTS = scenario("letters are counted", step("/count?word=four", 200, at("$.letters", 4)), why=COUNTED)
TURNS = scenario("a word is turned around", step("/turn?word=abc", 200, at("$.word", "cba")), why=TURNED)
PLAN = {
    "summary": "Count and turn.",
    "contract": f"{COUNTED}; {TURNED}",
    "phases": [{"name": "Count and turn", "objective": "Serve both.", "files": ["app.py"]}],
}
DONE = {"status": "success", "summary": "Both are served."}
ASKED = "This is the only time you are asked for more"


def script(added: list[Any], *codes: str, rulings: Any = None) -> dict[str, Any]:
    """A run whose executor writes this code, and the next when it is sent back."""
    first, *rest = codes
    mending = [[call("write_file", path="app.py", content=code), submit(DONE)] for code in rest]
    return {
        "planner": [{"replies": [submit(PLAN)]}],
        "verifier": [
            {"when": ASKED, "replies": [submit(one) for one in added]},
            {"when": "The ones below still fail", "replies": [submit(rulings or {})]},
            {"replies": [submit({"scenarios": [COUNTS]})]},
        ],
        "executor": [
            {"when": "What has to be mended", "replies": [reply for replies in mending for reply in replies]},
            {"replies": [call("write_file", path="app.py", content=first), submit(DONE)]},
        ],
    }


def run(place: Path, lines: Any, verification: int = 0, **environment: str) -> tuple[Project, Outcome]:
    """`harness run` with this script."""
    about = {"startup": {"command": f"{PYTHON} app.py", "readiness": {"type": "tcp"}}}
    files = {"web.py": "", "routes.py": "", "app.py": APP, "harness/environment.json": json.dumps(about)}
    project = make_project(place, files)
    return project, run_script(project, REQUEST, lines, verification, environment)


def asked(project: Project) -> int:
    """How often a verifier was asked."""
    return sum(fact.role == "verifier" for fact in facts(project, AgentAsked))


def test_what_no_scenario_touches_is_asked_for_and_holds(tmp_path: Path) -> None:
    """The verifier is told the route and not the code; what it adds is run, reported and kept."""
    project, outcome = run(tmp_path, script([{"scenarios": [TURNS]}], app(COUNT, TURN)))
    assert outcome.accepted, outcome.said
    (requested,), (added,) = facts(project, ScenariosRequested), facts(project, ScenariosAdded)
    assert [offer.path for offer in requested.untouched] == ["/turn"]
    assert [one.name for one in added.scenarios] == ["a word is turned around"]
    (verified,) = facts(project, Verified)
    assert verified.evidence.scenario_digest == added.whole != added.digest
    report = json.loads(project.report.read_text())
    assert report["added_scenarios"] == ["a word is turned around"]
    assert "No frozen scenario touches ANY /turn (app.py)." in outcome.said
    (kept,) = (project.state / "scenarios").iterdir()
    assert "a word is turned around" in kept.read_text()


def test_an_added_scenario_that_fails_refuses_the_change(tmp_path: Path) -> None:
    """The frozen ones pass; what else was promised does not work."""
    project, outcome = run(tmp_path, script([{"scenarios": [TURNS]}], app(COUNT, WRONG)))
    assert outcome.code == 4, outcome.said
    assert "a word is turned around fails on the change too" in outcome.said
    assert asked(project) == 2


def test_an_added_scenario_sends_the_work_back_and_is_not_asked_for_again(tmp_path: Path) -> None:
    """The executor mends it, and the same scenarios are run once more."""
    lines = script([{"scenarios": [TURNS]}], app(COUNT, WRONG), app(COUNT, TURN))
    project, outcome = run(tmp_path, lines, verification=1)
    assert outcome.accepted, outcome.said
    assert (len(facts(project, ScenariosRequested)), len(facts(project, ScenariosAdded))) == (1, 1)
    assert asked(project) == 2


def test_an_added_scenario_that_invents_something_is_amended_like_any_other(tmp_path: Path) -> None:
    """The executor cannot please it; the verifier takes back what nobody said."""
    wanted = step("/turn?word=abc", 200, at("$.word", "cba"), headers={"x-turned": "yes"})
    invented = scenario("a word is turned around", wanted, why=TURNED)
    one = {"scenario": "a word is turned around", "quote": TURNED, "reason": "no words ask for the header"}
    rulings = {"rulings": [{**one, "amended": TURNS}]}
    code = app(COUNT, TURN)
    lines = script([{"scenarios": [invented]}], code, code, rulings=rulings)
    project, outcome = run(tmp_path, lines, verification=2)
    assert outcome.accepted, outcome.said
    (amended,), (added,) = facts(project, ScenariosAmended), facts(project, ScenariosAdded)
    assert amended.original == added.whole != amended.digest


@pytest.mark.parametrize("codes", [(COUNT,), (COUNT, "        word = word.strip()\n")])
def test_nobody_is_asked_where_nothing_is_untouched(tmp_path: Path, codes: tuple[str, ...]) -> None:
    """No call is made, and no step is taken."""
    project, outcome = run(tmp_path, script([], app(*codes)))
    assert outcome.accepted, outcome.said
    assert (facts(project, ScenariosRequested), asked(project)) == ([], 1)
    assert "▸ extend" not in outcome.said


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        ([{"scenarios": []}], ""),
        ([{"scenarios": [{**TURNS, "why": "everybody likes surprises"}]}] * 3, "does not quote the request"),
        ([{"scenarios": [{**TURNS, "name": COUNTS["name"]}]}] * 3, "two scenarios are called"),
    ],
    ids=["nothing said", "unquoted", "a name that is taken"],
)
def test_an_answer_that_cannot_be_used_adds_nothing(tmp_path: Path, replies: list[Any], why: str) -> None:
    """The frozen scenarios stay, and decide; the reason is written down."""
    project, outcome = run(tmp_path, script(replies, app(COUNT, TURN)))
    assert outcome.accepted, outcome.said
    (added,) = facts(project, ScenariosAdded)
    assert added.scenarios == ()
    assert why in added.remark
    (verified,) = facts(project, Verified)
    assert verified.evidence.scenario_digest == added.whole


def test_an_added_proof_does_not_stand_in_for_a_frozen_one(tmp_path: Path) -> None:
    """What was frozen fails; what was written afterwards passes, and does not help."""
    project, outcome = run(tmp_path, script([{"scenarios": [TURNS]}], app(TURN)))
    assert outcome.code == 4, outcome.said
    assert "letters are counted fails on the change too" in outcome.said
    assert "no scenario failed before and passes now" in outcome.said
    assert len(facts(project, ScenariosAdded)) == 1


def test_a_crash_while_more_is_asked_for_changes_nothing(tmp_path: Path) -> None:
    """The question was written down; it is asked again, and answered once."""
    lines = script([{"scenarios": [TURNS]}], app(COUNT, TURN))
    project, killed = run(tmp_path, lines, HARNESS_FAULT="agent.answered#4=kill")
    assert not killed.accepted
    assert (len(facts(project, ScenariosRequested)), len(facts(project, ScenariosAdded))) == (1, 0)
    resumed = project.outcome("resume")
    assert resumed.accepted, resumed.said
    assert (len(facts(project, ScenariosRequested)), len(facts(project, ScenariosAdded))) == (1, 1)
