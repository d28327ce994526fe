"""A provider that answers from a recording: a whole run again, without a model."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.errors import ModelUnknown, RequestRefused
from harness_executor.kernel.canonical import canonical, digest
from harness_executor.prompting import render
from harness_executor.providers.base import Reply, Request, Said, ToolCall, ToolResult, Usage
from harness_executor.providers.recorded import Recorded
from harness_executor.providers.registry import Recording, connect
from harness_executor.providers.replayed import Replayed, load
from harness_executor.providers.script import Script
from harness_executor.providers.scripted import ScriptedProvider
from harness_executor.redaction import Redactor
from tests.providers.test_recorded import Playing
from tests.providers.virtual import VirtualClock

Provider = ScriptedProvider | Recorded | Replayed

LINES = {
    "executor": [
        {
            "replies": [
                {"text": "looking", "calls": [{"name": "read_file", "arguments": {"path": "a.py"}}]},
                {"text": "trying", "calls": [{"name": "shell", "arguments": {"command": "pytest"}}]},
                {"text": "trying", "calls": [{"name": "shell", "arguments": {"command": "pytest"}}]},
                {"text": "done"},
            ]
        }
    ]
}


def _converse(provider: Provider, prompt: str, result: str, calls: int = 4) -> list[Reply]:
    turns: list[Said | Reply] = [Said(prompt)]
    replies = []
    for _ in range(calls):
        reply = provider.complete(Request("executor", "m", "You are the executor.", tuple(turns)))
        replies.append(reply)
        turns += [reply, Said(results=tuple(ToolResult(call.id, result) for call in reply.calls))]
    return replies


def _record(folder: Path, prompt: str, result: str, root: str = "") -> list[Reply]:
    recorded = Recorded(ScriptedProvider(Script(LINES)), folder, Redactor(), root)
    return _converse(recorded, prompt, result)


def test_a_conversation_is_played_again(tmp_path: Path) -> None:
    """Every reply comes back whole, with what it used."""
    replies = _record(tmp_path, "add a route", "1 passed")
    assert _converse(load(tmp_path), "add a route", "1 passed") == replies
    assert all(reply.usage and reply.usage.output_tokens == 50 for reply in replies)


def test_what_differs_from_run_to_run_does_not_matter(tmp_path: Path) -> None:
    """Numbers in the prompt, the place of the tree, and all that tools found may be others."""
    replies = _record(tmp_path, "task 17 in /tmp/a1/tree on port 8000", "0.12 s, port 8000", "/tmp/a1/tree")
    again = _converse(load(tmp_path, "/var/x/tree"), "task 4 in /var/x/tree on port 31999", "9 s, port 1")
    assert again == replies


@pytest.mark.parametrize("lessons", [["keep routes in order"], ["one", "two\nlines\n\nand more", "# three"]])
def test_what_was_learnt_since_does_not_matter(tmp_path: Path, lessons: list[str]) -> None:
    """The lessons in a prompt grow with every task, the recorded one too; without them it is the same."""
    phase = {"name": "a", "objective": "b", "files": []}
    about = {"request": "add a route", "plan": None, "number": 1, "total": 1, "phase": phase, "check": "make"}
    for template, values in (
        ("plan", {"request": "add a route"}),
        ("execute", {**about, "feedback": ["> no"], "kept_back": "", "may_dispute": True}),
    ):
        first, later = (render(template, lessons=some, **values) for some in ([], lessons))
        assert first != later
        replies = _record(tmp_path / template, first, "1 passed")
        assert _converse(load(tmp_path / template), later, "1 passed") == replies


def test_the_model_finds_the_tree_where_it_is_now(tmp_path: Path) -> None:
    """A path that the model named leads to the tree of this run."""
    reply = Reply("in /old/tree", (ToolCall("c", "shell", {"command": 'cd "/old/tree"/src'}),))
    asked = Request("executor", "m", "", (Said("go"),))
    Recorded(Playing([reply]), tmp_path, Redactor(), "/old/tree").complete(asked)
    again = connect("replay:task", recording=Recording(str(tmp_path), '/new "tree')).complete(asked)
    assert again.text == 'in /new "tree'
    assert again.calls[0].arguments == {"command": 'cd "/new "tree"/src'}


def test_a_secret_that_was_taken_out_does_not_stop_it(tmp_path: Path) -> None:
    """A recording without its secrets can be played with or without them in the environment."""
    secret = "canary-key-0123456789"
    first = Reply(f"use {secret}", (ToolCall("c", "shell", {"command": f"K={secret} make"}),))
    recorded = Recorded(Playing([first, Reply("done")]), tmp_path, Redactor([secret]))
    _converse(recorded, f"the key is {secret}", "fine", 2)
    again = _converse(load(tmp_path, redactor=Redactor([secret])), f"the key is {secret}", "fine", 2)
    assert [reply.text for reply in again] == ["use [redacted]", "done"]


@pytest.mark.parametrize(
    ("role", "prompt", "calls", "number"),
    [
        ("planner", "add a route", 1, 1),
        ("executor", "add two routes", 1, 1),
        ("executor", "add a route", 5, 5),
    ],
    ids=["role", "prompt", "end"],
)
def test_what_was_not_recorded_is_not_made_up(
    tmp_path: Path, role: str, prompt: str, calls: int, number: int
) -> None:
    """Another role, another prompt or one reply more is refused, with the role and the turn."""
    _record(tmp_path, "add a route", "1 passed")
    played = load(tmp_path)
    turns: list[Said | Reply] = [Said(prompt)]
    for _ in range(calls - 1):
        turns += [played.complete(Request(role, "m", "", tuple(turns))), Said("go on")]
    with pytest.raises(RequestRefused, match=f"no reply {number} of this conversation of the {role}"):
        played.complete(Request(role, "m", "", tuple(turns)))


def test_another_answer_leads_nowhere(tmp_path: Path) -> None:
    """A conversation that went another way than the recorded one gets no reply of it."""
    _record(tmp_path, "add a route", "1 passed")
    turns = (Said("add a route"), Reply("something else"), Said("go on"))
    with pytest.raises(RequestRefused, match="no reply 2"):
        load(tmp_path).complete(Request("executor", "m", "", turns))


def test_the_later_of_two_records_counts(tmp_path: Path) -> None:
    """When a call was made again, its last answer is played, whatever the files are called."""
    asked = Request("executor", "m", "", (Said("go"),))
    clock = VirtualClock()
    for number in range(20):
        clock.sleep(1)
        Recorded(Playing([Reply(f"answer {number}")]), tmp_path, Redactor(), clock=clock).complete(asked)
    assert len(list(tmp_path.iterdir())) == 20
    assert load(tmp_path).complete(asked).text == "answer 19"


def test_a_recording_can_be_moved(tmp_path: Path) -> None:
    """Order and names do not depend on when files were copied; unfinished files are not looked at."""
    replies = _record(tmp_path / "a", "add a route", "1 passed")
    for path in sorted((tmp_path / "a").iterdir(), reverse=True):
        (tmp_path / "b").mkdir(exist_ok=True)
        shutil.copyfile(path, tmp_path / "b" / path.name)
    (tmp_path / "b" / ".half.json.17.tmp").write_text("{")
    assert _converse(load(tmp_path / "b"), "add a route", "x") == replies


def _changed(path: Path) -> None:
    path.write_text(path.read_text().replace("looking", "hacking").replace("trying", "hacking"))


def _torn(path: Path) -> None:
    path.write_text(path.read_text()[:100])


def _of_tomorrow(path: Path) -> None:
    data = {**json.loads(path.read_text()), "schema": "harness-call/2"}
    path.unlink()
    path.with_name(f"{digest(data)}.json").write_text(canonical(data))


def _without_reply(path: Path) -> None:
    data = {**json.loads(path.read_text()), "reply": {"text": 1}}
    path.unlink()
    path.with_name(f"{digest(data)}.json").write_text(canonical(data))


@pytest.mark.parametrize(
    "damage",
    [
        _changed,
        _torn,
        _of_tomorrow,
        _without_reply,
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text(""),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.with_name("notes.txt").write_text("hello"),
        lambda path: path.with_name("task.json").write_text("{}"),
        lambda path: path.with_name(f"{'0' * 64}.json").mkdir(),
    ],
    ids=["changed", "torn", "newer", "reply", "bytes", "empty", "deep", "foreign", "named", "folder"],
)
def test_a_damaged_recording_is_refused(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    """A file that is no record of ours is named, with a hint, before anything is played."""
    _record(tmp_path, "add a route", "1 passed")
    damage(sorted(tmp_path.iterdir())[0])
    with pytest.raises(ModelUnknown, match="is not a recorded call") as raised:
        load(tmp_path)
    assert raised.value.hint


@pytest.mark.parametrize("exists", [True, False])
def test_no_recording_is_no_model(tmp_path: Path, exists: bool) -> None:
    """An empty folder, or none, is refused."""
    place = tmp_path if exists else tmp_path / "nothing"
    with pytest.raises(ModelUnknown, match="there is no recording") as raised:
        load(place)
    assert raised.value.hint


def test_a_compacted_conversation_is_found(tmp_path: Path) -> None:
    """After old results were left out, or all was summed up, the replies are still the right ones."""
    one, two = Reply("one", usage=Usage(5, 5)), Reply("two", usage=Usage(9, 9))
    recorded = Recorded(Playing([one, two, Reply("three"), Reply("four")]), tmp_path, Redactor())
    light = (Said("go"), replace(one, usage=None), Said("[left out]"), two, Said("b"))
    requests = [
        (Said("go"),),
        (Said("go"), one, Said("a")),
        light,
        (Said("go\n\nsummary of 3 turns"), two, Said("c")),
    ]
    asked = [Request("executor", "m", "", turns) for turns in requests]
    texts = [recorded.complete(request).text for request in asked]
    played = load(tmp_path)
    assert [played.complete(request).text for request in asked] == texts == ["one", "two", "three", "four"]
