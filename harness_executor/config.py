"""Settings and the environment: the only place that reads either."""

import os
import re
import shutil
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from harness_executor.errors import UsageError
from harness_executor.kernel.budget import Budget, Caps
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.trust import GRANTABLE, USERS_OWN, Wish, too_dear, too_high, unanswered, unheard
from harness_executor.tables import (
    Service,
    read_addresses,
    read_box,
    read_budget,
    read_caps,
    read_hosts,
    read_list,
    read_models,
    read_prices,
    read_services,
)

KEY_NAMES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    "bedrock": (
        *("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
        *("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE", "AWS_ROLE_ARN"),
        *("AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "ANTHROPIC_BEDROCK_BASE_URL"),
    ),
    "vertex": (
        *("ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_OAUTH_ACCESS_TOKEN"),
    ),
    "foundry": ("ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_RESOURCE"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "chat": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "azure": (
        *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"),
    ),
    "openrouter": ("OPENROUTER_API_KEY",),
}
"""What a subagent needs of the user's environment to reach the model of a provider."""

NO_PLUGINS = {"PYDANTIC_DISABLE_PLUGINS": "__all__"}
"""Has pydantic load nothing of other packages, of which the project's own may be one."""

_PROJECT_KEYS = {"models", "caps", "budget"}
_USER_KEYS = {*_PROJECT_KEYS, *USERS_OWN, *GRANTABLE}
_INSIDE = {"secrets": {"allow"}, "network": {"allow"}, "sandbox": {"use", "read"}}
_NETWORK = ("SSL_CERT", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)

DEFAULT_BUDGET = Budget(
    call=Caps(seconds=600.0),
    task=Caps(micros=10_000_000, tokens=20_000_000, turns=400, seconds=8 * 3600.0),
)
"""What may be used when nobody says: ten minutes a call; ten dollars, twenty million tokens, 400 calls and
eight hours a task."""


@frozen
class Settings:
    """What the user and the project asked for."""

    models: Mapping[str, str] = field(default_factory=dict)
    """Model per role; `default` serves every role without one."""
    caps: Mapping[str, int] = field(default_factory=dict)
    """Retry caps as the user set them; a project may lower them, never raise them."""
    budget: Budget = field(default_factory=Budget)
    """Caps of money, tokens, turns and time; a project may lower them, never raise them."""
    services: Mapping[str, Service] = field(default_factory=dict)
    """Model services the user named."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Dollars per million tokens, by model, where the user knows better."""
    secrets: tuple[str, ...] = ()
    """Files that models may see though they look like secrets, as patterns; only the user says so."""
    network: tuple[str, ...] = ()
    """Hosts that commands may reach: the user's, and the project's where the user granted them."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Where the user has databases and others that projects need, by their names; only the user says so."""
    sandbox: str = "auto"
    """The box that commands run in, one of `BOXES`; only the user says so."""
    readable: tuple[str, ...] = ()
    """What else a box may read: the user's, and the project's where the user granted it."""
    wish: Wish = field(default_factory=Wish)
    """What the project asks for beyond the user's own, granted or not."""
    notes: tuple[str, ...] = ()
    """What the project's file asks for in vain."""
    night: str = ""
    """The night this run belongs to, if any."""

    def model(self, role: str) -> str:
        """The model of a role, or nothing."""
        return self.models.get(role) or self.models.get("default", "")


def read_settings(harness: Path, *, model: str = "", caps: Caps | None = None, granted: str = "") -> Settings:
    """Flags over HARNESS_MODEL over the project's config.toml over the user's; the project only narrows."""
    place = harness / "config.toml"
    project = _file(place, _USER_KEYS)
    user, own = user_file(), config_home() / "config.toml"
    models = {**read_models(user.get("models", {}), own), **read_models(project.get("models", {}), place)}
    chosen = model or os.environ.get("HARNESS_MODEL", "")
    if chosen:
        models = {"default": chosen}
    budget = DEFAULT_BUDGET.overridden(read_budget(user.get("budget", {}), own))
    narrower = read_budget(project.get("budget", {}), place)
    tries = {**asdict(Policy()), **read_caps(user.get("caps", {}), own)}
    fewer = read_caps(project.get("caps", {}), place)
    settings = Settings(
        models=models,
        caps={name: min(value, fewer.get(name, value)) for name, value in tries.items()},
        budget=budget.narrowed(narrower).overridden(Budget(task=caps or Caps())),
        services=read_services(user, config_home() / "config.toml"),
        prices=read_prices(user.get("prices", {}), own),
        secrets=read_list(user, "secrets", "allow", own),
        network=read_hosts(user, own),
        addresses=read_addresses(user, own),
        sandbox=read_box(user, own),
        readable=read_list(user, "sandbox", "read", own),
        notes=(*unheard(project), *too_high(tries, fewer, "caps."), *too_dear(budget, narrower)),
        night=os.environ.get("HARNESS_NIGHT", ""),
    )
    return _granted(settings, _wish(project, place, settings), granted)


def _wish(project: Mapping[str, Any], path: Path, mine: Settings) -> Wish:
    hosts, places = read_hosts(project, path), read_list(project, "sandbox", "read", path)
    return Wish(
        tuple(host for host in hosts if host not in mine.network),
        tuple(place for place in places if place not in mine.readable),
    )


def _granted(mine: Settings, wish: Wish, granted: str) -> Settings:
    if wish and wish.digest == granted:
        hosts, places = (*mine.network, *wish.network), (*mine.readable, *wish.readable)
        return replace(mine, wish=wish, network=hosts, readable=places)
    return replace(mine, wish=wish, notes=(*mine.notes, *unanswered(wish)))


def user_file() -> dict[str, Any]:
    """The user's own config.toml; one that holds keys may be read by nobody else."""
    path = config_home() / "config.toml"
    data = _file(path, _USER_KEYS)
    for table, known in _INSIDE.items():
        if unknown := set(data.get(table, {})) - known:
            raise UsageError(
                f"{path}: unknown key {table}.{min(unknown)}", hint=f"known keys: {', '.join(sorted(known))}"
            )
    if data.get("keys") and path.stat().st_mode & 0o077:
        raise UsageError(f"{path} holds keys and others can read it", hint=f"chmod 600 {path}")
    return data


def _file(path: Path, known: set[str]) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: {error}", hint="correct the file; docs/DEVELOPMENT.md lists its keys"
        ) from error
    for name, value in data.items():
        if name in known and not isinstance(value, dict):
            raise UsageError(f"{path}: {name} is not a table", hint=f"write it as [{name}]")
    unknown = set(data) - known
    if unknown:
        raise UsageError(
            f"{path}: unknown key {', '.join(sorted(unknown))}",
            hint=f"known keys: {', '.join(sorted(known))}",
        )
    return data


def config_home() -> Path:
    """Where the user's own config.toml lies."""
    chosen = os.environ.get("HARNESS_CONFIG_HOME")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config") / "harness-executor"


def known_secrets() -> tuple[str, ...]:
    """Every value of the user's environment and config that must appear nowhere."""
    user = user_file()
    given = {service.key_env for service in read_services(user, config_home() / "config.toml").values()}
    return (*_secrets_in_sight(given), *map(str, user.get("keys", {}).values()))


def known_passwords() -> tuple[str, ...]:
    """The passwords of the services that the user has; one may be as short as a word."""
    return passwords_in(read_addresses(user_file(), config_home() / "config.toml").values())


def passwords_in(addresses: Collection[str]) -> tuple[str, ...]:
    """What stands between a user and a host, as it is written and as it is meant."""
    found = (_password(address) for address in addresses)
    return tuple(sorted({part for word in found if word for part in (word, unquote(word))}))


def _password(address: str) -> str:
    try:
        return urlsplit(address).password or ""
    except ValueError:
        return ""


def speakable_secrets() -> tuple[str, ...]:
    """The same for what is said of a config that cannot be read: then the environment alone is known."""
    try:
        return known_secrets()
    except UsageError:
        return _secrets_in_sight(())


def speakable_passwords() -> tuple[str, ...]:
    """The passwords of the services that the user has, as far as the config can be read."""
    try:
        return known_passwords()
    except UsageError:
        return ()


def _secrets_in_sight(given: Collection[str]) -> tuple[str, ...]:
    named = [name for name in os.environ if _SECRET.search(name) or name in given]
    return tuple(value for name in named if len(value := os.environ[name]) >= 12)


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


def leave_out_plugins() -> None:
    """Have no package that is installed beside us add something of its own to what we use."""
    os.environ.update(NO_PLUGINS)


def take_faults() -> tuple[str, str]:
    """The armed faults and where to log them, removed so that no child inherits them."""
    return os.environ.pop("HARNESS_FAULT", ""), os.environ.pop("HARNESS_FAULT_LOG", "")


def safe_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of every program a project brings: no key, no token, no setting of ours."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR") if name in os.environ
    }
    return {"PATH": os.defpath, "HOME": str(_home()), **kept, **(extra or {})}


def model_environment(providers: Collection[str]) -> dict[str, str]:
    """The environment of subagents: enough to reach the models of these, nothing of the project."""
    user = user_file()
    named = {
        name: (given.key_env,) for name, given in read_services(user, config_home() / "config.toml").items()
    }
    wanted = {name for provider in providers for name in {**KEY_NAMES, **named}.get(provider, ())}
    network = tuple(name for name in os.environ if name.upper().startswith(_NETWORK))
    keys = {name: str(value) for name, value in user.get("keys", {}).items() if name in wanted}
    mine = {name: os.environ[name] for name in (*wanted, *network) if name in os.environ}
    return safe_environment({"HARNESS_CONFIG_HOME": str(config_home()), **keys, **mine})


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
    """Is one of these set in the user's environment or config?"""
    keys = user_file().get("keys", {})
    return any(os.environ.get(name) or keys.get(name) for name in names)


def from_environment(*names: str) -> str:
    """The first of these that is set in the user's environment or config, or nothing."""
    keys = user_file().get("keys", {})
    return next((str(found) for name in names if (found := os.environ.get(name) or keys.get(name))), "")


def step_summary() -> Path | None:
    """The file that GitHub Actions shows as the summary of this step, if this is such a step."""
    place = os.environ.get("GITHUB_STEP_SUMMARY", "")
    return Path(place) if place and os.environ.get("GITHUB_ACTIONS") == "true" else None


def wants_colour() -> bool:
    """Has the user not asked for plain text?"""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _home() -> Path:
    return Path(os.environ.get("HOME") or "/nonexistent")
