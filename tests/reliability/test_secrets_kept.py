"""A secret that a model and its server say wherever they can is in nothing that a run leaves."""

import base64
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.script import Script
from tests.canary import CANARY, forms, leaks
from tests.cli.scripted import submit, use
from tests.conftest import Cli, Ran, commit_all, git

KNOWN = "wolke7-Quartz+Zeder/93=Ufer?x&y-7c1d"
"""Nothing but its place in the environment says that it is a secret."""

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKENS = {
    "github": f"ghp_{BODY}",
    "anthropic": f"sk-ant-api03-{BODY}",
    "aws": "AKIA3XK7Q2ZJ5WNB4TRD",
}
ALIKE = {"github": f"ghx_{BODY}", "anthropic": f"sj-art-api03-{BODY}", "aws": "AKIX3XK7Q2ZJ5WNB4TRD"}
"""As long, and with no beginning that anybody knows."""

REPLIES = HONEST.lines["executor"][0]["replies"]
PLAN = HONEST.lines["planner"][0]["replies"][-1]["calls"][0]["arguments"]

LEAKY = """import re
import base64
import traceback
from urllib.parse import quote

KEYS = ["".join(parts) for parts in {halves!r}]
CODED = [base64.b64encode(KEYS[0].encode()).decode(), KEYS[0].encode().hex(), quote(KEYS[0], safe="")]
SAID = " ".join([*KEYS, *CODED])
print(SAID, flush=True)
try:
    raise ValueError(SAID)
except ValueError:
    traceback.print_exc()
"""


@dataclass(frozen=True)
class Leaks:
    """What is said aloud in a run, and whether the program can know that it is secret."""

    tokens: dict[str, str]
    env: dict[str, str]

    @property
    def said(self) -> str:
        """Everything in one line, the known value also coded."""
        coded = (
            base64.b64encode(KNOWN.encode()).decode(),
            KNOWN.encode().hex(),
            quote(KNOWN, safe=""),
        )
        return " ".join([KNOWN, *self.tokens.values(), *coded])


SECRET = Leaks(TOKENS, {"TEAM_DEPLOY_TOKEN": KNOWN})
OPEN = Leaks(ALIKE, {})
"""The control: the same run, and nothing in it is a secret to the program."""


def _edit(path: str, old: str, new: str) -> dict[str, Any]:
    return use("edit_file", path=path, old=old, new=new)


def _script(leaks: Leaks) -> Script:
    """The honest run, in which everybody tells the secrets, and the first try gives a wrong answer."""
    halves = [(key[:3], key[3:]) for key in (KNOWN, *leaks.tokens.values())]
    done = submit(
        {"status": "success", "summary": f"Done: {leaks.said}", "lessons": [f"Remember {leaks.said}"]}
    )
    route = "self.answer(200, {{**self.todos.stats(), '{name}': SAID}})"
    first = [
        *REPLIES[:-1],
        _edit("app.py", "import re\n", LEAKY.format(halves=halves)),
        _edit(
            "app.py", '"application/json")', '"application/json")\n        self.send_header("x-said", SAID)'
        ),
        _edit("app.py", "self.answer(200, self.todos.stats())", route.format(name="total")),
        use("shell", command="python3 -m unittest -q"),
        done,
    ]
    mended = [_edit("app.py", route.format(name="total"), route.format(name="said")), done]
    phase = {**PLAN["phases"][0], "name": f"Add {KNOWN}", "objective": leaks.said}
    plan = submit({**PLAN, "summary": f"Use {leaks.said}", "phases": [phase]})
    executor: list[dict[str, Any]] = [{"when": "missing: stats", "replies": mended}, {"replies": first}]
    return Script({**HONEST.lines, "planner": [{"replies": [plan]}], "executor": executor})


@dataclass(frozen=True)
class Left:
    """What a run left: its files, what it printed, and what it sent to the model."""

    project: Path
    printed: str
    sent: bytes

    def places(self) -> Iterator[tuple[str, bytes]]:
        """Every kind of place, with what stands there."""
        kinds = {
            "log": "tasks/*/events.jsonl",
            "views": "tasks/*/state/*.json",
            "checkpoints": "tasks/*/checkpoints/*.json",
            "summary": "tasks/*/summary.md",
            "recordings": "tasks/*/calls/*.json",
            "exchanges": "tasks/*/evidence/*/*.jsonl",
            "server output": "tasks/*/evidence/*/*.log",
            "report": "trace/verification-report.json",
            "failures": "trace/failures/*.jsonl",
            "memory": "memory/episodes/*.jsonl",
        }
        for kind, pattern in kinds.items():
            found = [path.read_bytes() for path in (self.project / "harness").glob(pattern)]
            if found:
                yield kind, b"\n".join(found)
        yield "commits", git(self.project, "log", "--all", "--format=%B").encode()
        yield "objects", b"\n".join(_objects(self.project))
        yield "printed", self.printed.encode()
        yield "prompts", self.sent

    def with_any(self, *wanted: bytes) -> set[str]:
        """The kinds of places in which one of these texts stands."""
        return {kind for kind, content in self.places() if any(text in content for text in wanted)}


def _objects(project: Path) -> Iterator[bytes]:
    for path in (project / ".git" / "objects").glob("??/*"):
        yield zlib.decompress(path.read_bytes())


def _log(project: Path) -> Path:
    """The log of the one task, not by way of `current`."""
    logs = (project / "harness" / "tasks").glob("*/events.jsonl")
    return next(path for path in logs if not path.parent.is_symlink())


def _run(project: Path, cli: Cli, leaks: Leaks, *words: str) -> tuple[Ran, Left]:
    with LoopbackModel(_script(leaks)) as model:
        env = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url, **leaks.env}
        ran = cli("run", REQUEST, "--repo", project, "--model", "anthropic:leaking", *words, env=env)
        task_id = _log(project).parent.name
        shown = [
            cli(*command, "--repo", project, env=env)
            for command in (("show", task_id), ("show", task_id, "--json"), ("list", "--json"))
        ]
    printed = "".join(one.out + one.err for one in (ran, *shown))
    return ran, Left(project, printed, b"\n".join(model.bodies))


PLACES = {"log", "views", "checkpoints", "summary", "recordings", "exchanges", "server output", "report"}
PLACES |= {"memory", "commits", "objects", "printed"}


def test_a56_the_run_says_its_secrets_everywhere(sample: Path, home: Path, cli: Cli) -> None:
    """Without anything that is a secret to the program, the search finds it in every kind of place."""
    ran, left = _run(sample, cli, OPEN)
    assert ran.code == 0, ran.err
    for form in (KNOWN, base64.b64encode(KNOWN.encode()).decode(), KNOWN.encode().hex(), quote(KNOWN, "")):
        assert left.with_any(form.encode()) >= PLACES | {"prompts"}, form
    for token in ALIKE.values():
        assert left.with_any(token.encode()) >= PLACES, token
    assert list(leaks(sample, KNOWN))


def test_a56_a_secret_is_in_nothing_that_a_run_leaves(sample: Path, home: Path, cli: Cli) -> None:
    """A known value in any coding and tokens that nobody knows are in no file, commit, prompt or output."""
    ran, left = _run(sample, cli, SECRET)
    assert ran.code == 0, ran.err
    assert left.with_any(b"[redacted]") >= PLACES | {"prompts"}
    assert left.with_any(*forms(KNOWN).values()) == set()
    for token in TOKENS.values():
        assert left.with_any(token.encode()) <= {"prompts"}, token  # what tools show of code is work
    for folder in (sample, home):
        for key in (KNOWN, *TOKENS.values()):
            assert list(leaks(folder, key)) == []


def test_a56_the_record_says_what_was_taken_out(sample: Path, cli: Cli) -> None:
    """The log, the sides and the report say how many secrets there were, and what binds them still fits."""
    ran, _ = _run(sample, cli, SECRET)
    assert ran.code == 0, ran.err
    records = [json.loads(line) for line in _log(sample).read_text().splitlines()]
    told = {record["type"] for record in records if record.get("redacted")}
    assert told >= {"Validated", "Verified"}
    sides = [record["data"] for record in records if record["type"] == "SideRecorded"][-4:]
    assert [side["redacted"] > 0 for side in sides] == [False, False, True, True]
    report = json.loads((sample / "harness" / "trace" / "verification-report.json").read_text())
    assert report["redacted"] == sum(side["redacted"] for side in sides)
    assert report["accepted"] is True


@pytest.mark.parametrize("said", [OPEN, SECRET], ids=["control", "secret"])
def test_a56_a_refusal_does_not_tell_it_either(said: Leaks, sample: Path, home: Path, cli: Cli) -> None:
    """The answer that did not fit is in the reasons of the gate and in the failures, without the secret."""
    settings = home / ".config" / "harness-executor" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[caps]\nverification = 0\n")
    ran, left = _run(sample, cli, said)
    assert ran.code == 4, ran.err
    found = left.with_any(*forms(KNOWN).values(), *(token.encode() for token in said.tokens.values()))
    assert (found >= {"failures", "printed", "log"}) is (said is OPEN)
    assert found <= (PLACES | {"failures", "prompts"} if said is OPEN else {"prompts"})


@pytest.mark.parametrize("said", [OPEN, SECRET], ids=["control", "secret"])
def test_a56_a_parked_task_keeps_no_secret(said: Leaks, sample: Path, home: Path, cli: Cli) -> None:
    """What commands said is still there while a task waits; the secrets are not."""
    printing = use("shell", command=f"echo '{said.said}'; echo '{said.said}' >&2")
    blocked = submit({"status": "blocked", "summary": said.said, "blockers": [f"I need {said.said}"]})
    script = Script({**HONEST.lines, "executor": [{"replies": [printing, blocked]}]})
    with LoopbackModel(script) as model:
        env = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url, **said.env}
        ran = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:blocked", env=env)
    assert ran.code == 3, ran.err
    kept = [*leaks(home, KNOWN), *leaks(sample, KNOWN)]
    kept += [
        line for token in said.tokens.values() for folder in (home, sample) for line in leaks(folder, token)
    ]
    assert bool(kept) is (said is OPEN)
    assert any("scratch" in line for line in kept) is (said is OPEN)
    assert (KNOWN in ran.out) is (said is OPEN)
    for words in (("show",), ("status",), ("status", "--json")):  # whatever an older log still holds
        assert KNOWN not in cli(*words, "--repo", sample, env=SECRET.env).out
    assert (KNOWN in cli("status", "--json", "--repo", sample).out) is (said is OPEN)


@pytest.mark.parametrize(
    ("secret", "what"),
    [
        (KNOWN, "a secret of yours"),
        (KNOWN.encode().hex(), "a secret of yours"),
        *((TOKENS["aws"], "an AWS key"),),
    ],
    ids=["known", "hex", "token"],
)
def test_a56_a_change_that_adds_a_secret_goes_back(secret: str, what: str, sample: Path, cli: Cli) -> None:
    """The executor hears file, line and kind, never the value; without the secret its work is committed."""
    writing = use("write_file", path="settings.py", content=f"DEBUG = False\nKEY = '{secret}'\n")
    executor = [
        {"when": f"settings.py line 2: {what}", "replies": REPLIES},
        {"replies": [writing, *REPLIES]},
    ]
    with LoopbackModel(Script({**HONEST.lines, "executor": executor})) as model:
        env = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url, **SECRET.env}
        ran = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:careless", env=env)
    assert ran.code == 0, ran.err
    assert f"the change would commit a secret: settings.py line 2: {what}" in ran.err
    assert secret not in ran.err
    branch = git(sample, "for-each-ref", "--format=%(refname)", "refs/heads/harness")
    assert "settings.py" not in git(sample, "ls-tree", "-r", "--name-only", branch)
    assert secret not in git(sample, "log", "-p", branch)


@pytest.mark.parametrize("env", [{}, SECRET.env], ids=["control", "secret"])
def test_a56_a_secret_that_a_change_removes_is_not_shown(
    env: dict[str, str], sample: Path, home: Path, cli: Cli
) -> None:
    """The difference in the summary has the line that goes, without the secret in it."""
    (sample / "settings.py").write_text(f"KEY = '{KNOWN}'\n")
    commit_all(sample, "a secret that should not be here")
    executor = [{"replies": [use("shell", command="rm settings.py"), *REPLIES]}]
    with LoopbackModel(Script({**HONEST.lines, "executor": executor})) as model:
        keys = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url, **env}
        ran = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:tidy", env=keys)
    assert ran.code == 0, ran.err
    assert "-KEY = '" in ran.out
    kept = [*leaks(sample / "harness", KNOWN), *leaks(home, KNOWN)]
    assert any("summary.md" in line for line in kept) is (env == {})
    assert bool(kept) is (env == {})
    assert (KNOWN in ran.out) is (env == {})


def test_a56_what_only_looks_alike_is_committed(sample: Path, cli: Cli) -> None:
    """The control: a value that is no secret, and a token that says it is an example, are work."""
    content = f"KEY = '{KNOWN}'\nTOKEN = 'ghp_example{BODY}'\n"
    executor = [{"replies": [use("write_file", path="settings.py", content=content), *REPLIES]}]
    with LoopbackModel(Script({**HONEST.lines, "executor": executor})) as model:
        env = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url}
        ran = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:careful", env=env)
    assert ran.code == 0, ran.err
    branch = git(sample, "for-each-ref", "--format=%(refname)", "refs/heads/harness")
    assert git(sample, "show", f"{branch}:settings.py") == content.strip()


def test_a56_a_secret_in_the_request_is_in_no_name(sample: Path, home: Path, cli: Cli) -> None:
    """A secret that the user types is neither in the id of the task nor in its branch, folder or log."""
    words = f"{KNOWN} {TOKENS['github']}: {REQUEST}"
    with LoopbackModel(HONEST) as model:
        env = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url, **SECRET.env}
        ran = cli("run", words, "--repo", sample, "--model", "anthropic:honest", env=env)
    assert ran.code == 0, ran.err
    names = "\n".join(str(path) for path in sample.rglob("*"))
    assert "wolke7" not in names + ran.out + ran.err
    for key in (KNOWN, TOKENS["github"]):
        assert [*leaks(sample, key), *leaks(home, key)] == []


def test_a56_a_start_command_with_a_secret_is_refused(sample: Path, home: Path, cli: Cli) -> None:
    """A command that could not be kept is refused before anything is written, without telling the secret."""
    start = f"KEY={KNOWN} python3 app.py --port {{port}}"
    words = ("run", REQUEST, "--repo", sample, "--model", "anthropic:honest", "--start", start)
    with LoopbackModel(HONEST) as model:
        env = {"ANTHROPIC_API_KEY": CANARY, "ANTHROPIC_BASE_URL": model.url, **SECRET.env}
        ran = cli(*words, env=env)
    assert ran.code == 2
    assert "the start command holds a secret" in ran.err
    assert KNOWN not in ran.out + ran.err
    assert [*leaks(sample, KNOWN), *leaks(home, KNOWN)] == []


@pytest.mark.parametrize("env", [{}, SECRET.env], ids=["control", "secret"])
def test_a56_an_error_does_not_tell_it(env: dict[str, str], sample: Path, cli: Cli) -> None:
    """A message that quotes what the user typed is printed without the secret."""
    ran = cli("show", f"no-such-task-{KNOWN.replace('/', '')}{KNOWN}", "--repo", sample, env=env)
    assert ran.code == 2
    assert (KNOWN in ran.err) is (env == {})


@pytest.mark.parametrize("env", [{}, SECRET.env], ids=["control", "secret"])
def test_a56_a_crash_does_not_tell_it(env: dict[str, str], home: Path) -> None:
    """The trace of a defect is kept, and its message printed, without the secret."""
    crash = f"from harness_executor.cli.guard import guarded; guarded('no_such_command {KNOWN}', [])"
    words = [sys.executable, "-c", crash]
    said = subprocess.run(words, env={**os.environ, **env}, capture_output=True, text=True, check=True).stderr
    trace = (home / ".local" / "state" / "harness-executor" / "last-crash.txt").read_text()
    assert "ModuleNotFoundError" in trace
    assert "ModuleNotFoundError" in said
    assert (KNOWN in trace) is (KNOWN in said) is (env == {})


def test_a56_a_config_that_cannot_be_read_hides_no_secret(sample: Path, home: Path, cli: Cli) -> None:
    """The complaint about a broken config is printed, still without the values of the environment."""
    settings = home / ".config" / "harness-executor" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[keys]\nX = {KNOWN}\n")
    ran = cli("list", "--repo", sample, f"--{KNOWN}", env=SECRET.env)
    assert ran.code == 2
    assert KNOWN not in ran.out + ran.err
