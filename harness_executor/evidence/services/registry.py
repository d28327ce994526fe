"""Which services can be run here, and what is missing for those that cannot."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from harness_executor.config import config_home, program
from harness_executor.errors import ServiceMissing
from harness_executor.evidence.services.base import Engine
from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.needs import Service

TITLES = {
    "postgresql": "PostgreSQL",
    "redis": "Redis",
    "mysql": "MySQL or MariaDB",
    "mariadb": "MariaDB or MySQL",
    "memcached": "memcached",
    "mongodb": "MongoDB",
    "rabbitmq": "RabbitMQ",
    "elasticsearch": "Elasticsearch",
    "kafka": "Kafka",
}


@frozen
class Found:
    """A kind of service whose programs are on this machine."""

    engine: Engine
    programs: Mapping[str, str]


def engines_of(kind: str) -> tuple[Engine, ...]:
    """The programs that serve a type, the best first; only a project that needs one loads it."""
    match kind:
        case "postgresql":
            from harness_executor.evidence.services.postgresql import PostgreSQL  # noqa: PLC0415 - start-up is a feature

            return (PostgreSQL(),)
        case "redis":
            from harness_executor.evidence.services.redis import Redis  # noqa: PLC0415 - as above

            return (Redis(),)
        case "mysql" | "mariadb":
            from harness_executor.evidence.services.mysql import MariaDB, MySQL  # noqa: PLC0415 - as above

            return (MySQL(), MariaDB()) if kind == "mysql" else (MariaDB(), MySQL())
        case "memcached":
            from harness_executor.evidence.services.memcached import Memcached  # noqa: PLC0415 - as above

            return (Memcached(),)
    return ()


def find(service: Service, project: Path) -> Found:
    """What serves a service here; refuses by naming what to provide."""
    for engine in engines_of(service.type):
        programs = {name: _where(name, engine, project) for name in engine.programs}
        if all(programs.values()):
            return Found(engine, {name: str(path) for name, path in programs.items()})
    raise missing(service)


def missing(service: Service) -> ServiceMissing:
    """That a service cannot be had, and how it could."""
    title = TITLES.get(service.type, service.type)
    engines = engines_of(service.type)
    lacking = f"there is no `{engines[0].programs[0]}` on this machine" if engines else "it is not run here"
    install = f"`apt install {engines[0].package}`, or " if engines else ""
    usual = engines[0].usual.scheme if engines else service.url.partition("://")[0] or service.type
    own = config_home() / "config.toml"
    return ServiceMissing(
        f"the service {service.name} needs {title}, and {lacking}",
        hint=f'{install}`[services]` `{service.name} = "{usual}://HOST:PORT/…"` in {own}, '
        f"or `harness verify --service {service.name}={usual}://HOST:PORT/…`",
    )


def _where(name: str, engine: Engine, project: Path) -> str | None:
    """A program in the search path or in the usual places, never in the project; the newest version wins."""
    found = next(_installed(name, engine), None) or program(name, outside=project)
    return found if found and _is_it(Path(found)) else None


def _is_it(path: Path) -> bool:
    """Is a program there, and not MariaDB under the name of MySQL, whose options it does not know?"""
    is_mariadb = path.name == "mysqld" and (
        "mariadb" in path.resolve().name or path.with_name("mariadbd").exists()
    )
    return path.is_file() and not is_mariadb


def _installed(name: str, engine: Engine) -> Iterator[str]:
    for pattern in engine.places:
        folders = sorted(Path("/").glob(pattern.lstrip("/")), key=_version, reverse=True)
        yield from (str(folder / name) for folder in folders if _is_it(folder / name))


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.as_posix().replace("-", "/").split("/") if part.isdigit())
