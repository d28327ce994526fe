"""One verification from start to end, on a real repository with real servers."""

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from harness_executor.errors import ServerExited, ServerNotReady
from harness_executor.evidence.examination import Examination, complaints, server_log
from harness_executor.evidence.strangers import CONTROLS
from harness_executor.kernel.acts import Call
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Meaning, Side
from harness_executor.kernel.scenario import Step, scenarios_digest
from harness_executor.redaction import MARK, Redactor
from harness_executor.sandbox.base import Sandbox
from tests.conftest import git
from tests.evidence.apps import SOCKET_APP, equals, get, json_app, scenario, start
from tests.evidence.bench import BASE, CHANGE, ITEMS, STATS, Bench
from tests.rooms import NO_BOX, sandbox_named

BROKEN = "raise SystemExit('cannot import name stats')\n"


def files(examination: Examination, bench: Bench) -> dict[str, Path]:
    """What was written down in one run."""
    return {path.name: path for path in (bench.records / examination.evidence.run_id).iterdir()}


def test_evidence_is_bound_to_what_was_asked(bench: Bench) -> None:
    """Task, commit, trees, scenarios and assurance are in the evidence, and it wants its seal."""
    evidence = bench.examine(BASE, CHANGE, STATS, ITEMS).evidence
    repo = bench.folder / "repo"
    assert evidence.task_id == "task"
    assert evidence.base_commit == git(repo, "rev-parse", "HEAD^")
    assert evidence.base_tree == git(repo, "rev-parse", "HEAD^^{tree}")
    assert evidence.tree == evidence.tree_after == git(repo, "rev-parse", "HEAD^{tree}")
    assert evidence.scenario_digest == scenarios_digest((STATS, ITEMS))
    assert evidence.assurance is bench.sandbox.assurance
    assert evidence.seal == ""
    assert [finding.meaning for finding in evidence.findings] == [
        Meaning.PROVES,
        Meaning.HOLDS,
        Meaning.HOLDS,
    ]


def test_two_servers_of_each_side_are_recorded(bench: Bench) -> None:
    """Each side runs twice, and every server was ours and is gone."""
    servers = bench.examine(BASE, CHANGE, STATS).evidence.servers
    assert [(server.side, server.run) for server in servers] == [
        (Side.BASE, 1),
        (Side.BASE, 2),
        (Side.CHANGE, 1),
        (Side.CHANGE, 2),
    ]
    assert all(server.started and server.owns_port for server in servers)
    assert all(server.stopped and server.port_free for server in servers)


def test_every_exchange_is_written_down_and_bound_by_its_digest(bench: Bench) -> None:
    """The files hold each request and answer, and the digests are those of the files."""
    examination = bench.examine(BASE, CHANGE, STATS, ITEMS)
    kept = files(examination, bench)
    assert sorted(kept) == sorted(
        f"{side}-{run}.{kind}" for side in ("base", "change") for run in (1, 2) for kind in ("jsonl", "log")
    )
    digests = []
    for side in examination.sides:
        lines = kept[f"{side.side.value}-{side.run}.jsonl"].read_text().splitlines()
        exchanges = [json.loads(line) for line in lines]
        assert side.exchanges == len(exchanges) == 2 + len(CONTROLS)
        assert side.digest == digest(exchanges)
        assert side.ready_in_seconds > 0
        digests.append(side.digest)
    assert examination.evidence.exchange_digest == digest(digests)
    stats = json.loads(kept["change-1.jsonl"].read_text().splitlines()[0])
    assert (stats["method"], stats["answer"]["status"], stats["answer"]["body"]) == (
        "GET",
        200,
        '{"total": 2}',
    )
    assert json.loads(kept["base-1.jsonl"].read_text().splitlines()[0])["answer"]["status"] == 404


def test_what_is_written_down_is_what_was_observed(bench: Bench) -> None:
    """The exchanges of the observations are those of the files."""
    examination = bench.examine(BASE, CHANGE, STATS)
    line = files(examination, bench)["change-1.jsonl"].read_text().splitlines()[0]
    seen = asdict(examination.observations[0].change[0].steps[0].exchange)
    assert json.loads(line) == json.loads(json.dumps(seen))


def test_an_altered_record_no_longer_fits_its_digest(bench: Bench) -> None:
    """Changing one byte of what was written down is noticed."""
    examination = bench.examine(BASE, CHANGE, STATS)
    path = files(examination, bench)["change-1.jsonl"]
    altered = path.read_text().replace('"status": 200', '"status": 201', 1)
    exchanges = [json.loads(line) for line in altered.splitlines()]
    assert digest(exchanges) != examination.sides[2].digest


def test_answers_in_any_script_are_written_down(bench: Bench) -> None:
    """Text of any kind, even half a character, is kept without loss and without an error."""
    odd = json_app({"/stats": (200, {"total": "日本 \ud83d"})})
    step = Step(Call("/{{ total }}"), Expect(404))
    what = scenario("odd", replace(get("/stats"), capture={"total": "$.total"}), step)
    examination = bench.examine(BASE, odd, what)
    lines = files(examination, bench)["change-1.jsonl"].read_text().splitlines()
    assert json.loads(json.loads(lines[0])["answer"]["body"]) == {"total": "日本 \ud83d"}
    assert json.loads(lines[1])["answer"] is None


def test_each_run_has_an_id_and_values_of_its_own(tmp_path: Path, sandbox: Sandbox) -> None:
    """Two verifications of the same change draw different values and are kept apart."""
    urls, ids = set(), set()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        found = Bench(tmp_path / name, sandbox).examine(
            BASE, CHANGE, STATS, scenario("x", get("/{{ random.uuid }}", 404))
        )
        urls.add(found.observations[1].change[0].steps[0].exchange.asked)
        ids.add(found.evidence.run_id)
    assert len(urls) == len(ids) == 2


NOW_AND_THEN = """
FAILS = [True] if int(os.getcwd().rsplit("-", 1)[1]) <= 2 else []

class Shaky(dict):
    def get(self, path, otherwise):
        return (500, {}) if FAILS and FAILS.pop() else super().get(path, otherwise)

ROUTES = Shaky(ROUTES)
"""
"""Fails the first request on the first two servers of a side, which are told by their folders."""


def test_what_fails_now_and_then_is_asked_until_it_is_clear(tmp_path: Path) -> None:
    """Code that fails now and then, before as after, is noisy, though all of the first runs failed."""
    flaky = json_app({"/items": (200, [1, 2])}, more=NOW_AND_THEN)
    examination = Bench(tmp_path, sandbox_named(NO_BOX)).examine(flaky, flaky + "# changed\n", ITEMS)
    assert examination.evidence.findings[0].meaning is Meaning.NOISY
    for side in Side:
        servers = [server for server in examination.evidence.servers if server.side is side]
        assert [server.run for server in servers] == [1, 2, 3, 4]
        assert len([one for one in examination.sides if one.side is side]) == len(servers)


def test_a_base_that_cannot_start_is_an_error(bench: Bench) -> None:
    """Without a base there is no comparison: it is an error of the project, not a finding."""
    with pytest.raises(ServerExited, match="on base: the server ended with code 1") as caught:
        bench.examine(BROKEN, CHANGE, STATS)
    assert "cannot import name stats" in caught.value.message
    assert caught.value.hint


def test_a_base_that_is_never_ready_is_an_error(bench: Bench) -> None:
    """The kind of the problem is kept."""
    bench.how = start(seconds=0.7)
    with pytest.raises(ServerNotReady, match="on base: the server was not ready"):
        bench.examine(SOCKET_APP + "time.sleep(600)\n", SOCKET_APP + "time.sleep(600)\n", STATS)


def test_a_change_that_cannot_start_is_recorded(bench: Bench) -> None:
    """A broken change is a finding with its log, and says so to the executor."""
    examination = bench.examine(BASE, BROKEN, STATS, ITEMS)
    changed = [server for server in examination.evidence.servers if server.side is Side.CHANGE]
    assert [server.started for server in changed] == [False, False]
    assert "cannot import name stats" in changed[0].detail
    meanings = {finding.name: finding.meaning for finding in examination.evidence.findings}
    assert meanings["stats"] is Meaning.MISSING
    assert meanings["items"] is Meaning.REGRESSES
    said = complaints(examination)
    assert said[0].startswith("the server does not start on your change: the server ended with code 1")
    assert len([line for line in said if line.startswith("the server does not start")]) == 1
    assert files(examination, bench)["change-1.jsonl"].read_text() == ""


def test_complaints_are_words_to_act_on(bench: Bench) -> None:
    """Only what has to be mended is told: which request, expected, got."""
    change = json_app({"/items": (200, [1]), "/stats": (200, {"total": 3})})
    examination = bench.examine(BASE, change, STATS, ITEMS, scenario("gone", get("/gone", 404)))
    assert complaints(examination) == (
        "missing: stats: GET /stats: json_path $.total equals: expected 2, got 3",
        "regresses: items: GET /items: json_path $[1] equals: expected 2, got 'nothing there'",
    )


def test_good_work_has_no_complaints(bench: Bench) -> None:
    """A change that does what was asked hears nothing."""
    assert complaints(bench.examine(BASE, CHANGE, STATS, ITEMS)) == ()


def test_the_log_of_the_change_is_at_hand(bench: Bench) -> None:
    """The end of what the changed server said can be shown."""
    noisy = json_app({"/stats": (200, {})}, more="print('Traceback: stats is empty', flush=True)")
    examination = bench.examine(BASE, noisy, STATS)
    assert "Traceback: stats is empty" in server_log(examination)
    assert dict(examination.tails).keys() == {
        "base server 1",
        "base server 2",
        "change server 1",
        "change server 2",
    }


def test_there_may_be_no_log(bench: Bench) -> None:
    """A change that said nothing has an empty log."""
    assert server_log(bench.examine(BASE, "raise SystemExit(1)\n", STATS)) == ""


def test_a_tree_that_moved_meanwhile_is_told(bench: Bench) -> None:
    """The tree is looked at again at the end, and what is found then is in the evidence."""
    bench.tree_now = lambda: "another"
    evidence = bench.examine(BASE, CHANGE, STATS).evidence
    assert evidence.tree_after == "another"
    assert evidence.tree != evidence.tree_after


def test_servers_run_on_copies_that_nobody_shares(bench: Bench) -> None:
    """A server that writes into its folder changes neither the other runs nor the user's files."""
    writing = (
        "ROUTES['/writes'] = (200, len(os.listdir('.')))\n"
        "open('app.py', 'a').write('# changed')\nopen('written', 'w').close()\n"
    )
    before = _files(bench.folder / "repo") if (bench.folder / "repo").exists() else {}
    examination = bench.examine(
        BASE, json_app({"/stats": (200, {"total": 2})}, more=writing), STATS, scenario("w", get("/writes"))
    )
    bodies = [run.steps[0].exchange.answer for run in examination.observations[1].change]
    assert [answer.body for answer in bodies if answer] == ["2", "2"]
    assert git(bench.folder / "repo", "status", "--porcelain") == ""
    assert before == {}


def test_a_server_is_given_no_secret_and_no_history(bench: Bench) -> None:
    """The tree of a server has no `.git`, so that no later commit gives the answer away."""
    looking = "ROUTES['/look'] = (200, sorted(os.listdir('.')))\n"
    examination = bench.examine(BASE, json_app({}, more=looking), scenario("look", get("/look")))
    answer = examination.observations[0].change[0].steps[0].exchange.answer
    assert answer is not None
    assert json.loads(answer.body) == ["app.py", "note.txt"]


SECRET = "wolke7-Quartz+Zeder/93=Ufer?x&y-7c1d"
TELLING = json_app({"/key": (200, {"key": SECRET})}, more=f"print({SECRET!r}, flush=True)\n")


def test_a56_answers_are_judged_as_they_were_and_kept_without_secrets(bench: Bench) -> None:
    """A scenario that expects the secret passes; the files, the digests and the evidence do not hold it."""
    bench.redactor = Redactor([SECRET])
    right = scenario("right", get("/key", 200, equals("$.key", SECRET)))
    wrong = scenario("wrong", get("/key", 200, equals("$.key", MARK)))
    examination = bench.examine(BASE, TELLING, right, wrong)
    assert [finding.meaning for finding in examination.evidence.findings[:2]] == [
        Meaning.PROVES,
        Meaning.MISSING,
    ]
    kept = files(examination, bench)
    assert MARK in kept["change-1.log"].read_text()
    assert SECRET not in "".join(path.read_text() for path in kept.values()) + repr(examination.evidence)
    assert SECRET not in server_log(examination)
    assert [side.redacted for side in examination.sides] == [0, 0, 3, 3]
    for side in examination.sides:
        lines = kept[f"{side.side.value}-{side.run}.jsonl"].read_text().splitlines()
        assert side.digest == digest([json.loads(line) for line in lines])


def test_a56_without_a_redactor_that_knows_it_the_secret_is_kept(bench: Bench) -> None:
    """The control: the same examination keeps the value where nobody knows that it is secret."""
    examination = bench.examine(BASE, TELLING, scenario("right", get("/key", 200)))
    kept = files(examination, bench)
    assert SECRET in kept["change-1.jsonl"].read_text()
    assert SECRET in kept["change-1.log"].read_text()
    assert [side.redacted for side in examination.sides] == [0, 0, 0, 0]


def test_a56_the_output_of_a_base_that_cannot_start_is_kept_without_secrets(bench: Bench) -> None:
    """Also a run that ends in an error keeps its output, and only clean."""
    bench.redactor = Redactor([SECRET])
    with pytest.raises(ServerExited):
        bench.examine(f"raise SystemExit({SECRET!r})\n", CHANGE, STATS)
    (log,) = bench.records.glob("*/base-1.log")
    assert log.read_text() == f"{MARK}\n"


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


WAKES = """
FROM = {"items": 0}
DO = Api.do_GET
def waking(self):
    FROM["items"] += self.path == "/items"
    if FROM["items"]:
        return DO(self)
    self.send_response(500)
    self.send_header("content-length", "0")
    self.end_headers()
Api.do_GET = waking
"""
"""A server that fails at everything until somebody asks for the items."""


def test_a_base_that_was_not_up_when_it_was_asked_is_an_error(bench: Bench) -> None:
    """A base that failed only because it was not ready yet is no base to compare with."""
    bench.how = start(type="")
    waking = json_app({"/items": (200, [1, 2])}, more=WAKES)
    with pytest.raises(ServerNotReady, match="on base: the server answered 500 to everything"):
        bench.examine(waking, CHANGE, STATS, ITEMS)


LEAVES = """
import signal
SERVING = os.fork()
if SERVING:
    signal.pause()
DO = Api.do_GET
def leaving(self):
    if self.path == "/items":
        os.kill(os.getppid(), signal.SIGUSR1)
    DO(self)
Api.do_GET = leaving
"""
"""A server in the background whose command ends when it is asked for the items."""


def test_a_server_whose_command_ends_after_it_was_ready_is_told_what_to_do(bench: Bench) -> None:
    """What was seen of it does not count, and the hint says how it stays."""
    leaving = json_app(
        {"/items": (200, [1, 2])},
        more=f"import signal\nsignal.signal(signal.SIGUSR1, lambda *_: os._exit(0))\n{LEAVES}",
    )
    with pytest.raises(ServerExited, match="on base: the server ended with code 0") as caught:
        bench.examine(leaving, CHANGE, STATS, ITEMS)
    assert "in the foreground" in caught.value.hint
