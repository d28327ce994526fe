"""Settings and the environment: the only place that reads either."""

import os
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from harness_executor.errors import UsageError
from harness_executor.kernel.canonical import STRICT

KEY_NAMES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
"""What a subagent needs of the user's environment to reach its model."""

_PROJECT_KEYS = {"models", "caps"}
_ROLES = {"default", "planner", "executor", "verifier", "reviewer"}
_CAPS = {"self_fix", "respawn", "validation", "verification"}


@dataclass(frozen=True)
class Service:
    """A model service the user named, such as a server on this machine."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    api: Literal["messages", "responses", "chat"] = "chat"
    """The protocol it speaks: Anthropic's Messages, OpenAI's Responses, or Chat Completions."""
    base_url: str = ""
    key_env: str = ""
    """The variable that holds its key; without one, no key is sent."""
    window: int = 0
    """Tokens its models can read at once; 0 when unknown."""
    stream: bool = True
    """Are answers streamed?"""


@dataclass(frozen=True)
class Settings:
    """What the user and the project asked for."""

    models: Mapping[str, str] = field(default_factory=dict)
    """Model per role; `default` serves every role without one."""
    caps: Mapping[str, int] = field(default_factory=dict)
    """Retry caps; a project may lower them, never raise them."""

    def model(self, role: str) -> str:
        """The model of a role, or nothing."""
        return self.models.get(role) or self.models.get("default", "")


def read_settings(harness: Path, *, model: str = "") -> Settings:
    """Flags over HARNESS_MODEL over the project's config.toml."""
    project = _project_file(harness / "config.toml")
    models = _models(project.get("models", {}), harness)
    chosen = model or os.environ.get("HARNESS_MODEL", "")
    if chosen:
        models = {"default": chosen}
    return Settings(models=models, caps=_caps(project.get("caps", {}), harness))


def _project_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: {error}", hint="correct the file; docs/DEVELOPMENT.md lists its keys"
        ) from error
    for name, value in data.items():
        if name in _PROJECT_KEYS and not isinstance(value, dict):
            raise UsageError(f"{path}: {name} is not a table", hint=f"write it as [{name}]")
    unknown = set(data) - _PROJECT_KEYS
    if unknown:
        raise UsageError(
            f"{path}: unknown key {', '.join(sorted(unknown))}",
            hint=f"known keys: {', '.join(sorted(_PROJECT_KEYS))}",
        )
    return data


def _models(models: Mapping[str, Any], harness: Path) -> dict[str, str]:
    for role, name in models.items():
        if role not in _ROLES or not isinstance(name, str):
            raise UsageError(
                f"{harness / 'config.toml'}: models.{role} = {name!r}",
                hint=f"provider:model for {', '.join(sorted(_ROLES))}",
            )
    return dict(models)


def _caps(caps: Mapping[str, Any], harness: Path) -> dict[str, int]:
    for name, value in caps.items():
        if name not in _CAPS or not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise UsageError(
                f"{harness / 'config.toml'}: caps.{name} = {value!r}",
                hint=f"whole numbers for {', '.join(sorted(_CAPS))}",
            )
    return dict(caps)


def state_home() -> Path:
    """Where this user's installation keeps its key and what it has seen."""
    chosen = os.environ.get("HARNESS_STATE_HOME")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_STATE_HOME") or _home() / ".local" / "state") / "harness-executor"


def work_home() -> Path:
    """Where exported trees live while a task runs."""
    chosen = os.environ.get("HARNESS_WORK_HOME")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "harness-executor"


def take_faults() -> tuple[str, str]:
    """The armed faults and where to log them, removed so that no child inherits them."""
    return os.environ.pop("HARNESS_FAULT", ""), os.environ.pop("HARNESS_FAULT_LOG", "")


def safe_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of every program a project brings: no key, no token, no setting of ours."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR") if name in os.environ
    }
    return {"PATH": os.defpath, "HOME": str(_home()), **kept, **(extra or {})}


def model_environment() -> dict[str, str]:
    """The environment of a subagent: enough to reach its model, nothing of the project."""
    names = [
        name
        for name in os.environ
        if name in KEY_NAMES or name.upper().startswith(("SSL_CERT", "HTTPS_PROXY", "NO_PROXY"))
    ]
    return safe_environment({name: os.environ[name] for name in names})


def program(name: str, *, outside: Path) -> str | None:
    """The absolute path of a program, never one inside the project."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=folder) if Path(folder).is_absolute() else None
        if found and not _lies_in(outside, Path(found)):
            return found
    return None


def _lies_in(folder: Path, path: Path) -> bool:
    places = (path.parent.resolve(), path.resolve())
    return any(place.is_relative_to(folder.resolve()) for place in places)


def has_key(*names: str) -> bool:
    """Is one of these set in the user's environment?"""
    return any(os.environ.get(name) for name in names)


def wants_colour() -> bool:
    """Has the user not asked for plain text?"""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _home() -> Path:
    return Path(os.environ.get("HOME") or "/nonexistent")
