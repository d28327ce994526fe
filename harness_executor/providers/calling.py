"""One request to a service through its SDK; whatever goes wrong is a ProviderError."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness_executor.errors import KeyRefused, ModelUnknown, ProviderError
from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Reply, ToolCall, Usage
from harness_executor.providers.failures import answered, broke_off, garbled, lost, request_id, unfinished
from harness_executor.providers.wire import Response, Wire

Document = Mapping[str, Any]


class ErrorEvent(Exception):
    """The service sent an error in the middle of its answer."""

    def __init__(self, body: Any) -> None:
        super().__init__(str(body))
        self.body = body


@frozen
class Reading:
    """How the answers of a protocol are read."""

    whole: Callable[[Any], Reply]
    """A document to a reply."""
    gather: Callable[[Iterable[Any]], Any]
    """The events of a stream to a document, or nothing when the closing event is missing."""
    closing: str
    """The name of the closing event."""


@frozen
class Sdk:
    """What both SDKs have, by other names."""

    client: Any
    wire: Wire
    stream: type[Any]
    """Its class of streams."""
    refused: type[Exception]
    """Its error for a status that is no success; it carries the response."""
    failed: type[Exception]
    """Its error for everything else."""
    secret: str = ""
    """The key, which no message may show."""
    keyless: Any = None
    """What the SDK takes for a header that is left out, for a service without a key."""

    def ask(self, path: str, body: Document, reading: Reading, *, stream: bool) -> Reply:
        """The reply to one request, which is sent once."""
        headers: Mapping[str, str] = {}
        self.wire.forget()
        try:
            if stream:
                answer = self._post(path, body, cast_to=object, stream=True, stream_cls=self.stream[object])
                headers = answer.response.headers
                with answer:
                    document = reading.gather(answer)
            else:
                answer = self._post(path, body, cast_to=Response)
                headers = answer.headers
                document = parse(answer.text)
            if document is None:
                raise unfinished(headers, reading.closing)
            reply = reading.whole(document)
        except Exception as error:
            raise self._named(error, headers) from error
        return replace(reply, id=request_id(headers) or reply.id)

    def _post(self, path: str, body: Document, **how: Any) -> Any:
        """What the service answers; half a letter, which no request can hold, is replaced."""
        options = {} if self.secret or self.keyless is None else {"headers": {"Authorization": self.keyless}}
        post = partial(self.client.post, path, options=options, **how)
        try:
            return post(body=body)
        except UnicodeEncodeError as error:
            if error.encoding != "utf-8":
                raise KeyRefused("the key has letters that no header can hold", hint=_LETTERS) from error
        return post(body=json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")))

    def _named(self, error: Exception, headers: Mapping[str, str]) -> ProviderError:
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, ErrorEvent):
            return broke_off(headers, error.body, self.secret)
        if isinstance(error, self.refused):
            found: Any = error
            if found.status_code == 200:
                return broke_off(found.response.headers, found.body, self.secret)
            return answered(found.status_code, found.response.headers, found.body, self.secret)
        if isinstance(error, ImportError):
            return ModelUnknown(f"the SDK needs another package: {error}", hint=_INSTALL)
        if isinstance(error, self.failed) and type(error).__name__ == "MissingDependencyError":
            return ModelUnknown("the SDK needs another package for this cloud", hint=_INSTALL)
        if isinstance(error, self.failed) and headers and getattr(error, "body", None):
            return broke_off(headers, getattr(error, "body", None), self.secret)
        if isinstance(error, RuntimeError) and not headers:
            return KeyRefused(
                f"there are no credentials: {str(error)[:300]}", hint="sign in to the cloud, or set a key"
            )
        if isinstance(error, (ValueError, TypeError, LookupError, AttributeError)) and self.wire.was_sent:
            return garbled(_words(error), headers, self.secret)
        return lost(error, sent=self.wire.was_sent, secret=self.secret)


_LETTERS = "copy the key again, without quotes and odd signs, then `harness resume`"
_INSTALL = "pip install 'anthropic[bedrock]' or 'anthropic[vertex]'; `harness demo` needs none"


def called(identity: Any, name: Any, arguments: Any) -> ToolCall:
    """A call of a tool, whose arguments may be a text; one that cannot be read has a problem."""
    try:
        found = parse(arguments or "{}") if isinstance(arguments, str) else arguments
    except Ambiguous as error:
        return ToolCall(str(identity), str(name), {}, f"the arguments are not JSON: {error}")
    if not isinstance(found, dict):
        return ToolCall(str(identity), str(name), {}, "the arguments are not a JSON object")
    return ToolCall(str(identity), str(name), found)


def counted(fresh: Any, output: Any, cache_read: Any = 0, cache_write: Any = 0) -> Usage | None:
    """What a call used; nothing when the numbers are none."""
    numbers = [0 if one is None else one for one in (cache_read, cache_write)]
    if any(type(one) is not int or one < 0 for one in (fresh, output, *numbers)):
        return None
    return Usage(fresh, output, *numbers)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
