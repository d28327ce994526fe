"""What is done before a start: once per side, beside the services it needs."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import PackagesMissing, ServerError, ServerExited, ServiceMissing
from harness_executor.evidence.preparation import Crew
from harness_executor.evidence.services.running import wanted
from harness_executor.kernel.acts import Query
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Meaning
from harness_executor.kernel.scenario import Kind, Scenario, Step
from harness_executor.workspace.chores import INSTALL, Chore
from harness_executor.workspace.needs import Service
from tests.evidence.apps import equals, get, json_app, scenario, start
from tests.evidence.bench import BASE, CHANGE, ITEMS, STATS, Bench
from tests.rooms import BOX, NO_BOX, sandbox_named

MADE = """
import json, os
MADE = open("made.txt").read()
ROUTES = {"/made": (200, {"made": MADE, "who": os.environ.get("WHO", "")})}
"""
APP = json_app({}, more=MADE)


def test_steps_are_taken_once_per_side(bench: Bench) -> None:
    """Each side does what comes first once, and both of its servers find what was made."""
    step = Chore("printf x >> count.txt; cp count.txt made.txt", env={"WHO": "me"})
    bench.how = replace(start(), chores=(step,))
    made = scenario("made", get("/made", 200, equals("$.made", "x")), kind=Kind.UNCHANGED)
    assert bench.meanings(APP, APP, made)["made"] is Meaning.HOLDS


@pytest.mark.parametrize(("name", "taken"), [(BOX, "yes"), (NO_BOX, "no")])
def test_data_is_cleared_only_in_a_box(tmp_path: Path, name: str, taken: str) -> None:
    """Without one, a program may reach a database that somebody uses."""
    bench = Bench(tmp_path, sandbox_named(name))
    steps = (Chore("printf no > made.txt"), Chore("printf yes > made.txt", clears=True))
    bench.how = replace(start(), chores=steps)
    made = scenario("made", get("/made", 200, equals("$.made", taken)), kind=Kind.UNCHANGED)
    assert bench.meanings(APP, APP, made)["made"] is Meaning.HOLDS


def test_data_of_somebody_else_is_not_cleared(tmp_path: Path) -> None:
    """A service at an address of the user's keeps what it holds."""
    steps = (Chore("migrate"), Chore("recreate_db", clears=True))
    given = {"cache": "redis://127.0.0.1:6379/0"}
    alone, shared = (wanted((Service("cache", "redis"),), tmp_path, some) for some in ({}, given))
    crew = Crew(sandbox_named(BOX), SystemClock(), replace(start(), chores=steps), tmp_path)
    assert replace(crew, wanted=alone).chores == steps
    assert replace(crew, wanted=shared).chores == steps[:1]


def test_a_step_that_fails_on_base_is_an_error(bench: Bench) -> None:
    """A base that cannot be prepared proves nothing, and the step is named."""
    bench.how = replace(start(), chores=(Chore("echo no seeds; exit 3"),))
    with pytest.raises(ServerExited, match="on base: the setup step `echo no seeds; exit 3` failed"):
        bench.examine(BASE, CHANGE, STATS)


def test_a_step_that_misses_a_package_is_told_of_packages(bench: Bench) -> None:
    """Whoever lacks a package is not sent to look at the network."""
    bench.how = replace(start(), chores=(Chore("echo No module named flask; exit 1"),))
    with pytest.raises(ServerExited) as caught:
        bench.examine(BASE, CHANGE, STATS)
    assert "harness doctor" in caught.value.hint


def test_a_step_that_ran_out_of_memory_is_not_sent_to_the_network(bench: Bench) -> None:
    """Node says so, and aborts."""
    said = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"
    bench.how = replace(start(), chores=(Chore(f"echo '{said}'; exit 134"),))
    with pytest.raises(ServerExited) as caught:
        bench.examine(BASE, CHANGE, STATS)
    assert "it ran out of memory" in caught.value.hint


def test_a_step_that_fails_on_the_change_is_recorded(bench: Bench) -> None:
    """A change that breaks a step has not started, and the record says which step."""
    bench.how = replace(start(), chores=(Chore("test ! -e note.txt"),))
    servers = bench.examine(BASE, CHANGE, STATS).evidence.servers
    assert [server.started for server in servers] == [True, True, False, False]
    assert "the setup step `test ! -e note.txt` failed" in servers[2].detail


def test_the_old_code_is_started_by_its_own_command(bench: Bench) -> None:
    """A change whose start has a new option is compared with a base that is started without it."""
    new = BASE.replace("import json, os, sys", "import json, os, sys\nassert sys.argv[2:] == ['--new']")
    old = CHANGE.replace("import json, os, sys", "import json, os, sys\nassert not sys.argv[2:]")
    bench.how = replace(start(), command=f"{start().command} --new", base_command=start().command)
    assert bench.meanings(old, new, ITEMS)["items"] is Meaning.HOLDS


def test_packages_are_not_installed_where_nothing_asks_for_them(bench: Bench) -> None:
    """An install command of a project without a folder for packages that it could make is not run."""
    bench.how = replace(start(), chores=(Chore("pip install nothing; exit 1", INSTALL),))
    assert bench.meanings(BASE, CHANGE, STATS)["stats"] is Meaning.PROVES


def test_an_install_that_fails_is_told_when_the_server_does_not_start(bench: Bench) -> None:
    """The record of the server that is not up says that installing failed, and why."""
    bench.how = replace(start(), chores=(Chore("echo no registry >&2; npm-not-there ci", INSTALL),))
    with pytest.raises(ServerError, match="installing with `echo no registry") as caught:
        bench.examine("raise SystemExit(3)", CHANGE, STATS)
    assert "no registry" in caught.value.message
    assert "install" in caught.value.hint


def test_packages_that_cannot_be_fetched_stop_the_run_on_the_change_too(tmp_path: Path) -> None:
    """Where no host may be reached, that is no fault of the change, and the hint says what to list."""
    bench = Bench(tmp_path, sandbox_named(BOX))
    bench.how = replace(start(), chores=(Chore("test ! -e note.txt || npm-not-there ci", INSTALL),))
    with pytest.raises(PackagesMissing, match="on the change: installing with") as caught:
        bench.examine(BASE, "raise SystemExit('no module named left-pad')", STATS)
    assert "no module named left-pad" in caught.value.message
    assert "[network] allow" in caught.value.hint


def test_a_change_that_starts_without_what_could_not_be_fetched_is_judged(bench: Bench) -> None:
    """An install that fails stops nothing that does without it."""
    bench.how = replace(start(), chores=(Chore("test ! -e note.txt || npm-not-there ci", INSTALL),))
    assert bench.meanings(BASE, CHANGE, STATS)["stats"] is Meaning.PROVES


DB = Service(
    "db",
    "postgresql",
    variables={"url": "DATABASE_URL", "port": "PGPORT"},
    url="postgresql://shop:pw@localhost:5432/shop",
    sql=("schema.sql",),
)
ASKED = Query("db", "SELECT count(*) AS n FROM items")
COUNT = Step(expect=Expect(exit_code=0, json=(equals("$[0].n", 1),)), query=ASKED)


def with_schema(bench: Bench) -> None:
    """A schema that both sides have."""
    repo = bench.folder / "repo"
    repo.mkdir()
    (repo / "schema.sql").write_text("CREATE TABLE items (id int); INSERT INTO items VALUES (1)")


def test_a_database_is_there_before_the_server(bench: Bench) -> None:
    """Its variables lead to it, its file was run, and scenarios ask it."""
    with_schema(bench)
    more = "url = os.environ['DATABASE_URL']\nROUTES['/url'] = (200, {'url': url.split('@')[0]})\n"
    bench.how = replace(start(), services=(DB,))
    told = scenario("told", get("/url", 200, equals("$.url", "postgresql://shop:pw")), kind=Kind.UNCHANGED)
    counted = Scenario("counted", "the data of each side is its own", (COUNT,), Kind.UNCHANGED)
    app = json_app({}, more=more)
    found = bench.meanings(app, app, told, counted)
    assert (found["told"], found["counted"]) == (Meaning.HOLDS, Meaning.HOLDS)


@pytest.mark.parametrize(("text", "why"), [("SELECT no_such", "no_such"), (None, "it is not in the project")])
def test_a_file_of_sql_that_cannot_be_run_is_named(bench: Bench, text: str | None, why: str) -> None:
    """What the service said, and the file that it said it of."""
    with_schema(bench)
    place = bench.folder / "repo" / "schema.sql"
    place.write_text(text) if text else place.unlink()
    bench.how = replace(start(), services=(DB,))
    with pytest.raises(ServerExited, match=f"on base: the file of SQL schema.sql cannot.*{why}") as caught:
        bench.examine(BASE, CHANGE, STATS)
    assert "setup.sql" in caught.value.hint


def test_a_project_that_asks_for_mysql_gets_what_this_machine_has(bench: Bench) -> None:
    """MySQL, or MariaDB where `mysqld` is only another name of it."""
    bench.how = replace(start(), services=(Service("db", "mysql"),))
    asked = Step(expect=Expect(exit_code=0, json=(equals("$[0].n", 1),)), query=Query("db", "SELECT 1 AS n"))
    answered = Scenario("answered", "the database answers", (asked,), Kind.UNCHANGED)
    assert bench.meanings(BASE, CHANGE, answered)["answered"] is Meaning.HOLDS


def test_logs_of_services_and_steps_are_with_the_evidence(bench: Bench) -> None:
    """Whoever asks why a service failed finds what it said."""
    bench.how = replace(start(), services=(Service("cache", "redis"),), chores=(Chore("echo built it"),))
    folder = bench.examine(BASE, CHANGE, STATS).about.folder
    assert folder is not None
    assert (folder / "base-1-cache.log").stat().st_size > 0
    assert "built it" in (folder / "change-1-steps.log").read_text()


def test_a_base_that_cannot_take_the_command_is_told_of_its_own(bench: Bench) -> None:
    """The hint names the option that starts the old code otherwise."""
    with pytest.raises(ServerExited, match="on base") as caught:
        bench.examine("raise SystemExit('unknown option')", CHANGE, STATS)
    assert "--start-base CMD" in caught.value.hint


def test_a_service_that_is_not_there_is_named(bench: Bench) -> None:
    """What is missing is refused before anything is started."""
    bench.how = replace(start(), services=(Service("queue", "rabbitmq"),))
    with pytest.raises(ServiceMissing, match="the service queue needs RabbitMQ"):
        bench.examine(BASE, CHANGE, STATS)


def test_a_service_that_is_not_required_may_be_missing(bench: Bench) -> None:
    """The server is started without it."""
    bench.how = replace(start(), services=(Service("queue", "rabbitmq", required=False),))
    assert bench.meanings(BASE, CHANGE, STATS)["stats"] is Meaning.PROVES
