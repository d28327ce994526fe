"""A provider whose every call is written down, without secrets, so that a run can be played again."""

import base64
import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import DiskError, ProviderFault
from harness_executor.kernel.canonical import digest
from harness_executor.providers.base import Reply, Request, Said, Stop, ToolCall, ToolResult, ToolSpec, Usage
from harness_executor.providers.recorded import ROOT, Recorded
from harness_executor.redaction import MARK, Redactor
from tests.providers.virtual import VirtualClock

TOOLS = (ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {}}),)
OPENING = Said("add a route to /srv/tree-17")
LOOK = Reply(
    "looking", (ToolCall("c1", "read_file", {"path": "a.py"}),), Stop.TOOLS, Usage(10, 5, 2, 1), "msg_1"
)
FOUND = Said(results=(ToolResult("c1", "print(1)"),))
DONE = Reply("done", kept=({"type": "text", "text": "done"},))
CANARY = "canary-key-0123456789"


@dataclass
class Playing:
    """A service that says one thing after the other."""

    replies: list[Reply | Exception] = field(default_factory=lambda: [LOOK, DONE])

    def complete(self, request: Request) -> Reply:
        """The next reply."""
        assert request.turns
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def _ask(*turns: Said | Reply) -> Request:
    return Request("executor", "m", "You are the executor.", (OPENING, *turns), TOOLS)


def _recorded(folder: Path, *replies: Reply | Exception, root: str = "") -> Recorded:
    service = Playing(list(replies)) if replies else Playing()
    return Recorded(service, folder, Redactor([CANARY]), root, VirtualClock())


def _data(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def test_a_call_is_written_down(tmp_path: Path) -> None:
    """The first record has everything: who asked whom, with which guide and tools, and the whole answer."""
    provider = _recorded(tmp_path)
    assert provider.complete(_ask()) == LOOK
    data = _data(tmp_path, provider.last)
    assert (data["schema"], data["prev"], data["since"]) == ("harness-call/1", "", 0)
    assert (data["role"], data["model"], data["redacted"]) == ("executor", "m", 0)
    assert data["text"]["system"] == "You are the executor."
    assert data["text"]["tools"][0]["name"] == "read_file"
    assert data["turns"] == [{"said": {"text": OPENING.text, "results": []}}]
    assert data["reply"]["calls"][0] == {
        "id": "c1",
        "name": "read_file",
        "arguments": {"path": "a.py"},
        "problem": "",
    }
    assert data["reply"]["usage"]["cache_read"] == 2
    assert (data["reply"]["stop"], data["reply"]["id"]) == ("tools", "msg_1")


def test_a_name_is_the_digest_of_what_is_in_the_file(tmp_path: Path) -> None:
    """Whoever changes a record has to give it another name."""
    provider = _recorded(tmp_path)
    provider.complete(_ask())
    assert provider.last == f"{digest(_data(tmp_path, provider.last))}.json"


def test_a_record_holds_only_what_is_new(tmp_path: Path) -> None:
    """The next record names the one before and has the turns since, not the guide again."""
    provider = _recorded(tmp_path)
    provider.complete(_ask())
    first = provider.last
    provider.complete(_ask(LOOK, FOUND))
    data = _data(tmp_path, provider.last)
    assert (data["prev"], data["since"], data["text"]) == (first, 1, None)
    assert [list(turn) for turn in data["turns"]] == [["reply"], ["said"]]
    assert data["reply"]["kept"] == [{"type": "text", "text": "done"}]
    assert data["guide"] == _data(tmp_path, first)["guide"]


def test_a_long_conversation_is_not_written_again_and_again(tmp_path: Path) -> None:
    """A hundred calls take a hundred times the room of one, not five thousand times."""
    turns: list[Said | Reply] = []
    said = "x" * 1000
    provider = _recorded(tmp_path, *(replace(LOOK, text=f"{number}") for number in range(100)))
    for _ in range(100):
        turns += [provider.complete(_ask(*turns)), Said(said)]
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) == 100
    assert max(sizes) < 4000


def test_a_compaction_begins_a_new_link(tmp_path: Path) -> None:
    """Turns that do not go on from the last request are written down in full, after the same record."""
    provider = _recorded(tmp_path, LOOK, DONE, DONE)
    provider.complete(_ask())
    provider.complete(_ask(LOOK, FOUND))
    second = provider.last
    shorter = _ask(replace(LOOK, usage=None), Said(results=(ToolResult("c1", "[left out]"),)), DONE)
    provider.complete(shorter)
    data = _data(tmp_path, provider.last)
    assert (data["prev"], data["since"], len(data["turns"]), data["text"]) == (second, 0, 4, None)


def test_another_guide_is_written_down(tmp_path: Path) -> None:
    """When the tools change, the record has them."""
    provider = _recorded(tmp_path)
    provider.complete(_ask())
    provider.complete(replace(_ask(LOOK, FOUND), tools=()))
    assert _data(tmp_path, provider.last)["text"]["tools"] == []


def test_a_call_that_failed_is_not_written_down(tmp_path: Path) -> None:
    """Nothing is half recorded, and no earlier record is taken for this call's."""
    provider = _recorded(tmp_path, LOOK, ProviderFault("cut off"), DONE)
    provider.complete(_ask())
    with pytest.raises(ProviderFault):
        provider.complete(_ask(LOOK, FOUND))
    assert provider.last == ""
    assert len(list(tmp_path.iterdir())) == 1
    provider.complete(_ask(LOOK, FOUND))
    assert _data(tmp_path, provider.last)["since"] == 1


def test_no_secret_is_written_down(tmp_path: Path) -> None:
    """A key in a prompt, a result or an answer is taken out before anything is hashed, and that is said."""
    coded = base64.b64encode(CANARY.encode()).decode()
    reply = Reply(f"the key is {CANARY}", (ToolCall("c", "shell", {"command": f"echo {coded}"}),))
    provider = _recorded(tmp_path, replace(reply, kept=({"text": CANARY},)), DONE)
    assert provider.complete(_ask()).text == f"the key is {CANARY}"
    first = provider.last
    provider.complete(_ask(reply, Said(results=(ToolResult("c", CANARY.encode().hex()),))))
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert CANARY not in written
    assert coded not in written
    assert CANARY.encode().hex() not in written
    assert _data(tmp_path, first)["redacted"] == 3
    assert _data(tmp_path, first)["reply"]["text"] == f"the key is {MARK}"
    assert _data(tmp_path, provider.last)["redacted"] == 3


def test_the_place_of_the_tree_is_not_written_down(tmp_path: Path) -> None:
    """Records do not say in which folder the run worked."""
    root = '/srv/tree "17"'
    reply = Reply(f"cd {root}", (ToolCall("c", "shell", {"command": f"ls {root}/src"}),))
    provider = _recorded(tmp_path, reply, root=root)
    provider.complete(_ask())
    data = _data(tmp_path, provider.last)
    assert data["reply"]["text"] == f"cd {ROOT}"
    assert data["reply"]["calls"][0]["arguments"] == {"command": f"ls {ROOT}/src"}


def test_whatever_a_model_says_can_be_written_down(tmp_path: Path) -> None:
    """Half a character and numbers that JSON does not have are kept as texts."""
    odd = Reply("half \ud800 é", (ToolCall("c", "t", {"n": math.nan, "i": [math.inf]}),), usage=None)
    provider = _recorded(tmp_path, odd)
    provider.complete(_ask())
    data = _data(tmp_path, provider.last)
    assert data["reply"]["text"] == "half ? é"
    assert data["reply"]["calls"][0]["arguments"] == {"n": "NaN", "i": ["Infinity"]}
    assert data["reply"]["usage"] is None


def test_a_disk_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A record that cannot be written is an error with a hint, and no half file is left."""
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(DiskError, match="cannot write") as raised:
        _recorded(place).complete(_ask())
    assert "harness resume" in raised.value.hint
    assert list(tmp_path.iterdir()) == [place]
