"""The real Schemathesis, on real servers that serve their own OpenAPI document."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import UsageError
from harness_executor.evidence import fuzzing
from harness_executor.evidence.examination import Examination
from harness_executor.evidence.reporting import build_report
from harness_executor.kernel.gate import Claim, Verdict, judge
from harness_executor.kernel.report import SCHEMATHESIS, Meaning
from tests.conftest import Cli, commit_all, git
from tests.evidence.apps import equals, get, scenario
from tests.evidence.bench import Bench
from tests.rooms import BOX, sandbox_named

APP = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

DOCUMENT = json.loads({document!r})

def answer(path, query):
    if path == "/openapi.json" and DOCUMENT:
        return 200, DOCUMENT
    if path == "/hello":
        return 200, {{"hello": {hello!r}}}
    if path not in ("/api/double", "/api/triple"):
        return 404, {{}}
    try:
        n = int(parse_qs(query)["n"][0])
    except (KeyError, ValueError):
        return 400, {{}}
    {body}
    return 200, {{"n": n}}

class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        where = urlsplit(self.path)
        status, value = answer(where.path, where.query)
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Api).serve_forever()
"""
HELLO = scenario("hello", get("/hello", 200, equals("$.hello", "new")))
FAILS = "if n < 0: return 500, {}"
LIES = 'if n < 0: return 200, {"n": "negative"}'
DIES = "if n < 0: os._exit(3)"


def document(*names: str) -> dict[str, Any]:
    """An OpenAPI document of operations that take a number and give one."""
    number = {"type": "integer"}
    shape = {"type": "object", "required": ["n"], "properties": {"n": number}}
    answer = {"description": "fine", "content": {"application/json": {"schema": shape}}}
    parameter = {"name": "n", "in": "query", "required": True, "schema": number}
    operation = {"parameters": [parameter], "responses": {"200": answer, "400": {"description": "bad"}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "numbers", "version": "1"},
        "servers": [{"url": "https://elsewhere.example/api"}],
        "paths": {f"/{name}": {"get": operation} for name in names},
    }


def app(hello: str, body: str = "pass", names: tuple[str, ...] = ("double",)) -> str:
    """One version of the app; without names it serves no document."""
    return APP.format(document=json.dumps(document(*names) if names else None), hello=hello, body=body)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place for examinations with drawn requests, in a box."""
    return Bench(tmp_path, sandbox_named(BOX), fuzz=True)


def verdict(examination: Examination) -> Verdict:
    """What the gate says of it."""
    evidence = examination.evidence
    claim = Claim("task", evidence.base_commit, evidence.base_tree, evidence.tree)
    return judge(claim, evidence, seal_is_valid=True)


def drawn(examination: Examination) -> dict[str, Meaning]:
    """What drawn requests mean."""
    found = examination.evidence.findings
    return {one.name: one.meaning for one in found if one.source == SCHEMATHESIS}


def test_a_server_error_for_some_drawn_input_is_refused_by_the_operation(bench: Bench) -> None:
    """Base answers every number, the change breaks on some: the operation and a request are named."""
    seen = bench.examine(app("old"), app("new", FAILS), HELLO)
    said = verdict(seen)
    assert not said.accepted
    assert len(said.reasons) == 1
    assert (
        "GET /double has no server error passed on base and fails now: GET /api/double?n=-" in said.reasons[0]
    )
    report = build_report(seen.evidence, seen.observations, said)
    checks = [one for one in report["additional_checks"] if one["source"] == SCHEMATHESIS]
    assert [(one["status"], one["meaning"]) for one in checks] == [("fail", "regresses")]


def test_an_answer_that_breaks_its_own_document_is_refused(bench: Bench) -> None:
    """A number that becomes a word for some drawn input is a regression of the operation."""
    seen = bench.examine(app("old"), app("new", LIES), HELLO)
    assert drawn(seen) == {"drawn requests: GET /double answers as its document says": Meaning.REGRESSES}
    assert not verdict(seen).accepted


def test_a_server_that_drawn_requests_end_is_refused(bench: Bench) -> None:
    """A process that is gone after the requests has failed, though no answer says so."""
    seen = bench.examine(app("old"), app("new", DIES), HELLO)
    assert drawn(seen)["drawn requests: the server stays up"] is Meaning.REGRESSES
    assert not verdict(seen).accepted


def test_the_same_failure_on_both_sides_is_nothing_new(bench: Bench) -> None:
    """What base does already is no reason against the change, and nothing is proved by it."""
    seen = bench.examine(app("old", FAILS), app("new", FAILS), HELLO)
    assert drawn(seen) == {"drawn requests": Meaning.HOLDS}
    assert verdict(seen).accepted


def test_without_a_document_it_is_noted(bench: Bench) -> None:
    """No document is a warning in the evidence, and no reason against the change."""
    seen = bench.examine(app("old", names=()), app("new", FAILS, names=()), HELLO)
    assert verdict(seen).accepted
    report = build_report(seen.evidence, seen.observations, verdict(seen))
    assert any("neither side serves an OpenAPI document" in warning for warning in report["warnings"])


def test_a_change_cannot_hide_its_document(bench: Bench) -> None:
    """A document that only base serves is what requests are drawn from, and both sides must answer them."""
    seen = bench.examine(app("old"), app("new", FAILS, names=()), HELLO)
    assert drawn(seen) == {"drawn requests: GET /double has no server error": Meaning.REGRESSES}
    assert not verdict(seen).accepted
    assert verdict(bench.examine(app("old"), app("new", names=()), HELLO)).accepted


def test_a_new_operation_must_not_have_server_errors(bench: Bench) -> None:
    """What only the change documents cannot regress, and still must not break."""
    body = f"if path == '/api/triple':\n        {FAILS}"
    seen = bench.examine(app("old"), app("new", body, ("double", "triple")), HELLO)
    assert drawn(seen) == {"drawn requests: GET /triple has no server error": Meaning.MISSING}
    assert "GET /triple" in verdict(seen).reasons[0]


def test_a_new_operation_that_breaks_its_document_is_a_warning(bench: Bench) -> None:
    """What only the change documents may be documented badly, which is said."""
    body = f"if path == '/api/triple':\n        {LIES}"
    seen = bench.examine(app("old"), app("new", body, ("double", "triple")), HELLO)
    assert drawn(seen) == {
        "drawn requests: GET /triple answers as its document says": Meaning.NOISY,
    }
    assert verdict(seen).accepted


def test_nothing_is_drawn_unless_it_was_asked_for(bench: Bench) -> None:
    """It is off by default."""
    bench.fuzz = False
    seen = bench.examine(app("old"), app("new", FAILS), HELLO)
    assert drawn(seen) == {}
    assert verdict(seen).accepted


def test_without_schemathesis_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named that brings it."""
    fuzzing.require()
    monkeypatch.setitem(sys.modules, "schemathesis", None)
    with pytest.raises(UsageError) as caught:
        fuzzing.require()
    assert "harness-executor[fuzz]" in caught.value.hint


SCENARIOS = """
- name: it greets anew
  why: "greet anew"
  steps:
    - request: {path: /hello}
      expect: {status: 200, json: [{path: $.hello, value: new}]}
"""


def test_the_command_refuses_by_what_was_drawn(tmp_path: Path, cli: Cli) -> None:
    """`harness verify --fuzz` proves a change, and refuses the same change with a fault no scenario meets."""
    repo = tmp_path / "numbers"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main", ".")
    (repo / "app.py").write_text(app("old"))
    commit_all(repo, "start")
    (tmp_path / "scenarios.yaml").write_text(SCENARIOS)
    words = ("--base", "HEAD", "--scenarios", "../scenarios.yaml", "--start", "python3 app.py {port}")
    (repo / "app.py").write_text(app("new"))
    proved = cli("verify", *words, "--fuzz", cwd=repo)
    assert proved.code == 0, proved.out + proved.err
    (repo / "app.py").write_text(app("new", FAILS))
    assert cli("verify", *words, cwd=repo).code == 0
    refused = cli("verify", *words, "--fuzz", cwd=repo)
    assert refused.code == 4, refused.out + refused.err
    assert "GET /double has no server error passed on base and fails now" in refused.out
