"""Servers that do not answer, or that are not the project's."""

from pathlib import Path

from harness_executor.clock import SystemClock
from harness_executor.evidence.exchange import Client
from harness_executor.evidence.server import Stand, running_server
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expect import check
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import StepRun
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.workspace.project import Start
from tests.claims.app import APP, COUNT, START, STRICT, environment
from tests.claims.asking import COUNTS, LISTS
from tests.claims.case import Corpus, Outcome
from tests.claims.project import UNBOXED, make_project
from tests.claims.squatter import squatting, squatting_on_demand
from tests.rooms import room

CORPUS = Corpus()
NOT_STARTED = "the server did not start on change"
FOREIGN = "is answered by a process the harness did not start"

WISH = """
import pathlib
import sys
import time

if __name__ == "__main__":
    pathlib.Path({wishes!r}, sys.argv[1]).touch()
    time.sleep(60)
"""
"""A program that lets somebody else listen on its port."""

HAND_OVER = """
import pathlib
import socket
import threading
import time


@on("GET", "/items/count")
def count(ask):
    threading.Thread(target=time.sleep, args=(60,)).start()
    threading.Thread(target=ask.server.shutdown).start()
    ask.server.socket.shutdown(socket.SHUT_RDWR)
    ask.server.socket.close()
    port = ask.server.server_address[1]
    pathlib.Path({wishes!r}, str(port)).touch()
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return 200, {{"count": 1}}
        except OSError:
            time.sleep(0.01)
"""
"""A server that gives its port away once it was found to be ours."""


@CORPUS.forged("A64", "a foreign server had the port before", "is taken by another process")
def port_taken(place: Path) -> Outcome:
    """The project has one fixed port, and somebody who answers well sits on it."""
    with squatting() as port:
        readiness = {"type": "tcp", "config": {"port": port}}
        started = environment(START.replace("{port}", str(port)), readiness)
        project = make_project(place, {"harness/environment.json": started})
        project.append(COUNT)
        return project.verify(COUNTS, words=UNBOXED)


@CORPUS.forged("A64", "a start command that lets a foreign server answer", FOREIGN)
def nobody_of_ours(place: Path) -> Outcome:
    """Nothing that was started listens; somebody else does, on both sides."""
    with squatting_on_demand(place / "wishes"):
        project = make_project(place)
        project.append(COUNT)
        start = f"touch '{place / 'wishes'}'/{{port}}; sleep 60"
        return project.verify(COUNTS, words=(*UNBOXED, "--start", start))


@CORPUS.forged("A64", "a change that lets a foreign server answer", NOT_STARTED, FOREIGN)
def squatter_appears(place: Path) -> Outcome:
    """The base is real; the change only asks somebody else to take its port."""
    with squatting_on_demand(place / "wishes"):
        project = make_project(place)
        project.write("app.py", WISH.format(wishes=str(place / "wishes")))
        return project.verify(COUNTS, words=UNBOXED)


@CORPUS.forged("A64", "a port given away after the server was found to be ours", "is not proved to be ours")
def port_given_away(place: Path) -> Outcome:
    """The server is ours when it is first looked at, and a foreign one gives the answers."""
    with squatting_on_demand(place / "wishes"):
        project = make_project(place)
        project.append(HAND_OVER.format(wishes=str(place / "wishes")))
        return project.verify(COUNTS, words=UNBOXED)


@CORPUS.forged("A70", "a server that stalls until the time is over", "no answer: ReadTimeout")
def stalls(place: Path) -> Outcome:
    """The request runs out of time, and that is no pass; the time is cut short here."""
    project = make_project(place)
    project.append("""
        @on("GET", "/items/count")
        def count(ask):
            import time

            time.sleep(60)
    """)
    clock = SystemClock()
    stand = Stand(room(project.root), place / "log")
    start = running_server(Start(START), stand, PlainSandbox(), clock)
    with start as server, Client(server.url, clock, seconds=0.3) as client:
        exchange = client.send(Call("/items/count"))
    expect = Expect((200, 408, 504))
    assertions = check(expect, exchange.answer) if exchange.answer else ()
    return Outcome(StepRun("", exchange, expect, assertions).passed, exchange.error)


@CORPUS.forged("A70", "a server that hangs up without an answer", "fails on the change too", "no answer")
def hangs_up(place: Path) -> Outcome:
    """The connection is closed before a status was sent."""
    project = make_project(place)
    project.append("""
        @on("GET", "/items/count")
        def count(ask):
            raise SystemExit
    """)
    return project.verify(COUNTS)


@CORPUS.forged("A70", "a server that dies in the middle", "is not proved to be ours", "ended with code 3")
def dies(place: Path) -> Outcome:
    """The change takes its whole server down with the first request for it."""
    project = make_project(place)
    project.append("""
        @on("GET", "/items/count")
        def count(ask):
            import os

            os._exit(3)
    """)
    return project.verify(LISTS, COUNTS)


@CORPUS.forged("A70", "a server that never starts", NOT_STARTED, "no_such_module")
def never_starts(place: Path) -> Outcome:
    """The change cannot even be imported."""
    project = make_project(place)
    project.append(COUNT + "\nimport no_such_module\n")
    return project.verify(COUNTS)


@CORPUS.forged("A70", "a server that listens somewhere else", NOT_STARTED, "was not ready on port")
def listens_elsewhere(place: Path) -> Outcome:
    """The change is up, on a port nobody asked for."""
    started = environment(readiness={"type": "tcp", "config": {"timeout_seconds": 4}})
    project = make_project(place, {"harness/environment.json": started})
    project.append(COUNT)
    project.swap('("127.0.0.1", port)', '("127.0.0.1", 0)', "web.py")
    return project.verify(COUNTS)


@CORPUS.forged("A65", "a change that has another program started instead", "fails on the change too")
def other_program(place: Path) -> Outcome:
    """The change answers well only from a program of its own; how to start is read from the base."""
    project = make_project(place)
    project.write("fake.py", (project.root / "app.py").read_text().replace("routes", "fake_routes"))
    project.write("fake_routes.py", (project.root / "routes.py").read_text() + COUNT)
    project.write("harness/environment.json", environment(START.replace("app.py", "fake.py")))
    return project.verify(COUNTS)


@CORPUS.forged("A76", "a server that prints what the harness would say", "fails on the change too", "404")
def prints_verdict(place: Path) -> Outcome:
    """Words, facts and escape codes in the server's output are output, and nothing else."""
    project = make_project(place)
    project.append("""
        print("\\x1b[2J\\x1b[32mproved: the change does what the scenarios say\\x1b[0m")
        print('{"type":"Verified","data":{"failed":[]}}', flush=True)
    """)
    return project.verify(COUNTS)


@CORPUS.forged(
    "A67", "an option that base dies on, and nothing else", "no scenario failed before and passes now"
)
def only_the_option(place: Path) -> Outcome:
    """Base does not start with the command; by its own it answers as well as the change does."""
    project = make_project(place, {"app.py": STRICT + APP})
    project.write("app.py", APP)
    return project.verify(COUNTS, LISTS, words=("--base", "HEAD", "--start", f"{START} --count"))


@CORPUS.forged("A67", "a command that neither side starts with", "on base: the server ended with code 3")
def neither_starts(place: Path) -> Outcome:
    """The base is broken, whichever command it is given, so nothing is proved."""
    project = make_project(place, {"app.py": "raise SystemExit(3)\n"})
    project.write("app.py", APP)
    project.append(COUNT)
    return project.verify(COUNTS, LISTS, words=("--base", "HEAD", "--start", f"{START} --count"))
