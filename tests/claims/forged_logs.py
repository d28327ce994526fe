"""Event logs that were written, altered or moved by somebody other than the harness."""

import shutil
from pathlib import Path

from harness_executor.errors import LogDamaged
from harness_executor.home import Home, open_home
from harness_executor.kernel.report import Evidence
from harness_executor.store.codec import build, plain
from harness_executor.store.seal import Seal
from tests.claims.app import COUNT, START
from tests.claims.asking import COUNTS, LISTS
from tests.claims.case import Corpus, Outcome
from tests.claims.ledger import Line, add_fact, chained, forget, hashed, lines_of, rewrite, save
from tests.claims.project import UNBOXED, Project, make_project, verified_task

CORPUS = Corpus()
BREAKS = "the chain of hashes breaks here"
NOT_OURS = "is not the log this machine wrote"


def _refused_task(place: Path) -> tuple[Project, str]:
    """A project whose change was verified and does nothing."""
    project = make_project(place)
    task_id = project.open_task()
    project.append("\n# counted\n")
    project.verify(COUNTS, words=())
    return project, task_id


def _prove(line: Line) -> Line:
    if line["type"] != "Verified":
        return line
    for finding in line["data"]["evidence"]["findings"]:
        finding |= {"meaning": "holds" if finding["source"] == "harness" else "proves", "reason": ""}
    return {**line, "data": {**line["data"], "failed": []}}


@CORPUS.forged("A59", "a log written by hand, with no chain", "is damaged at byte 0", BREAKS)
def hand_written(place: Path) -> Outcome:
    """The facts of a proved task, typed into a new folder."""
    project, task_id = verified_task(place)
    typed = [{**line, "prev": "0" * 64, "hash": "f" * 64} for line in lines_of(project.log(task_id))]
    save(project.log("typed"), typed)
    return project.complete("--task-id", "typed")


@CORPUS.forged("A59", "one line of the log edited", BREAKS)
def edited(place: Path) -> Outcome:
    """The finding against the change is made a finding for it."""
    project, task_id = _refused_task(place)
    rewrite(project.log(task_id), lambda lines: [_prove(line) for line in lines])
    return project.complete()


@CORPUS.forged("A59", "one line edited, and its own hash made anew", BREAKS)
def edited_and_hashed(place: Path) -> Outcome:
    """The line checks out by itself; the line after it does not."""
    project, task_id = _refused_task(place)
    project.complete()

    def forge(lines: list[Line]) -> list[Line]:
        return [hashed(_prove(line), line["prev"]) for line in lines]

    rewrite(project.log(task_id), forge)
    return project.complete()


@CORPUS.forged("A59", "the whole chain made anew around a forged verification", NOT_OURS, "is another one")
def rechained(place: Path) -> Outcome:
    """Every hash fits; this machine remembers another one."""
    project, task_id = _refused_task(place)
    rewrite(project.log(task_id), lambda lines: chained([_prove(line) for line in lines]))
    return project.complete()


@CORPUS.forged("A62", "the whole chain made anew, and this machine's memory wiped", "its seal does not fit")
def rechained_and_forgotten(place: Path) -> Outcome:
    """Nothing but the seal is left to notice."""
    project, task_id = _refused_task(place)
    rewrite(project.log(task_id), lambda lines: chained([_prove(line) for line in lines]))
    forget(project, task_id)
    return project.complete()


@CORPUS.forged("A62", "a forged verification appended to a real log", "its seal does not fit")
def appended(place: Path) -> Outcome:
    """The log is real and longer than it was."""
    project, task_id = _refused_task(place)
    verified = next(line for line in lines_of(project.log(task_id)) if line["type"] == "Verified")
    add_fact(project.log(task_id), "Verified", _prove(verified)["data"])
    return project.complete()


@CORPUS.forged("A60", "the tail of the log cut off", NOT_OURS, "records")
def truncated(place: Path) -> Outcome:
    """The verification that failed is cut away, and an earlier one that passed is left."""
    project, task_id = verified_task(place)
    length = len(lines_of(project.log(task_id)))
    project.swap("len(ITEMS)}", "0}")
    project.verify(COUNTS, words=())
    rewrite(project.log(task_id), lambda lines: lines[:length])
    project.swap("0}", "len(ITEMS)}")
    return project.complete()


@CORPUS.forged("A59", "two lines of the log exchanged", BREAKS)
def reordered(place: Path) -> Outcome:
    """What came last comes first."""
    project, task_id = verified_task(place)
    rewrite(project.log(task_id), lambda lines: [*lines[:-2], lines[-1], lines[-2]])
    return project.complete()


@CORPUS.forged("A59", "a line put between two lines of the log", BREAKS)
def inserted(place: Path) -> Outcome:
    """A record that was there already is there twice."""
    project, task_id = verified_task(place)
    rewrite(project.log(task_id), lambda lines: [*lines[:3], lines[2], *lines[3:]])
    return project.complete()


@CORPUS.forged("A62", "a line with one key twice", "appears twice")
def duplicate_key(place: Path) -> Outcome:
    """One reader sees the first value, another the second."""
    project, task_id = _refused_task(place)
    log = project.log(task_id)
    log.write_text(log.read_text().replace('"meaning":"missing"', '"meaning":"missing","meaning":"proves"'))
    return project.complete()


@CORPUS.forged("A61", "the log of another task put in the place of this one's", NOT_OURS)
def other_task(place: Path) -> Outcome:
    """A proved task lends its log to an open one."""
    project, proved = verified_task(place)
    opened = project.open_task("another")
    shutil.copy(project.log(proved), project.log(opened))
    return project.complete("--task-id", opened)


@CORPUS.forged("A61", "the log of another task under a name of its own", "is the log of another task")
def renamed_task(place: Path) -> Outcome:
    """A proved task is copied, so that it can be completed twice."""
    project, proved = verified_task(place)
    shutil.copytree(project.log(proved).parent, project.log("copied").parent)
    return project.complete("--task-id", "copied")


@CORPUS.forged("A61", "the log of another repository", "the code changed after it was verified")
def other_repository(place: Path) -> Outcome:
    """A proved task of a twin repository is carried over, to a change that does nothing."""
    other, proved = verified_task(place, "other")
    shutil.copytree(other.root, place / "project", symlinks=True)
    project = Project(place)
    project.git("checkout", "--quiet", "routes.py")
    project.append("\n# counted\n")
    return project.complete("--task-id", proved)


@CORPUS.forged("A61", "a verification of another task pasted into this one", "belongs to another task")
def other_evidence(place: Path) -> Outcome:
    """The seal fits, and names the task it was made for."""
    project, proved = verified_task(place)
    opened = project.open_task("another")
    evidence = next(line["data"] for line in lines_of(project.log(proved)) if line["type"] == "Verified")
    add_fact(project.log(opened), "Verified", evidence)
    return project.complete("--task-id", opened)


@CORPUS.forged("A61", "evidence against another base", "compares with another base")
def other_base(place: Path) -> Outcome:
    """The change is compared with a commit where everything was still missing."""
    project = make_project(place)
    older = project.git("rev-parse", "HEAD")
    project.append(COUNT)
    project.commit("Count the items")
    project.open_task("count again")
    project.append("\n# counted\n")
    project.verify(COUNTS, words=("--base", older))
    return project.complete()


@CORPUS.forged("A63", "one more edit after the verification", "the code changed after it was verified")
def stale_tree(place: Path) -> Outcome:
    """What was proved is not what is there now."""
    project, _ = verified_task(place)
    project.append("\nITEMS[1] = {}\n")
    return project.complete()


@CORPUS.forged(
    "A63", "the code changed while it was being verified", "the code changed while it was being verified"
)
def moving_tree(place: Path) -> Outcome:
    """The start command edits the project it is started from."""
    project = make_project(place)
    project.append(COUNT)
    edit = f"echo '# later' >> '{project.root / 'routes.py'}'; "
    return project.verify(COUNTS, words=(*UNBOXED, "--start", edit + START))


@CORPUS.forged("A59", "a closing record appended by hand", "says completed, and the gate did not accept")
def closed_by_hand(place: Path) -> Outcome:
    """The verification failed; the log is made to say that the task is complete."""
    project, task_id = _refused_task(place)
    add_fact(project.log(task_id), "TaskClosed", {"status": "completed", "summary": "done"})
    return project.outcome("task-state", "show", "--task-id", task_id)


@CORPUS.forged("A59", "a judgement and a closing record appended by hand", "says that the gate accepted")
def judged_by_hand(place: Path) -> Outcome:
    """The same, with the gate's word put in its mouth."""
    project, task_id = _refused_task(place)
    add_fact(project.log(task_id), "GateJudged", {"accepted": True, "reasons": []})
    add_fact(project.log(task_id), "TaskClosed", {"status": "completed", "summary": "done"})
    return project.outcome("task-state", "show", "--task-id", task_id)


@CORPUS.forged(
    "A69", "a closing record that says completed and unverified", "says completed, and the gate did not"
)
def skipped_by_hand(place: Path) -> Outcome:
    """Readers of the state files see completed; nobody but the harness may decide to skip."""
    project, task_id = _refused_task(place)
    add_fact(project.log(task_id), "TaskClosed", {"status": "completed_unverified", "summary": "done"})
    return project.outcome("task-state", "show", "--task-id", task_id)


@CORPUS.forged("A61", "a task opened again as a refactoring, in its own log", "opens its task twice")
def opened_again(place: Path) -> Outcome:
    """Nothing is proved, so the task is made one that needs no proof."""
    project = make_project(place)
    task_id = project.open_task()
    project.append("\n# counted\n")
    project.verify(LISTS, words=())
    opened = next(line["data"] for line in lines_of(project.log(task_id)) if line["type"] == "TaskOpened")
    add_fact(project.log(task_id), "TaskOpened", {**opened, "refactor": True})
    return project.complete("--task-id", task_id)


@CORPUS.forged("A62", "evidence sealed with a key of the forger's own", "says that the gate accepted")
def own_key(place: Path) -> Outcome:
    """The forger completes the task in a state home of its own; the user looks at it in the real one."""
    project, task_id = _refused_task(place)
    forged = _prove(next(line for line in lines_of(project.log(task_id)) if line["type"] == "Verified"))
    sealed = Seal(place / "mine" / "key").put(build(Evidence, forged["data"]["evidence"]))
    add_fact(project.log(task_id), "Verified", {"evidence": plain(sealed), "failed": []})
    words = ("task-state", "complete", "--summary", "done", "--task-id", task_id)
    believed = project.outcome(*words, HARNESS_STATE_HOME=str(place / "mine"))
    if not believed.accepted:
        raise RuntimeError(believed.said)
    return project.outcome("task-state", "show", "--task-id", task_id)


@CORPUS.forged("A62", "a log with one bit flipped, anywhere", "200 of 200 refused")
def flipped_bits(place: Path) -> Outcome:
    """Two hundred places over the whole log of a proved task, one bit at a time."""
    project, task_id = verified_task(place)
    log, home = project.log(task_id), open_home(project.root)
    content = log.read_bytes()
    refused = sum(_is_refused(home, log, content, at * len(content) // 200) for at in range(200))
    return Outcome(refused < 200, f"{refused} of 200 refused")


def _is_refused(home: Home, log: Path, content: bytes, at: int) -> bool:
    log.write_bytes(content[:at] + bytes([content[at] ^ (1 << at % 7)]) + content[at + 1 :])
    try:
        home.records(log.parent.name)
    except LogDamaged:
        return True
    return False
