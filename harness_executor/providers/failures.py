"""What a failure of a service means: whether it may pass, and what to do."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from harness_executor.clock import SystemClock
from harness_executor.errors import (
    ContextOverflow,
    Fault,
    KeyRefused,
    ProviderError,
    ProviderFault,
    QuotaSpent,
    RequestRefused,
)
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.wire import Breach, TooLarge

LONGEST = 480

_PASSING = {408, 409, 425, 429, 529}
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|enforced_spend_limit|spend(?:ing)?[ _]limit"
    r"|billing_(?:error|hard_limit|not_active)|credit balance|insufficient (?:credits|balance|funds)",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"prompt is too long|input is too long|context_?(?:length|window)_?exceeded|exceed_context_size"
    r"|string_above_max_length|prompt_too_long"
    r"|(?:maximum|available|model's) context|exceeds? (?:the )?context|context (?:window|limit) of",
    re.IGNORECASE,
)
_KEY = re.compile(r"\b((?:sk|pk|key)-)[\w*.-]{6,}")
_STATUSES = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "validationexception": 400,
    "context_length_exceeded": 400,
    "model_context_window_exceeded": 400,
    "exceed_context_size_error": 400,
    "string_above_max_length": 400,
    "prompt_too_long": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "modeltimeoutexception": 408,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "throttlingexception": 429,
    "api_error": 500,
    "server_error": 500,
    "internalserverexception": 500,
    "serviceunavailableexception": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that stands for an error that is sent after 200."""


@frozen
class Said:
    """What a service said when it refused."""

    kind: str
    """The names it has for the error."""
    words: str


def answered(status: int, headers: Mapping[str, str], body: Any, secret: str = "") -> ProviderError:
    """The error of an answer that is no success."""
    said = _said(body)
    fault = Fault(status, request_id(headers), wait_asked(headers))
    named = f" (request {fault.request_id})" if fault.request_id else ""
    message = _tidy(f"the model's service answered {status}{named}: {said.words or 'nothing'}", secret)
    if headers.get("x-should-retry", "").lower() == "false" and _kind(status, said) is ProviderFault:
        return RequestRefused(message, hint="the service says that trying again is of no use", said=fault)
    return _named(_kind(status, said), message, fault)


def broke_off(headers: Mapping[str, str], body: Any, secret: str = "") -> ProviderError:
    """The error that a service sent in the middle of its answer."""
    said = _said(body)
    status = _status(said)
    fault = Fault(status, request_id(headers), wait_asked(headers), billed=True)
    named = f" (request {fault.request_id})" if fault.request_id else ""
    message = _tidy(f"the model's service broke off its answer{named}: {said.kind} {said.words}", secret)
    words = _kind(200, said)
    return _named(words if words is not ProviderFault else _kind(status, said), message, fault)


def unfinished(headers: Mapping[str, str], what: str) -> ProviderFault:
    """A stream that ended without the event that closes it."""
    fault = Fault(200, request_id(headers), billed=True)
    return ProviderFault(
        f"the model's answer ended before {what}",
        hint="the service cut it off; it is asked again",
        said=fault,
    )


def garbled(error: object, headers: Mapping[str, str], secret: str = "") -> ProviderFault:
    """An answer that is not what the protocol says."""
    fault = Fault(200, request_id(headers), billed=True)
    message = _tidy(f"the model's service sent something that is no answer: {error}", secret)
    return ProviderFault(message, hint="check that the base URL is a model's address", said=fault)


def lost(error: BaseException, *, sent: bool, secret: str = "") -> ProviderError:
    """The error of a request that got no whole answer."""
    chain = list(_causes(error))
    breach = next((one for one in chain if isinstance(one, Breach)), None)
    fault = Fault(billed=sent)
    if isinstance(breach, TooLarge):
        return RequestRefused(
            f"the model's service said too much: {breach}",
            hint="see the base URL, or ask for less",
            said=fault,
        )
    if breach is not None:
        return ProviderFault(
            f"the model's service is too slow: {breach}", hint="see the service's status", said=fault
        )
    why = next((str(one) for one in reversed(chain) if str(one)), type(error).__name__)
    what = "was lost" if sent else "could not be reached"
    message = _tidy(f"the model's service {what}: {why}", secret)
    return ProviderFault(message, hint="check the network, the proxy and the base URL", said=fault)


def request_id(headers: Mapping[str, str]) -> str:
    """The service's name for the call."""
    names = ("request-id", "x-request-id", "x-amzn-requestid", "apim-request-id")
    found = next((headers[name] for name in names if headers.get(name)), "")
    return re.sub(r"[^\w.:-]", "", found)[:100]


def wait_asked(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds the service asks to wait, as it asks; nothing when it makes no sense."""
    millis = _number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return millis / 1000
    asked = headers.get("retry-after", "")
    seconds = _number(asked)
    if seconds is not None:
        return seconds
    try:
        then = parsedate_to_datetime(asked)
        return max(0.0, (then - (now or SystemClock().now())).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float | None:
    if not re.fullmatch(r"\s*\d{1,12}(?:\.\d{0,9})?\s*", text, re.ASCII):
        return None
    return float(text)


def _status(said: Said) -> int:
    """The status that an error after 200 stands for: its number, or what its names say."""
    names = said.kind.lower().split()
    numbers = [int(name) for name in names if re.fullmatch(r"[45]\d\d", name, re.ASCII)]
    return next(iter([*numbers, *(_STATUSES[name] for name in names if name in _STATUSES)]), 200)


def _named(kind: type[ProviderError], message: str, fault: Fault) -> ProviderError:
    hints: dict[type[ProviderError], str] = {
        QuotaSpent: "add credit or raise the limit at the service, then `harness resume`",
        KeyRefused: "set a key that is valid for this model, then `harness resume`",
        ContextOverflow: "split the request into smaller ones, or use a model with a larger window",
        RequestRefused: "check the name of the model and the base URL",
        ProviderFault: "see the service's status",
    }
    return kind(message, hint=hints[kind], said=fault)


def _kind(status: int, said: Said) -> type[ProviderError]:
    everything = f"{said.kind} {said.words}"
    if status == 402 or (status in (200, 400, 403, 429) and _QUOTA.search(everything)):
        return QuotaSpent
    if status in (401, 403):
        return KeyRefused
    if status in (200, 400, 413, 422) and _OVERFLOW.search(everything):
        return ContextOverflow
    if status in _PASSING or status >= 500 or status == 200:
        return ProviderFault
    return RequestRefused


def _said(body: Any) -> Said:
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        details = error.get("details")
        code = details.get("error_code") if isinstance(details, Mapping) else None
        names = [str(name) for name in (error.get("type"), error.get("code"), code) if name]
        return Said(" ".join(names), str(error.get("message") or error.get("detail") or ""))
    return Said("", str(error or ""))


def _tidy(text: str, secret: str) -> str:
    hidden = (text.replace(secret, "***") if secret else text)[:4000]
    plain = "".join(letter if letter.isprintable() else " " for letter in _KEY.sub(r"\1***", hidden))
    words = " ".join(plain.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _causes(error: BaseException) -> list[BaseException]:
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and cause not in found:
        found.append(cause)
    return found
