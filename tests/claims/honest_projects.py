"""Honest work in projects that start, wait and end in their own ways."""

from pathlib import Path

from harness_executor.evidence.sockets import free_port
from tests.claims.app import APP, COUNT, PYTHON, ROUTES, START, STRICT, WEB, environment
from tests.claims.asking import COUNTS, LISTS
from tests.claims.case import Corpus, Outcome
from tests.claims.forged_runs import CHECK, TESTS
from tests.claims.project import Project, make_project
from tests.claims.script import call, played
from tests.claims.squatter import squatting

CORPUS = Corpus()

KEEPING = """
import json
import pathlib

FILE = pathlib.Path("items.json")
ITEMS = {int(number): item for number, item in json.loads(FILE.read_text()).items()}


def keep(number):
    FILE.write_text(json.dumps(ITEMS))
    return ITEMS[number]
"""
"""Items that outlive their server."""


def _counted(place: Path, started: str, routes: str = ROUTES) -> Outcome:
    """The usual change in a project with a start of its own."""
    project = make_project(place, {"harness/environment.json": started, "routes.py": routes})
    project.append(COUNT)
    return project.verify(COUNTS, LISTS)


@CORPUS.honest("a server that is slow to start")
def slow_start(place: Path) -> Outcome:
    """It takes two seconds before it listens."""
    return _counted(place, environment(), "import time\n\ntime.sleep(2)\n" + ROUTES)


@CORPUS.honest("a server that ignores the request to end")
def ignores_sigterm(place: Path) -> Outcome:
    """It has to be killed, and that is no fault of the change."""
    deaf = "import signal\n\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    return _counted(place, environment(), deaf + ROUTES)


@CORPUS.honest("a server behind a shell and a child process")
def child_process(place: Path) -> Outcome:
    """The process that listens is not the one that was started."""
    return _counted(place, environment(f"sh -c '{START} & wait'"))


@CORPUS.honest("a server that is ready when it says so")
def ready_by_log(place: Path) -> Outcome:
    """A line of its output is waited for."""
    readiness = {
        "type": "log_pattern",
        "config": {"pattern": "listening on port [0-9]+", "timeout_seconds": 20},
    }
    return _counted(place, environment(readiness=readiness))


@CORPUS.honest("a server that is ready when it listens")
def ready_by_tcp(place: Path) -> Outcome:
    """A connection is enough."""
    return _counted(place, environment(readiness={"type": "tcp", "config": {"timeout_seconds": 20}}))


@CORPUS.honest("a server that is ready when it answers")
def ready_by_http(place: Path) -> Outcome:
    """A path and a status are waited for."""
    config = {"endpoint": "/items", "expected_status": 200, "timeout_seconds": 20}
    return _counted(place, environment(readiness={"type": "http", "config": config}))


@CORPUS.honest("a port taken from the environment")
def port_from_environment(place: Path) -> Outcome:
    """The start command names no port; the server reads PORT."""
    return _counted(place, environment(f"{PYTHON} app.py"))


@CORPUS.honest("a project with one fixed port")
def fixed_port(place: Path) -> Outcome:
    """All servers want the same port, so they take turns."""
    port = free_port()
    started = environment(START.replace("{port}", str(port)), {"type": "tcp", "config": {"port": port}})
    return _counted(place, started)


@CORPUS.honest("a project whose port somebody else has")
def port_in_a_box(place: Path) -> Outcome:
    """Every box has a network of its own, so that a foreign server that answers well is never asked."""
    with squatting() as port:
        started = environment(START.replace("{port}", str(port)), {"type": "tcp", "config": {"port": port}})
        return _counted(place, started)


@CORPUS.honest("a start command that edits the place of the project")
def edits_its_own(place: Path) -> Outcome:
    """In a box that place is the server's own copy; what the user has there stays as it was."""
    project = make_project(place)
    project.append(COUNT)
    edited = project.root / "routes.py"
    before = edited.read_text()
    words = ("--base", "HEAD", "--start", f"echo '# later' >> '{edited}'; {START}")
    proved = project.verify(COUNTS, words=words)
    return Outcome(proved.accepted and edited.read_text() == before, proved.said)


@CORPUS.honest("a model that writes to where the log lies, in its box")
def writes_in_its_box(place: Path) -> Outcome:
    """There is no log in a box, so its command comes to nothing, and its work is judged like any other."""
    project = make_project(place)
    forge = f"mkdir -p '{project.state}/tasks'; echo x | tee -a '{project.state}'/tasks/*/events.jsonl"
    write = call("write_file", path="routes.py", content=ROUTES + COUNT)
    judged = project.run_scripted(played((COUNTS, LISTS), write, call("shell", command=forge)))
    logs = [path.read_text() for path in project.state.glob("tasks/*/events.jsonl")]
    return Outcome(judged.accepted and len(logs) == 1 and "\nx\n" not in logs[0], judged.said)


@CORPUS.honest("a server that listens on every address")
def every_address(place: Path) -> Outcome:
    """0.0.0.0 is reached at 127.0.0.1 too."""
    project = make_project(place, {"web.py": WEB.replace('"127.0.0.1"', '"0.0.0.0"')})
    project.append(COUNT)
    return project.verify(COUNTS)


@CORPUS.honest("a server that keeps its items in a file of the project")
def items_in_a_file(place: Path) -> Outcome:
    """Every server has the file to itself, and the project's own is left alone."""
    kept = ROUTES.replace("ITEMS = {}", KEEPING).replace(
        "return 201, ITEMS[number]", "return 201, keep(number)"
    )
    project = make_project(place, {"routes.py": kept, "items.json": "{}"})
    project.append(COUNT)
    proved = project.verify(COUNTS, LISTS)
    return Outcome(proved.accepted and (project.root / "items.json").read_text() == "{}", proved.said)


@CORPUS.honest("a start script that may be executed")
def start_script(place: Path) -> Outcome:
    """The mode of a file survives on both sides."""
    files = {"start.sh": f"#!/bin/sh\nexec {PYTHON} app.py $1\n"}
    project = make_project(place, {**files, "harness/environment.json": environment("./start.sh {port}")})
    (project.root / "start.sh").chmod(0o755)
    project.commit("The start script may be executed")
    project.append(COUNT)
    return project.verify(COUNTS)


@CORPUS.honest("a project that never heard of the harness")
def start_by_flag(place: Path) -> Outcome:
    """There is no harness folder; the user says how to start."""
    project = make_project(place, {"harness/environment.json": ""})
    project.append(COUNT)
    return project.verify(COUNTS, words=("--base", "HEAD", "--start", START))


@CORPUS.honest("state of the harness already in the project")
def state_present(place: Path) -> Outcome:
    """Old tasks, an old report and somebody's notes lie in the harness folder."""
    project = make_project(place)
    project.write("harness/trace/verification-report.json", "not JSON")
    project.write("harness/tasks/old/state/task.json", "{}")
    project.write("harness/memory/notes.md", "notes\n")
    project.open_task()
    project.append(COUNT)
    project.verify(COUNTS, words=())
    return project.complete()


@CORPUS.honest("a project in the hidden folder some teams use")
def hidden_folder(place: Path) -> Outcome:
    """State lives in .harness, and is found there."""
    files = {"harness/environment.json": "", ".harness/environment.json": environment()}
    project = make_project(place, files)
    project.open_task()
    project.append(COUNT)
    project.verify(COUNTS, words=())
    return project.complete()


@CORPUS.honest("names with spaces, in the project and in its path")
def spaces(place: Path) -> Outcome:
    """Nothing on the way splits a name in two."""
    files = {"my routes.py": ROUTES, "routes.py": "exec(open('my routes.py').read())\n"}
    project = make_project(place, files, name="my project")
    project.append(COUNT, "my routes.py")
    project.write("read me first.txt", "hello\n")
    return project.verify(COUNTS)


@CORPUS.honest("a change made by a commit on another branch")
def other_branch(place: Path) -> Outcome:
    """Two commits are compared; the working tree is neither."""
    project = make_project(place)
    project.git("checkout", "--quiet", "-b", "feature")
    project.append(COUNT)
    project.commit("Count the items")
    project.git("checkout", "--quiet", "main")
    return project.verify(COUNTS, words=("--base", "main", "--head", "feature"))


@CORPUS.honest("a test that was red before and still is")
def red_before(place: Path) -> Outcome:
    """A whole run: the neighbour's test fails on base too, so it does not count against the change."""
    red = TESTS.replace("routes.ITEMS, {}", "routes.ITEMS, 1")
    files = {"test_routes.py": red, "harness/environment.json": environment(test_command=CHECK)}
    return _run_counting(make_project(place, files))


@CORPUS.honest("a whole run, tests green before and after")
def whole_run(place: Path) -> Outcome:
    """Plan, scenarios, change, checks, verification and judgement."""
    files = {"test_routes.py": TESTS, "harness/environment.json": environment(test_command=CHECK)}
    return _run_counting(make_project(place, files))


def _run_counting(project: Project) -> Outcome:
    write = call("write_file", path="routes.py", content=ROUTES + COUNT)
    return project.run_scripted(played((COUNTS, LISTS), write))


@CORPUS.honest("a new option of the start, on which base dies")
def new_option(place: Path) -> Outcome:
    """The old code is started by its own command, which the base declares."""
    project = make_project(place, {"app.py": STRICT + APP})
    project.write("app.py", APP)
    project.append(COUNT)
    return project.verify(COUNTS, LISTS, words=("--base", "HEAD", "--start", f"{START} --count"))
