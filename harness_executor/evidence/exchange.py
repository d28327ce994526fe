"""The harness as the HTTP client: one request, and the answer as it came."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import Any

import httpx2

from harness_executor.clock import Clock
from harness_executor.evidence.dialing import Dial, Dialed, here
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.report import Exchange
from harness_executor.kernel.scenario import Call

SECONDS = 30.0
MAX_BODY = 8_000_000
_AGENT = "Mozilla/5.0 (X11; Linux x86_64)"


class Client:
    """A client with a memory for cookies, as one user of the server has."""

    def __init__(self, base_url: str, clock: Clock, dial: Dial = here, *, seconds: float = SECONDS) -> None:
        self.base_url = base_url
        self.clock = clock
        self.seconds = seconds
        self.lines: list[socket] = []
        self.http = httpx2.Client(
            transport=Dialed(dial), trust_env=False, follow_redirects=False, timeout=seconds
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, call: Call) -> Exchange:
        """Send a request; whatever goes wrong is recorded as no answer."""
        headers = {
            "user-agent": _AGENT,
            "accept": "*/*",
            **{name.lower(): str(value) for name, value in call.headers.items()},
        }
        body = call.body
        if call.json is not None:
            body = json.dumps(call.json, ensure_ascii=False)
            headers.setdefault("content-type", "application/json")
        url = f"{self.base_url}{call.path}"
        try:
            if not call.path.startswith("/"):
                raise ValueError(f"the path {call.path!r} does not start with /")
            answer, error = self._ask(call.method.upper(), url, headers, body), ""
        except (httpx2.HTTPError, httpx2.InvalidURL, TooMuch, ValueError) as problem:
            answer, error = None, f"no answer: {type(problem).__name__} {problem}".strip()
        return Exchange(call.method.upper(), url, headers, body, answer, error)

    def _ask(self, method: str, url: str, headers: Mapping[str, str], body: str | None) -> Answer:
        began = self.clock.monotonic()
        content = body.encode() if body is not None else None
        received = bytearray()
        with (
            hang_up_after(self.seconds + 1.0, self.lines) as watched,
            self.http.stream(
                method, url, headers=dict(headers), content=content, extensions=watched
            ) as response,
        ):
            for chunk in response.iter_bytes():
                received += chunk
                if len(received) > MAX_BODY:
                    raise TooMuch(f"the body has more than {MAX_BODY} bytes")
                self._refuse_late(began)
            self._refuse_late(began)  # a line that was cut looks like the end of a body
            latency = round((self.clock.monotonic() - began) * 1000, 1)
            return Answer(
                response.status_code, tuple(response.headers.multi_items()), _text(bytes(received)), latency
            )

    def _refuse_late(self, began: float) -> None:
        if self.clock.monotonic() - began > self.seconds:
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


class TooMuch(Exception):
    """An answer that does not end, or is too large."""


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(body).decode()
