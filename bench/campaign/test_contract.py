"""The contract of providers, against a model server nobody here wrote."""

import os
import signal
from pathlib import Path

import pytest

from bench.campaign.serving import WAYS, Server, Way, serving
from bench.campaign.smol import WINDOW
from harness_executor.errors import ContextOverflow, ProviderFault
from harness_executor.providers.base import Said, Usage
from harness_executor.subagents.jobs import Answering
from harness_executor.subagents.replies import Unacceptable, from_json
from harness_executor.subagents.submission import result_schema
from tests.providers.contract import TOOL, RealContract, SchemaContract, Subject

LONG = 60


@pytest.fixture
def subject(request: pytest.FixtureRequest, server: Server) -> Subject:
    """The real model, by one way."""
    way: Way = request.param
    return Subject(lambda: way.converse(server), "smol", LONG)


@pytest.mark.parametrize("subject", WAYS, indirect=True, ids=str)
class TestReal(RealContract):
    """What holds for any model."""


@pytest.mark.parametrize("subject", [way for way in WAYS if way.api != "messages"], indirect=True, ids=str)
class TestSchema(SchemaContract):
    """What holds where this server knows schemas: everywhere but in Messages."""


@pytest.mark.parametrize("subject", [way for way in WAYS if way.api == "messages"], indirect=True, ids=str)
def test_words_are_no_result_where_a_schema_is_dropped(subject: Subject) -> None:
    """This server's Messages know no schema; what it says instead is read strictly, and is no result."""
    schema = result_schema(Answering.WORK)
    assert schema
    reply = subject.provider().complete(subject.request(Said("Are you done?"), schema=schema))
    assert reply.text.strip()
    with pytest.raises(Unacceptable):
        from_json(Answering.WORK, reply.text)


def test_every_way_counts_the_same(server: Server) -> None:
    """The same words have the same number of tokens, whatever of them the server had cached."""
    subject = Subject(lambda: WAYS[0].connect(server), "smol", 1)
    asked = subject.request(Said("How many tokens are these?"), tools=(TOOL,))
    usages = [way.connect(server).complete(asked).usage or Usage() for way in WAYS]
    assert len({usage.input_tokens for usage in usages}) == 1
    assert {usage.output_tokens for usage in usages} == {1}
    assert max(usage.cache_read for usage in usages) > 0


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_conversation_that_does_not_fit_is_told(server: Server, way: Way) -> None:
    """A request longer than the window is an overflow, which makes a subagent sum up."""
    asked = Subject(lambda: way.connect(server), "smol").request(Said("word " * 2 * WINDOW))
    with pytest.raises(ContextOverflow, match=str(WINDOW)):
        way.connect(server).complete(asked)


@pytest.mark.parametrize("way", [way for way in WAYS if way.stream], ids=str)
def test_no_closing_event_no_answer(tmp_path: Path, way: Way) -> None:
    """A server that dies within its answer has given none, though every word so far was sound."""
    with serving(tmp_path / "log.txt") as server:
        heard: list[int] = []

        def dying(size: int) -> None:
            heard.append(size)
            if len(heard) == 5:
                os.kill(server.process.pid, signal.SIGKILL)

        subject = Subject(lambda: way.connect(server, dying), "smol", LONG)
        with pytest.raises(ProviderFault) as raised:
            subject.provider().complete(subject.request(Said("Count to a thousand, in words.")))
    assert raised.value.said.billed
