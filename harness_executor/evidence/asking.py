"""The request of a step as it is sent: its address, its headers, and its JSON, text or form as bytes."""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlencode, urljoin, urlsplit

from harness_executor.kernel.acts import Call, Upload
from harness_executor.kernel.frozen import frozen

BASE64 = "base64:"
"""Begins a text that stands for bytes which are no text."""
REDIRECTS = (301, 302, 303, 307, 308)
AGENT = "Mozilla/5.0 (X11; Linux x86_64)"
OTHER_AGENT = f"{AGENT[:-1]}; rv:140.0) Gecko/20100101 Firefox/140.0"
"""Who every second run asks as, so that to work for one known client is not enough."""
_CHARSETS = re.compile(
    r"iso-?8859-\d+|latin-?1|(?:windows|cp)-?125\d|utf-16(?:le|be)?|shift_jis|euc-(?:jp|kr)"
    r"|gbk|gb2312|gb18030|big5|koi8-[ru]",
    re.IGNORECASE,
)
"""What a server may say that its text is in, besides UTF-8; codecs that change more than letters are none."""
_HERE = ("127.0.0.1", "localhost")


@frozen
class Asked:
    """One request, ready to be sent."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None

    @property
    def body(self) -> str | None:
        """The body as it is written down."""
        return None if self.content is None else as_text(self.content)


class Astray(ValueError):
    """A redirect that is not followed."""


def asked(call: Call, base_url: str, agent: str = AGENT) -> Asked:
    """What is sent for a step; raises ValueError when it cannot be said in HTTP."""
    headers = {
        "user-agent": agent,
        "accept": "text/event-stream" if call.listen and not call.listen.websocket else "*/*",
        **{name.lower(): str(value) for name, value in call.headers.items()},
    }
    content, kind = _content(call)
    if kind:
        headers.setdefault("content-type", kind)
    return Asked(call.method.upper(), f"{base_url}{call.path}", headers, content)


def redirected(last: Asked, status: int, location: str) -> Asked:
    """The request that a redirect asks for; raises Astray when it leads to anything but the same server."""
    target = urlsplit(urljoin(last.url, location))
    origin = urlsplit(last.url)
    port = target.port or 80
    if target.scheme != "http" or target.hostname not in _HERE or port != (origin.port or 80):
        raise Astray(f"a redirect to {location} is not followed: it leads away from the server under test")
    url = target._replace(netloc=origin.netloc, fragment="").geturl()
    if status in (307, 308) or last.method in ("GET", "HEAD"):
        return replace(last, url=url)
    headers = {name: value for name, value in last.headers.items() if not name.startswith("content-")}
    return Asked("GET", url, headers)


def as_text(content: bytes, charset: str = "") -> str:
    """Bytes as text, in UTF-8 or in what they are said to be in, or as base64 when they are none."""
    said = [charset] if _CHARSETS.fullmatch(charset) else []
    # wide characters can be read as UTF-8 too, each with a zero
    for encoding in [*said, "utf-8"] if b"\0" in content else ["utf-8", *said]:
        with suppress(UnicodeDecodeError, LookupError):
            return content.decode(encoding)
    return BASE64 + base64.b64encode(content).decode()


def as_bytes(text: str) -> bytes:
    """What a text of a scenario stands for: itself in UTF-8, or the bytes it has as base64."""
    if not text.startswith(BASE64):
        return text.encode()
    try:
        return base64.b64decode(text.removeprefix(BASE64), validate=True)
    except binascii.Error:
        return text.encode()


def _content(call: Call) -> tuple[bytes | None, str]:
    if call.json is not None:
        return json.dumps(call.json, ensure_ascii=False).encode(), "application/json"
    if call.files:
        return _multipart(call)
    if call.form:
        return urlencode(list(_fields(call))).encode(), "application/x-www-form-urlencoded"
    return (as_bytes(call.body), "") if call.body is not None else (None, "")


def _fields(call: Call) -> Iterator[tuple[str, str]]:
    for name, value in call.form.items():
        yield from ((name, one) for one in ((value,) if isinstance(value, str) else value))


def _multipart(call: Call) -> tuple[bytes, str]:
    """A form with files; its boundary comes of what it holds, so that every server gets the same bytes."""
    parts = [(f'name="{_quoted(name)}"', "", value.encode()) for name, value in _fields(call)]
    parts += [_file(name, upload) for name, upload in call.files.items()]
    boundary = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
    body = b"".join(
        b"--%s\r\ncontent-disposition: form-data; %s%s\r\n\r\n%s\r\n"
        % (boundary.encode(), naming.encode(), kind.encode(), content)
        for naming, kind, content in parts
    )
    return body + b"--%s--\r\n" % boundary.encode(), f"multipart/form-data; boundary={boundary}"


def _file(name: str, upload: Upload) -> tuple[str, str, bytes]:
    if "\r" in upload.type or "\n" in upload.type:
        raise ValueError(f"the type {upload.type!r} of a file has more than one line")
    naming = f'name="{_quoted(name)}"; filename="{_quoted(upload.name)}"'
    return naming, f"\r\ncontent-type: {upload.type}", as_bytes(upload.text)


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
