"""When a server counts as up, as a project says it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.sections import section, words

_KINDS = {**{kind: kind for kind in ("http", "tcp", "log", "process", "none")}, "log_pattern": "log"}


@frozen
class Readiness:
    """When a server counts as up."""

    type: str = ""
    """`http`, `tcp`, `log`, `process` or `none`; empty when nobody said."""
    endpoint: str = ""
    """What is asked for; empty when nobody said, and then no meaning is read into an answer."""
    expected_status: int | None = None
    """The status that counts; without one, any from 200 to 299."""
    pattern: str = ""
    port: int | None = None
    """The port of a server that takes no other."""
    timeout_seconds: float = 30.0
    body_contains: str = ""
    """A text that the answer must hold."""
    command: str = ""
    """A command that ends with code 0 once the server is up."""
    lenient: bool = False
    """Will any answer below 500 do after a while? A change may be about the very page that is asked for."""


def read_readiness(data: Mapping[str, Any], path: Path) -> Readiness:
    """The readiness that a project asks for."""
    config = {**data, **section(data, "config")}
    said = str(data.get("type") or "")
    kind = _KINDS.get(said, "")
    if said and not kind:
        raise UsageError(
            f"{path.name}: startup.readiness.type is {said!r}",
            hint="http, tcp, log_pattern, process and none are known",
        )
    if kind == "process" and not config.get("command"):
        raise UsageError(
            f"{path.name}: startup.readiness has no command",
            hint="config.command is run until it ends with code 0",
        )
    try:
        return _readiness(kind, config, path)
    except (TypeError, ValueError, re.error) as error:
        raise UsageError(
            f"{path.name}: startup.readiness: {error}",
            hint="expected_status and timeout_seconds are numbers, pattern is a regular expression",
        ) from error


def _readiness(kind: str, config: Mapping[str, Any], path: Path) -> Readiness:
    port, endpoint = str(config.get("port")), str(config.get("endpoint") or "")
    return Readiness(
        kind,
        "/" + endpoint.lstrip("/") if endpoint else "",
        int(config.get("expected_status") or 0) or None,
        re.compile(str(config.get("pattern") or "")).pattern,
        int(port) if port.isdigit() else None,
        float(config.get("timeout_seconds") or 30),
        str(config.get("body_contains") or ""),
        words(config.get("command") or "", "startup.readiness.command", path),
        config.get("lenient") is True,
    )
