"""The HTTP client that every SDK is given: bounded in time, in silence and in size."""

import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from harness_executor.clock import Clock, SystemClock
from harness_executor.kernel.frozen import frozen

LOOPBACK = ("127.0.0.1", "::1", "localhost")
CONNECT_SECONDS = 10.0
KEEP_SECONDS = 60.0
"""How long a connection is kept for the next request; a turn is often longer than the usual 5 s."""

END_SECONDS = 0.1
"""How long the end of an answer is waited for that was already understood."""

Response = httpx2.Response
Progress = Callable[[int], None]
"""Told how many bytes came, each time some came."""


@frozen
class Limits:
    """What one request may take."""

    seconds: float = 600.0
    """From the first byte sent to the last received."""
    first: float = 300.0
    """Until the first byte of the answer itself; a model on a slow machine reads its prompt first."""
    idle: float = 90.0
    """Silence within an answer."""
    least: int = 64
    """Bytes that end a silence; a byte now and then does not."""
    most: int = 32_000_000
    """Bytes received."""

    def unstreamed(self) -> "Limits":
        """The same for an answer that comes all at once, after a silence."""
        return replace(self, first=self.seconds)


@frozen
class Access:
    """How a service is reached."""

    base_url: str = ""
    """Its address; empty where the SDK knows it."""
    key: str = ""
    """What opens it; without one, none is sent."""
    stream: bool = True
    """Are answers streamed?"""
    limits: Limits = Limits()
    progress: Progress | None = None

    def wire(self) -> "Wire":
        """A new way to it."""
        return Wire(self.limits if self.stream else self.limits.unstreamed(), self.progress)


class Breach(Exception):
    """A request took more than it may."""


class TooSlow(Breach):
    """It took too long, or was silent too long."""


class TooLarge(Breach):
    """More came than is read."""


class Encoded(Breach):
    """The answer came in an encoding that nobody asked for, so that its size says nothing."""


class Watch:
    """What one request has taken so far."""

    def __init__(self, limits: Limits, clock: Clock, progress: Progress | None) -> None:
        self.limits = limits
        self.clock = clock
        self.progress = progress
        self.begun = self.since = clock.monotonic()
        self.received = self.lately = 0
        self.is_sent = False
        """Did the whole request leave?"""
        self.flows = False
        """Has the answer itself begun?"""

    def allowance(self) -> float:
        """Seconds until the next byte must be there."""
        now, limits = self.clock.monotonic(), self.limits
        silence = self.since + limits.idle if self.flows else self.begun + limits.first
        left = min(silence, self.begun + limits.seconds) - now
        if left <= 0:
            raise self.late()
        return left

    def hurry(self, seconds: float) -> None:
        """Give it no more than this from now on."""
        spent = self.clock.monotonic() - self.begun
        self.limits = replace(self.limits, seconds=min(self.limits.seconds, spent + seconds))

    def late(self) -> TooSlow:
        """Why it is too late now."""
        limits = self.limits
        if self.clock.monotonic() - self.begun >= limits.seconds:
            return TooSlow(f"no whole answer within {limits.seconds:g} s")
        if self.flows:
            return TooSlow(f"less than {limits.least} bytes within {limits.idle:g} s")
        return TooSlow(f"no answer began within {limits.first:g} s")

    def heard(self, size: int) -> None:
        """Note that bytes came."""
        self.received += size
        self.lately += size
        if self.lately >= self.limits.least:
            self.since, self.lately = self.clock.monotonic(), 0
        if self.received > self.limits.most:
            raise TooLarge(f"the answer is larger than {self.limits.most} bytes")
        if size and self.progress:
            self.progress(size)

    def sending(self, content: Iterable[bytes]) -> Iterator[bytes]:
        """The request's body, with a note when all of it is gone."""
        yield from content
        self.is_sent = True

    def flowing(self, content: Iterable[bytes]) -> Iterator[bytes]:
        """The answer's body, with a note when it begins."""
        for part in content:
            if not self.flows:
                self.flows, self.since = True, self.clock.monotonic()
            yield part


class Wire(httpx2.BaseTransport):
    """The way to one service; a thread has one request under way."""

    def __init__(self, limits: Limits, progress: Progress | None = None, clock: Clock | None = None) -> None:
        self.limits = limits
        self.progress = progress
        self.clock = clock or SystemClock()
        self.local = threading.local()
        self.lock = threading.Lock()
        self.pools: dict[tuple[str, str], Any] = {}
        self.network: httpcore2.NetworkBackend = httpcore2.SyncBackend()

    def watch(self) -> Watch:
        """Of the request that this thread has under way."""
        found: Watch = self.local.watch
        return found

    def rehearse(self, answer: bytes) -> None:
        """Answer the next request from these bytes, with no network at all."""
        self.network = httpcore2.MockBackend([answer])

    def forget(self) -> None:
        """Nothing is under way."""
        self.local.watch = None

    @property
    def was_sent(self) -> bool:
        """Did the last request of this thread leave as a whole?"""
        watch = getattr(self.local, "watch", None)
        return watch is not None and watch.is_sent

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its answer is read under the same limits."""
        watch = self.local.watch = Watch(self.limits, self.clock, self.progress)
        url = request.url
        asked = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=_Sending(watch, request.stream),
            extensions=request.extensions,
        )
        answer = self._pool(url.scheme, url.host).handle_request(asked)
        response = httpx2.Response(
            answer.status, headers=answer.headers, stream=_Flowing(watch, answer.stream)
        )
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding not in ("", "identity"):
            response.close()
            raise Encoded(f"the answer is encoded with {encoding[:40]}, which was not asked for")
        return response

    def close(self) -> None:
        """Close every connection."""
        for pool in self.pools.values():
            pool.close()

    def _pool(self, scheme: str, host: str) -> Any:
        with self.lock:
            if (scheme, host) not in self.pools:
                self.pools[scheme, host] = _pool(scheme, host, _Network(self))
            return self.pools[scheme, host]


class _Sending(httpx2.SyncByteStream):
    def __init__(self, watch: Watch, inner: Any) -> None:
        self.watch, self.inner = watch, inner

    def __iter__(self) -> Iterator[bytes]:
        return self.watch.sending(self.inner)


class _Flowing(_Sending):
    parts: Iterator[bytes] | None = None

    def __iter__(self) -> Iterator[bytes]:
        self.parts = self.watch.flowing(self.inner)
        return self.parts

    def close(self) -> None:
        """Read the end that an SDK has no interest in, so that the connection can be used again."""
        if self.parts is not None:
            self.watch.hurry(END_SECONDS)
            with suppress(Exception):
                next(self.parts, None)
        self.inner.close()


class _Network(httpcore2.NetworkBackend):
    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        within = min(timeout or CONNECT_SECONDS, self.wire.watch().allowance())
        network = self.wire.network
        return _Stream(self.wire, network.connect_tcp(host, port, within, local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    def __init__(self, wire: Wire, inner: httpcore2.NetworkStream) -> None:
        self.wire, self.inner = wire, inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - the watch knows it
        watch = self.wire.watch()
        try:
            found = self.inner.read(max_bytes, watch.allowance())
        except httpcore2.ReadTimeout as error:
            raise watch.late() from error
        watch.heard(len(found))
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.inner.write(buffer, min(timeout or CONNECT_SECONDS, self.wire.watch().allowance()))

    def close(self) -> None:
        self.inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self.wire, self.inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self.inner.get_extra_info(info)


def client(wire: Wire) -> httpx2.Client:
    """What an SDK takes as its `http_client`: no redirects, no netrc, nothing compressed."""
    timeout = httpx2.Timeout(wire.limits.seconds, connect=CONNECT_SECONDS, write=wire.limits.idle)
    return httpx2.Client(
        transport=wire, timeout=timeout, trust_env=False, headers={"accept-encoding": "identity"}
    )


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """Whom this machine trusts; loading it takes longer than a request on loopback."""
    return httpx2.create_ssl_context()


def _proxy(scheme: str, host: str) -> str:
    """The user's proxy for a host; never for this machine."""
    found = getproxies() if scheme == "https" and host not in LOOPBACK else {}
    proxy = found.get("https") or found.get("all") or ""
    if not proxy or proxy_bypass(host):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _pool(scheme: str, host: str, network: httpcore2.NetworkBackend) -> Any:
    means: dict[str, Any] = {
        "ssl_context": certificates() if scheme == "https" else None,
        "network_backend": network,
        "keepalive_expiry": KEEP_SECONDS,
        "max_connections": 16,
    }
    proxy = _proxy(scheme, host)
    if not proxy:
        return httpcore2.ConnectionPool(**means)
    known = httpx2.Proxy(proxy)
    kind = httpcore2.SOCKSProxy if known.url.scheme.startswith("socks") else httpcore2.HTTPProxy
    return kind(proxy_url=str(known.url), proxy_auth=known.raw_auth, **means)
