"""The provider faults P01 to P24, each met by the real SDKs on a loopback server."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import accumulate, pairwise, repeat
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import (
    ContextOverflow,
    KeyRefused,
    ProviderDown,
    ProviderError,
    ProviderFault,
    QuotaSpent,
    RequestRefused,
)
from harness_executor.providers.base import Patience, Stop
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.loopback.chat import Chat
from harness_executor.providers.loopback.messages import Messages
from harness_executor.providers.loopback.protocol import Answer, Used, WireProtocol
from harness_executor.providers.loopback.responses import Responses
from harness_executor.providers.recorded import Recorded
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Limits
from harness_executor.redaction import Redactor
from tests.providers.faults import APIS, ASKED, SCRIPT, Call, call, call_scripted, reach

PROTOCOLS: dict[str, WireProtocol] = {"messages": Messages(), "responses": Responses(), "chat": Chat()}
EVERYWHERE = pytest.mark.parametrize("api", APIS)
STREAMED_OR_NOT = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
FEW = Patience(attempts=3)


def _asks(after: str, status: int = 429) -> Trouble:
    return Trouble(status, headers={"retry-after": after})


def _frames(api: str, text: str) -> list[bytes]:
    return PROTOCOLS[api].events(Answer({"text": text}, 1, "m-1", Used(10, 5)))


@EVERYWHERE
@STREAMED_OR_NOT
def test_p01_waits_as_long_as_asked_and_a_little_more(api: str, stream: bool) -> None:
    """After 429 with retry-after 5 the next request comes no earlier than in 5 s, with jitter above."""
    made = call(api, _asks("5"), stream=stream)
    assert made.text == "all is well"
    assert made.sent == 2
    assert len(made.clock.waits) == 1
    assert 5 <= made.clock.waits[0] <= 6.25


@EVERYWHERE
def test_p02_a_long_wait_is_waited_out(api: str) -> None:
    """After retry-after 300 nothing is sent for 300 s, however long the SDKs would have waited."""
    made = call(api, _asks("300"))
    assert made.text == "all is well"
    assert made.sent == 2
    assert 300 <= made.clock.passed <= 375


@EVERYWHERE
def test_p02_a_wait_beyond_patience_parks_the_task(api: str) -> None:
    """A service that asks for more than the longest wait is not called too early: the task is parked."""
    made = call(api, _asks("300"), patience=Patience(longest=60))
    assert isinstance(made.error, ProviderDown)
    assert "asks to wait 300 s, longer than 60 s" in made.error.message
    assert (made.sent, made.clock.waits) == (1, [])


@EVERYWHERE
@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(429, error="enforced_spend_limit_reached"),
        Trouble(429, error="insufficient_quota"),
        Trouble(402),
        Trouble(400, message="Your credit balance is too low to access the API"),
    ],
    ids=["spend cap", "quota", "402", "credit"],
)
def test_p03_spent_money_is_never_asked_for_again(api: str, trouble: Trouble) -> None:
    """A spend limit, a quota or 402 is one request, and parks the task as provider_quota."""
    made = call(api, *repeat(trouble, 9))
    assert isinstance(made.error, QuotaSpent)
    assert made.error.pause == "provider_quota"
    assert (made.sent, made.clock.waits) == (1, [])


@EVERYWHERE
@STREAMED_OR_NOT
def test_p04_an_overloaded_service_is_asked_again(api: str, stream: bool) -> None:
    """After 529 three times the fourth attempt answers, and each failure is told with its request id."""
    made = call(api, *repeat(Trouble(529), 3), stream=stream)
    assert made.text == "all is well"
    assert made.sent == 4
    assert [(told.attempt, told.status, told.request_id) for told in made.told] == [
        (1, 529, "req_1"),
        (2, 529, "req_2"),
        (3, 529, "req_3"),
    ]
    assert made.reply is not None
    assert made.reply.id == "req_4"


@EVERYWHERE
def test_p05_a_service_that_stays_overloaded_is_given_up(api: str) -> None:
    """529 for ever ends as provider_down after the attempts that were allowed, with what was said."""
    made = call(api, *repeat(Trouble(529), 50), patience=Patience(attempts=6))
    assert isinstance(made.error, ProviderDown)
    assert made.error.pause == "provider_down"
    assert "529" in made.error.message
    assert "req_6" in made.error.message
    assert made.sent == len(made.told) == 6


@EVERYWHERE
@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_p06_errors_of_the_service_pass(api: str, status: int) -> None:
    """500, 502, 503 and 504 are tried again within the attempts."""
    made = call(api, *repeat(Trouble(status), 2))
    assert (made.text, made.sent) == ("all is well", 3)
    assert call(api, *repeat(Trouble(status), 9), patience=FEW).sent == 3


@EVERYWHERE
@pytest.mark.parametrize("status", [408, 409])
def test_p07_timeouts_and_conflicts_pass(api: str, status: int) -> None:
    """408 and 409 are tried again."""
    made = call(api, Trouble(status))
    assert (made.text, made.sent) == ("all is well", 2)


@EVERYWHERE
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, RequestRefused),
        (401, KeyRefused),
        (403, KeyRefused),
        (404, RequestRefused),
        (413, RequestRefused),
    ],
)
def test_p08_what_the_service_will_never_answer_is_not_asked_again(
    api: str, status: int, kind: type[ProviderError]
) -> None:
    """400, 401, 403, 404 and 413 are one request and an error of their own name."""
    made = call(api, *repeat(Trouble(status), 9))
    assert type(made.error) is kind
    assert str(status) in made.error.message
    assert made.error.hint
    assert (made.sent, made.clock.waits) == (1, [])


@EVERYWHERE
def test_p08_a_prompt_that_is_too_long_has_a_name_of_its_own(api: str) -> None:
    """What does not fit the window is not tried again as it is."""
    made = call(api, Trouble(400, message="prompt is too long: 210000 tokens > 200000 maximum"))
    assert isinstance(made.error, ContextOverflow)
    assert made.sent == 1


class _NoTls(socketserver.BaseRequestHandler):
    """A server that answers everybody at once, and not with TLS."""

    def handle(self) -> None:
        """Speak plainly."""
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        self.request.recv(65536)


_look_up = socket.getaddrinfo


def _without_name_servers(host: str, *words: Any, **names: Any) -> Any:
    """What a machine with no way to a name server says."""
    if host != "127.0.0.1":
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return _look_up(host, *words, **names)


def _nobody() -> Iterator[str]:
    """Addresses where no model can be reached: no name, nobody there, no TLS."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    yield "http://no-such-host.invalid"
    yield f"http://127.0.0.1:{port}"
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _NoTls) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"https://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@EVERYWHERE
def test_p09_a_service_that_cannot_be_reached_is_tried_and_then_parked(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No name, a refused connection and no TLS are tried as often as allowed, then the task is parked."""
    monkeypatch.setattr(socket, "getaddrinfo", _without_name_servers)
    for url in _nobody():
        made = Call().make(reach(api, url), FEW)
        assert isinstance(made.error, ProviderDown), url
        assert "could not be reached" in made.error.message
        assert len(made.told) == 3
        assert len(made.clock.waits) == 2
        assert all(told.status == 0 for told in made.told)


@EVERYWHERE
@STREAMED_OR_NOT
@pytest.mark.parametrize("after", [-1, 0, 60])
def test_p10_a_lost_connection_leaves_nothing_behind(
    api: str, stream: bool, after: int, tmp_path: Path
) -> None:
    """A connection reset before, at or in the body is tried again, and only the whole answer is recorded."""
    with LoopbackModel(SCRIPT, repeat(Trouble(drop=after), 2)) as model:
        recorded = Recorded(reach(api, model.url, stream=stream), tmp_path, Redactor())
        made = Call().make(recorded)
        assert len(model.requests) == 3
    assert made.text == "all is well"
    assert [path.name for path in tmp_path.iterdir()] == [recorded.last]


@EVERYWHERE
def test_p11_an_error_in_a_stream_discards_what_came_before(api: str, tmp_path: Path) -> None:
    """After an error event the partial text is in no answer and no record; the failure is told."""
    script = Script({"executor": [{"replies": [{"text": "half an answer is worse than none"}]}]})
    with LoopbackModel(script, repeat(Trouble(fails="overloaded_error"), 2)) as model:
        made = Call().make(Recorded(reach(api, model.url), tmp_path, Redactor()), Patience(attempts=2))
        assert len(model.requests) == 2
    assert made.text == ""
    assert isinstance(made.error, ProviderDown)
    assert list(tmp_path.iterdir()) == []
    assert all("overloaded_error" in told.why for told in made.told)
    assert [told.request_id for told in made.told] == ["req_1", "req_2"]


@EVERYWHERE
def test_p11_an_error_in_a_stream_is_tried_again(api: str) -> None:
    """The next attempt answers, whole."""
    made = call(api, Trouble(fails="overloaded_error"))
    assert (made.text, made.sent, len(made.told)) == ("all is well", 2, 1)


@EVERYWHERE
def test_p12_a_stream_without_its_end_is_no_answer(api: str) -> None:
    """A stream that ends cleanly before its closing event is tried again, never taken for a result."""
    made = call(api, Trouble(ends=False))
    assert (made.text, made.sent) == ("all is well", 2)
    assert "ended before" in made.told[0].why
    gone = call(api, *repeat(Trouble(ends=False), 9), patience=FEW)
    assert (gone.reply, gone.sent) == (None, 3)
    assert isinstance(gone.error, ProviderDown)


@EVERYWHERE
@STREAMED_OR_NOT
def test_p13_an_answer_that_was_cut_off_says_so(api: str, stream: bool) -> None:
    """An answer that reached its longest length does not look like one that ended."""
    script = Script({"executor": [{"replies": [{"text": '{"status": "success"', "stop": "length"}]}]})
    made = call_scripted(api, script, (), stream=stream)
    assert made.reply is not None
    assert made.reply.stop is Stop.LENGTH
    assert made.sent == 1


@EVERYWHERE
@pytest.mark.parametrize("piece", [1, 7])
def test_p14_characters_may_be_split_anywhere(api: str, piece: int) -> None:
    """A stream that comes byte by byte is decoded as if it came whole."""
    words = "été 日本語 🚀 naïve"
    script = Script({"executor": [{"replies": [{"text": words}]}]})
    made = call_scripted(api, script, [Trouble(piece=piece)])
    assert (made.text, made.sent) == (words, 1)


@EVERYWHERE
def test_p14_lines_may_end_either_way(api: str) -> None:
    """A stream whose lines end with CRLF is the same stream."""
    frames = tuple(frame.replace(b"\n", b"\r\n") for frame in _frames(api, "all is well"))
    made = call(api, Trouble(frames=frames))
    assert (made.text, made.sent) == ("all is well", 1)


@EVERYWHERE
@pytest.mark.parametrize(
    "broken",
    [b"data: {not json\n\n", b'data: "text"\n\n', b"data: [1]\n\n", b"data: \xff\xfe\n\n", b"data: {}\n\n"],
)
def test_p14_a_broken_frame_is_tried_again(api: str, broken: bytes) -> None:
    """A frame that cannot be read makes the answer a fault, not half an answer."""
    frames = _frames(api, "half")
    made = call(api, Trouble(frames=(*frames[:2], broken, *frames[2:-1])))
    assert (made.text, made.sent) == ("all is well", 2)


@EVERYWHERE
@STREAMED_OR_NOT
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html><body>502 Bad Gateway</body></html>", "text/html"),
        (b"", "application/json"),
        (b"{}", "application/json"),
        (b"null", "application/json"),
        (b'["hello"]', "application/json"),
        (b'{"ok": true', "application/json"),
    ],
    ids=["HTML", "empty", "object", "null", "list", "torn"],
)
def test_p15_what_is_no_answer_is_tried_again(api: str, stream: bool, body: bytes, kind: str) -> None:
    """200 with something else than an answer is a fault with a name, and tried again within the attempts."""
    trouble = Trouble(body=body, headers={"content-type": kind})
    made = call(api, trouble, stream=stream)
    assert (made.text, made.sent) == ("all is well", 2)
    gone = call(api, *repeat(trouble, 9), patience=FEW, stream=stream)
    assert isinstance(gone.error, ProviderDown)
    assert gone.sent == 3


@EVERYWHERE
def test_p15_a_refusal_of_the_model_is_its_answer(api: str) -> None:
    """A model that declines is not asked again in the hope of another mood."""
    script = Script({"executor": [{"replies": [{"text": "no", "stop": "refusal"}]}]})
    made = call_scripted(api, script, ())
    assert made.reply is not None
    assert (made.reply.stop, made.sent) == (Stop.REFUSAL, 1)


@EVERYWHERE
@STREAMED_OR_NOT
def test_p16_a_trickle_is_not_an_answer(api: str, stream: bool) -> None:
    """A service that sends a byte now and then is given up as too slow, and tried again."""
    limits = Limits(seconds=60, first=30, idle=0.5)
    with LoopbackModel(SCRIPT, repeat(Trouble(piece=1, pace=0.1), 2)) as model:
        made = Call().make(reach(api, model.url, stream=stream, limits=limits), Patience(attempts=2))
        assert len(model.requests) == 2
    assert isinstance(made.error, ProviderDown)
    assert all("too slow" in told.why for told in made.told)


@EVERYWHERE
@STREAMED_OR_NOT
def test_p17_an_endless_answer_is_cut_off(api: str, stream: bool) -> None:
    """A hundred megabytes are not read: the call fails at its limit, and not again."""
    limits = Limits(most=1_000_000)
    with LoopbackModel(SCRIPT, [Trouble(fill=100_000_000)]) as model:
        made = Call().make(reach(api, model.url, stream=stream, limits=limits))
        assert len(model.requests) == 1
    assert isinstance(made.error, RequestRefused)
    assert "larger than 1000000 bytes" in made.error.message


@EVERYWHERE
@pytest.mark.parametrize("asked", ["-5", "nan", "inf", "-inf", "soon", "", "1e400", "5; 6"])
def test_p18_a_wait_that_makes_no_sense_does_no_harm(api: str, asked: str) -> None:
    """Whatever retry-after says, it neither crashes nor spins: the usual waits are taken."""
    made = call(api, *repeat(_asks(asked), 3))
    assert (made.text, made.sent) == ("all is well", 4)
    assert all(0 <= wait <= 120 for wait in made.clock.waits)
    assert len(made.clock.waits) == 3


@EVERYWHERE
def test_p18_a_date_is_a_wait(api: str) -> None:
    """A date as retry-after is waited for; one that has passed is no wait."""
    then = datetime.now(UTC) + timedelta(minutes=30)
    made = call(api, _asks(format_datetime(then, usegmt=True)))
    assert made.sent == 2
    assert 1700 <= made.clock.passed <= 1800 * 1.25
    past = call(api, _asks("Wed, 21 Oct 2015 07:28:00 GMT"))
    assert (past.text, past.sent) == ("all is well", 2)
    assert past.clock.passed <= 1


@EVERYWHERE
def test_p18_a_wait_of_decades_parks_the_task(api: str) -> None:
    """10⁹ seconds are not waited, and not cut short either."""
    made = call(api, _asks("1000000000"))
    assert isinstance(made.error, ProviderDown)
    assert "1000000000 s" in made.error.message
    assert (made.sent, made.clock.waits) == (1, [])


@EVERYWHERE
@pytest.mark.parametrize("status", [429, 500, 529])
def test_p19_a_service_that_says_no_retry_is_obeyed(api: str, status: int) -> None:
    """With x-should-retry: false even an error that may pass is one request."""
    made = call(api, *repeat(Trouble(status, headers={"x-should-retry": "false"}), 9))
    assert made.error is not None
    assert not isinstance(made.error, ProviderFault)
    assert (made.sent, made.clock.waits) == (1, [])


@EVERYWHERE
def test_p20_a_key_that_was_revoked_parks_the_task(api: str) -> None:
    """401 in the middle of a run is one request, and parks the task as auth; the key is not shown."""
    with LoopbackModel(SCRIPT, [None, Trouble(401, message="invalid key sk-test-key")]) as model:
        provider = reach(api, model.url)
        assert Call().make(provider).text == "all is well"
        made = Call().make(provider)
        assert len(model.requests) == 2
    assert isinstance(made.error, KeyRefused)
    assert made.error.pause == "auth"
    assert "sk-test-key" not in made.error.message


def test_p21_another_provider_has_what_is_left_of_the_attempts(tmp_path: Path) -> None:
    """Attempts that one service failed count for the next one, and the record says who answered."""
    with (
        LoopbackModel(SCRIPT, repeat(Trouble(529), 99)) as first,
        LoopbackModel(SCRIPT, repeat(Trouble(503), 99)) as second,
    ):
        before = Call().make(reach("messages", first.url), Patience(attempts=4))
        after = Call().make(reach("chat", second.url), Patience(attempts=6, used=len(before.told)))
        assert len(first.requests) + len(second.requests) == 6
    assert isinstance(after.error, ProviderDown)
    assert "failed 6 times in a row" in after.error.message
    assert [told.attempt for told in (*before.told, *after.told)] == [1, 2, 3, 4, 5, 6]
    with LoopbackModel(SCRIPT) as third:
        recorded = Recorded(reach("responses", third.url), tmp_path, Redactor())
        recorded.complete(replace(ASKED, model="m-2"))
    assert '"model":"m-2"' in (tmp_path / recorded.last).read_text()


@EVERYWHERE
def test_p22_runs_that_were_limited_together_do_not_come_back_together(api: str) -> None:
    """Eight runs that all hear retry-after 60 wake at eight moments, each within its attempts."""
    with LoopbackModel(SCRIPT, repeat(_asks("60"), 999)) as model:
        runs = [Call().make(reach(api, model.url), Patience(attempts=6)) for _ in range(8)]
        assert len(model.requests) == 8 * 6
    first = sorted(run.clock.waits[0] for run in runs)
    assert all(60 <= wait <= 75 for wait in first)
    assert len(set(first)) == 8
    assert first[-1] - first[0] > 1
    sent = sorted(moment for run in runs for moment in (0.0, *accumulate(run.clock.waits)))
    assert all(sum(start <= moment < start + 60 for moment in sent) <= 8 for start in sent)
    assert all(later - earlier >= 60 for run in runs for earlier, later in _pairs(run))


def _pairs(run: Call) -> Iterator[tuple[float, float]]:
    moments = [0.0, *accumulate(run.clock.waits)]
    return pairwise(moments)


@EVERYWHERE
@STREAMED_OR_NOT
@pytest.mark.parametrize("attempts", [1, 3, 6])
def test_p23_the_server_sees_exactly_the_attempts(api: str, stream: bool, attempts: int) -> None:
    """Under permanent failure there is one layer of retries: requests are as many as were allowed."""
    made = call(api, *repeat(Trouble(503), 99), patience=Patience(attempts=attempts), stream=stream)
    assert made.sent == attempts
    assert isinstance(made.error, ProviderDown)


@EVERYWHERE
def test_p24_what_was_left_of_a_wait_is_kept(api: str) -> None:
    """After a crash in a wait the rest of it passes before anything is sent, and the attempts count on."""
    with LoopbackModel(SCRIPT, repeat(_asks("300"), 99)) as model:
        before = Call().make(reach(api, model.url), Patience(attempts=1))
        assert len(model.requests) == 1
        after = Call().make(reach(api, model.url), Patience(attempts=3, used=1, wait=200.0))
        assert len(model.requests) == 3
    assert isinstance(before.error, ProviderDown)
    assert after.clock.waits[0] == 200.0
    assert [told.attempt for told in after.told] == [2, 3]
