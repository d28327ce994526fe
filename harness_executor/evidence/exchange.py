"""The harness as the HTTP client: one request, and the answer as it came."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import Any

import httpx2

from harness_executor.clock import Clock
from harness_executor.evidence.asking import AGENT, REDIRECTS, Asked, as_text, asked, redirected
from harness_executor.evidence.carrying import Dialed
from harness_executor.evidence.dialing import Dial, here
from harness_executor.evidence.streams import events
from harness_executor.kernel.acts import Call, Listening
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Exchange

SECONDS = 30.0
MAX_BODY = 8_000_000
_LONGEST = 120.0
"""How long a stream is listened to, whatever a scenario says."""


class TooMuch(Exception):
    """An answer that does not end, or is too large."""


class Client:
    """A client with a memory for cookies, as one user of the server has."""

    def __init__(
        self, base_url: str, clock: Clock, dial: Dial = here, *, seconds: float = SECONDS, agent: str = AGENT
    ) -> None:
        self.base_url = base_url
        self.clock = clock
        self.dial = dial
        self.seconds = seconds
        self.agent = agent
        self.lines: list[socket] = []
        # a browser sends a cookie that is Secure to this machine too
        jar = CookieJar(DefaultCookiePolicy(secure_protocols=("http", "https")))
        self.http = httpx2.Client(
            transport=Dialed(dial), trust_env=False, follow_redirects=False, timeout=seconds, cookies=jar
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, call: Call, port: int | None = None) -> Exchange:
        """Send a request, to another port if one is given; whatever goes wrong is recorded as no answer."""
        base = self.base_url if port is None else f"http://127.0.0.1:{port}"
        request = Asked(call.method.upper(), f"{base}{call.path}", dict(call.headers), None)
        try:
            if not call.path.startswith("/"):
                raise ValueError(f"the path {call.path!r} does not start with /")
            request = asked(call, base, self.agent)
        except ValueError as problem:
            return _unanswered(request, problem)
        exchange = self._once(request, call.listen)
        return self._followed(exchange, request, call) if call.follow > 0 else exchange

    def _followed(self, exchange: Exchange, request: Asked, call: Call) -> Exchange:
        """The answer at the end of the redirects, with every exchange on the way to it."""
        hops: list[Exchange] = []
        problem = ""
        while not problem and (lead := _lead(exchange)):
            hops.append(exchange)
            try:
                if len(hops) > call.follow:
                    raise ValueError(f"still redirected after {call.follow}: {_way(hops)}")
                request = redirected(request, *lead)
            except ValueError as error:
                problem = f"no answer: {error}"
            else:
                exchange = self._once(request, call.listen)
        if problem:
            return replace(exchange, answer=None, error=problem, hops=tuple(hops))
        return replace(exchange, hops=tuple(hops))

    def _once(self, request: Asked, listening: Listening | None) -> Exchange:
        sent, at = request, self.clock.now().isoformat(timespec="milliseconds")
        seconds = min(listening.seconds, _LONGEST) if listening else self.seconds
        try:
            built = self.http.build_request(
                request.method,
                request.url,
                headers=dict(request.headers),
                content=request.content,
                timeout=seconds,
                extensions=_as_written(request.url),
            )
            if "cookie" in built.headers:
                sent = replace(request, headers={**request.headers, "cookie": built.headers["cookie"]})
            if listening and listening.websocket:
                answer = self._talk(built, sent, listening)
            else:
                answer = self._ask(built, listening, seconds)
        except (httpx2.HTTPError, httpx2.InvalidURL, TooMuch, ValueError, OSError) as problem:
            return replace(_unanswered(sent, problem), at=at)
        return Exchange(sent.method, sent.url, sent.headers, sent.body, answer, at=at)

    def _ask(self, request: httpx2.Request, listening: Listening | None, seconds: float) -> Answer:
        began = self.clock.monotonic()
        grace = 0.0 if listening else 1.0
        with hang_up_after(seconds + grace, self.lines) as watched:
            request.extensions |= watched
            response = self.http.send(request, stream=True)
            try:
                reading = _Reading(response, self.clock, began, seconds)
                body = reading.events(listening.frames) if listening else reading.whole()
            finally:
                response.close()
        latency = round((self.clock.monotonic() - began) * 1000, 1)
        return Answer(response.status_code, tuple(response.headers.multi_items()), body, latency)

    def _talk(self, request: httpx2.Request, sent: Asked, listening: Listening) -> Answer:
        from harness_executor.evidence.websocket import Talk  # noqa: PLC0415 - few scenarios need it

        began = self.clock.monotonic()
        with self.dial(request.url.port or 80) as line:
            response, frames = Talk(line, self.clock, listening).hold(str(request.url), sent.headers)
        headers = tuple((name.lower(), value) for name, value in response.headers.raw_items())
        self.http.cookies.extract_cookies(
            httpx2.Response(response.status_code, headers=list(headers), request=request)
        )
        upgraded = response.status_code == 101
        body = json.dumps(frames, ensure_ascii=False) if upgraded else as_text(bytes(response.body or b""))
        latency = round((self.clock.monotonic() - began) * 1000, 1)
        return Answer(response.status_code, headers, body, latency)


@frozen
class _Reading:
    """The body of an answer, while it comes."""

    response: httpx2.Response
    clock: Clock
    began: float
    seconds: float

    def whole(self) -> str:
        """All of it; raises TooMuch when it does not end."""
        return as_text(b"".join(self._chunks()), self.response.charset_encoding or "")

    def events(self, wanted: int) -> str:
        """The first events of a stream, as JSON; an answer that is no stream is read as it is."""
        kind = self.response.headers.get("content-type", "")
        if not self.response.is_success or not kind.startswith("text/event-stream"):
            return self.whole()
        found: list[Any] = []
        coming = events(self._chunks())
        try:
            while len(found) < wanted and (event := next(coming, None)) is not None:
                found.append(event)
        except (httpx2.HTTPError, TooMuch) as error:
            if not self._is_late():
                raise
            raise TooMuch(f"{len(found)} of {wanted} events came within {self.seconds:g} s") from error
        return json.dumps(found, ensure_ascii=False)

    def _chunks(self) -> Iterator[bytes]:
        received = 0
        for chunk in self.response.iter_bytes():
            received += len(chunk)
            if received > MAX_BODY:
                raise TooMuch(f"the body has more than {MAX_BODY} bytes")
            self._refuse_late()
            yield chunk
        self._refuse_late()  # a line that was cut looks like the end of a body

    def _is_late(self) -> bool:
        return self.clock.monotonic() - self.began > self.seconds

    def _refuse_late(self) -> None:
        if self._is_late():
            raise TooMuch(f"the body did not end within {self.seconds:g} s")


@contextmanager
def hang_up_after(seconds: float, lines: list[socket]) -> Iterator[dict[str, Any]]:
    """Cut the lines of a client when its time is over: a server may say a little now and then for ever."""

    def see(event: str, about: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            lines.append(about["return_value"].get_extra_info("socket"))

    def hang_up() -> None:
        for line in lines:
            with suppress(OSError):
                line.shutdown(SHUT_RDWR)

    timer = Timer(seconds, hang_up)
    timer.start()
    try:
        yield {"trace": see}
    finally:
        timer.cancel()


def _lead(exchange: Exchange) -> tuple[int, str] | None:
    """How and where an answer leads on, if it does."""
    answer = exchange.answer
    if answer is None or answer.status not in REDIRECTS:
        return None
    location = answer.header("location")
    return None if location is None else (answer.status, location)


def _as_written(url: str) -> dict[str, bytes]:
    """The path as a scenario has it: by itself, the library would follow every `..` in it."""
    place = "/" + "".join(url.split("/", 3)[3:])
    if not {".", ".."} & set(re.split("[?#]", place)[0].split("/")):
        return {}
    more = len(place) - len(place.lstrip("/")) - 1  # slashes that would begin the name of a host
    return {"target": b"/" * more + httpx2.URL(place[more:]).raw_path}


def _way(hops: list[Exchange]) -> str:
    return " → ".join(hop.asked.split(" ", 1)[1] for hop in hops)


def _unanswered(request: Asked, problem: Exception) -> Exchange:
    error = f"no answer: {type(problem).__name__} {problem}".strip()
    try:
        body = request.body
    except ValueError:
        body = None
    return Exchange(request.method, request.url, request.headers, body, None, error)
