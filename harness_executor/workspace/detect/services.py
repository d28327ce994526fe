"""Other programs that a project talks to, from its packages, its compose files and its code."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from harness_executor.kernel.frozen import frozen
from harness_executor.workspace.detect.declared import COMPOSE
from harness_executor.workspace.detect.pydialects import dialect
from harness_executor.workspace.detect.reading import Files, section
from harness_executor.workspace.detect.unit import Unit, is_decoy
from harness_executor.workspace.detect.values import Service, Stack
from harness_executor.workspace.detect.variables import example_values
from harness_executor.workspace.needs import NAME


@frozen
class Known:
    """A kind of service, and what gives it away."""

    type: str
    port: int
    scheme: str
    packages: frozenset[str]
    images: tuple[str, ...]
    stems: str
    """How the names of its variables begin, as a pattern."""
    urls: str
    """Whole names of variables that hold its address, as a pattern."""


def _known(type_: str, port: int, scheme: str, packages: str, images: str, *patterns: str) -> Known:
    return Known(type_, port, scheme, frozenset(packages.split()), tuple(images.split()), *patterns)


KNOWN = (
    _known(
        "postgresql",
        5432,
        "postgresql",
        "psycopg2 psycopg2-binary psycopg psycopg-binary asyncpg pg8000 aiopg pg postgres pg-promise "
        "@fastify/postgres fastify-postgres slonik massive",
        "postgres postgis timescale pgvector",
        r"(?:POSTGRES(?:QL)?|PG|DB|DATABASE|SQL|RDS|TYPEORM)_{0,2}",
        r"(?:.*_)?(?:DATABASE|DB|POSTGRES(?:QL)?|PG)_{0,2}(?:URL|URI|DSN)|.*SQLALCHEMY_DATABASE_UR[IL]|DB_CONNECTION",
    ),
    _known(
        "mysql",
        3306,
        "mysql",
        "mysqlclient pymysql aiomysql asyncmy mysql-connector-python mysql mysql2 "
        "@fastify/mysql fastify-mysql",
        "mysql",
        r"(?:MYSQL|DB|DATABASE|SQL)_{0,2}",
        r"(?:.*_)?(?:DATABASE|DB|MYSQL)_{0,2}(?:URL|URI|DSN)|.*SQLALCHEMY_DATABASE_UR[IL]",
    ),
    _known(
        "mariadb",
        3306,
        "mysql",
        "mariadb",
        "mariadb",
        r"(?:MARIADB|MYSQL|DB|DATABASE)_{0,2}",
        r"(?:.*_)?(?:DATABASE|DB|MARIADB)_{0,2}(?:URL|URI)",
    ),
    _known(
        "redis",
        6379,
        "redis",
        "redis aioredis django-redis flask-redis ioredis @redis/client arq rq bullmq bull connect-redis "
        "catbox-redis @hapi/catbox-redis @fastify/redis fastify-redis koa-redis @keyv/redis bee-queue kue "
        "rate-limit-redis @socket.io/redis-adapter cache-manager-redis-store cache-manager-ioredis-yet "
        "@adonisjs/redis",
        "redis valkey",
        r"(?:REDIS|CACHE)_{0,2}",
        r"(?:.*_)?(?:REDIS|CACHE|CELERY_BROKER|CELERY_RESULT_BACKEND|BROKER)_{0,2}(?:URL|URI|DSN)?",
    ),
    _known(
        "mongodb",
        27017,
        "mongodb",
        "pymongo motor mongoengine beanie odmantic mongoose mongodb flask-pymongo mongoengine "
        "@fastify/mongodb fastify-mongodb connect-mongo monk agenda",
        "mongo",
        r"(?:MONGO(?:DB)?|DB)_{0,2}",
        r"(?:.*_)?(?:MONGO(?:DB)?|DATABASE|DB)_{0,2}(?:URL|URI|DSN|CONNECTION_STRING|CONNECT)|MONGOLAB_URI",
    ),
    _known(
        "memcached",
        11211,
        "memcached",
        "pymemcache pylibmc python-memcached aiomcache memjs memcached",
        "memcached",
        r"(?:MEMCACHED?|CACHE)_{0,2}",
        r"MEMCACHED?_?(?:URL|SERVERS?)",
    ),
    _known(
        "rabbitmq",
        5672,
        "amqp",
        "pika aio-pika kombu amqp amqplib amqp-connection-manager",
        "rabbitmq",
        r"(?:RABBIT(?:MQ)?|AMQP)_{0,2}",
        r"(?:.*_)?(?:RABBIT(?:MQ)?|AMQP|CELERY_BROKER|BROKER)_{0,2}(?:URL|URI)",
    ),
    _known(
        "elasticsearch",
        9200,
        "http",
        "elasticsearch @elastic/elasticsearch opensearch-py",
        "elasticsearch opensearch",
        r"(?:ELASTIC(?:SEARCH)?|ES)_{0,2}",
        r"ELASTIC(?:SEARCH)?_?(?:URL|URI|HOSTS?|NODE|ADDRESS)",
    ),
    _known(
        "kafka",
        9092,
        "kafka",
        "kafka-python aiokafka confluent-kafka kafkajs",
        "kafka redpanda",
        r"KAFKA_{0,2}",
        r"KAFKA_?(?:URL|BROKERS?|BOOTSTRAP_SERVERS)",
    ),
)
_PARTS = {
    "host_env": r"(?:HOST(?:NAME)?|SERVER|ADDR(?:ESS)?)",
    "port_env": r"PORT",
    "user_env": r"USER(?:NAME)?",
    "password_env": r"PASS(?:WORD|WD)?",
    "database_env": r"(?:DB|DATABASE|NAME|DB_NAME|DATABASE_NAME|DBNAME)",
}
_SECRETS = ("user_env", "password_env")
_UNASKED = {
    "host_env": "PGHOST",
    "port_env": "PGPORT",
    "user_env": "PGUSER",
    "password_env": "PGPASSWORD",
    "database_env": "PGDATABASE",
}
"""What every client of PostgreSQL reads for a part of the address that the program leaves out."""
_SCHEMES = {
    "postgres": "postgresql",
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mariadb",
    "redis": "redis",
    "mongodb": "mongodb",
    "amqp": "rabbitmq",
}
_SQLITE = re.compile(r"sqlite", re.I)


@frozen
class _Seen:
    """A kind of service that something gives away."""

    known: Known
    name: str
    reasons: tuple[str, ...]
    required: bool
    data: Mapping[str, Any]
    """What a compose file says of it."""


def services(unit: Unit, stack: Stack) -> tuple[Service, ...]:
    """The services that a stack needs, each with why, and how it is told where they are."""
    examples = example_values(unit.files, unit.above())
    names = {variable.name for variable in stack.variables} | set(examples)
    seen = list(_seen(unit, stack, examples))
    connections: dict[str, dict[str, str | int]] = {}
    more: dict[str, tuple[str, ...]] = {}
    for one in sorted(seen, key=lambda one: not one.required):
        free = {name for name in names if _leads_to(examples.get(name, "")) in ("", one.known.type)}
        connections[one.name] = _connection(unit, stack, one.known, free, one.data)
        more[one.name] = tuple(_more(connections[one.name], examples, one.known, free))
        names -= {*map(str, connections[one.name].values()), *more[one.name]}
    found = [
        Service(one.name, one.known.type, one.required, one.reasons, connections[one.name], more[one.name])
        for one in seen
    ]
    return tuple(_without_twins(found))


def _seen(unit: Unit, stack: Stack, examples: Mapping[str, str]) -> Iterator[_Seen]:
    composed, used = tuple(_composed(unit.files)), set[str]()
    for known in KNOWN:
        by_package = sorted(known.packages & (stack.dependencies | stack.lent)) or _by_prisma(unit, known)
        reasons = [f"{package} is among the dependencies" for package in by_package[:2]]
        reasons = reasons or _by_example(examples, known)
        images = [(name, data) for name, image, data in composed if _is_image(image, known)]
        said = [f"{name} is a service of the compose file" for name, _ in images[:1]]
        if reasons or images:
            wished = (*(name for name, _ in images[:1]), known.type, f"{known.type}-service")
            name = next(one for one in wished if NAME.fullmatch(one) and one not in used)
            used.add(name)
            required = bool(reasons) and not _does_without(unit, stack, known, examples)
            yield _Seen(known, name, (*reasons, *said), required, images[0][1] if images else {})


def _leads_to(value: str) -> str:
    """The type of service that an address leads to."""
    return _SCHEMES.get(value.partition("://")[0].partition("+")[0], "") if "://" in value else ""


def _more(
    told: Mapping[str, str | int], examples: Mapping[str, str], known: Known, names: set[str]
) -> Iterator[str]:
    """Further variables that lead to the same kind of service: all of them are told of the same one."""
    for name in sorted(names - set(map(str, told.values()))):
        if re.fullmatch(known.urls, name.upper()) and _leads_to(examples.get(name, "")) == known.type:
            yield name


def _without_twins(found: list[Service]) -> Iterator[Service]:
    """MySQL and MariaDB speak alike: one of them is enough."""
    twins = {"mysql", "mariadb"}
    is_had = any(service.type in twins and service.required for service in found)
    return (one for one in found if one.required or not (is_had and one.type in twins))


def _does_without(unit: Unit, stack: Stack, known: Known, examples: Mapping[str, str]) -> bool:
    """Does the program fall back on a file, or on nothing, when it is not told where the service is?"""
    if known.type not in ("postgresql", "mysql", "mariadb"):
        return False
    scheme = known.scheme.replace("postgresql", "postgres")
    if any(value.startswith(scheme) for value in examples.values()):
        return False
    for name in unit.names:
        is_code = name.endswith((".py", ".js", ".ts", ".json")) and not is_decoy(name) and "lock" not in name
        if is_code and _SQLITE.search(unit.files.text(name)):
            return True
    return bool({"sqlite3", "better-sqlite3", "aiosqlite"} & (stack.dependencies | stack.lent))


def _connection(
    unit: Unit, stack: Stack, known: Known, names: set[str], data: Mapping[str, Any]
) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    url = [name for name in sorted(names, key=_plainest) if re.fullmatch(known.urls, name.upper())]
    if url:
        found["url_env"] = url[0]
    for key, part in _PARTS.items():
        fits = [name for name in sorted(names) if re.fullmatch(f"(?:.*_)?{known.stems}{part}", name.upper())]
        exact = [name for name in fits if re.fullmatch(known.stems + part, name.upper())]
        if exact or fits:
            found[key] = (exact or fits)[0]
    if known.type == "redis":
        found = {
            key: name for key, name in found.items() if key not in _SECRETS or name not in _spared(stack)
        }
    if known.type == "postgresql" and not found:
        found |= _UNASKED
    found["default_port"] = known.port
    found["default_url"] = _written(stack, known) or _default_url(unit, stack, known, data)
    if known.type == "redis" and "url_env" not in found:
        found["default_url"] = _locked(unit, found) or found["default_url"]
    return found


def _plainest(name: str) -> tuple[int, str]:
    return (len(name), name)


def _locked(unit: Unit, told: Mapping[str, str | int]) -> str:
    """An address with the password that the code asks for by name, and that an example file sets."""
    name = str(told.get("password_env", ""))
    secret = example_values(unit.files, unit.above()).get(name, "") if name else ""
    code = (one for one in unit.names if one.endswith((".py", ".js", ".ts", ".mjs")) and not is_decoy(one))
    is_asked = secret and any(name in unit.files.text(one) for one in code)
    user = "default" if "user_env" in told else ""
    return f"redis://{user}:{quote(secret, safe='')}@127.0.0.1:6379/0" if is_asked else ""


def _spared(stack: Stack) -> set[str]:
    """Variables that may stay unset: an empty password is not the same to a client as none."""
    return {variable.name for variable in stack.variables if not variable.required}


def _written(stack: Stack, known: Known) -> str:
    """The whole address on this machine that the code insists on, or falls back on."""
    for url in stack.addresses:
        parts = _parts(url)
        is_kind = parts.scheme.partition("+")[0].replace("postgresql", "postgres") in (
            known.scheme.replace("postgresql", "postgres"),
            known.type,
        )
        if is_kind and parts.hostname in ("localhost", "127.0.0.1") and _is_whole(parts):
            return url.replace(f"@{parts.hostname}", "@127.0.0.1", 1)
    return ""


def _parts(url: str) -> SplitResult:
    """The parts of what is written as an address; nothing where it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _is_whole(parts: SplitResult) -> bool:
    try:
        return bool(parts.username) and parts.port != 0
    except ValueError:
        return False


def _default_url(unit: Unit, stack: Stack, known: Known, data: Mapping[str, Any]) -> str:
    kind = re.escape(known.scheme.replace("postgresql", "postgres"))
    pattern = re.compile(rf"\b({kind}(?:ql)?(?:\+\w{{1,20}})?)://([^\s'\"`)<>]{{0,120}})")
    for name in unit.names:
        if name.endswith((".py", ".js", ".ts", ".env.example", ".yml", ".yaml", ".ini", ".toml", ".json")):
            written = pattern.search(unit.files.text(name)) if "lock" not in name else None
            if written and "{" not in written[2] and "$" not in written[2] and "@" in written[2]:
                database = written[2].rpartition("/")[2].partition("?")[0] or "app"
                return _url(written[1], known, database if database.replace("_", "").isalnum() else "app")
    env = _environment(data)
    database = next(
        (env[key] for key in ("POSTGRES_DB", "MYSQL_DATABASE", "MARIADB_DATABASE") if key in env), "app"
    )
    scheme = dialect(unit, stack.dependencies, known.scheme) if stack.language == "python" else known.scheme
    return _url(scheme, known, database if database.replace("_", "").isalnum() else "app")


def _url(scheme: str, known: Known, database: str) -> str:
    match known.type:
        case "postgresql" | "mysql" | "mariadb":
            return f"{scheme}://app:app@127.0.0.1:{known.port}/{database}"
        case "mongodb":
            return f"{scheme}://127.0.0.1:{known.port}/{database}"
        case "redis":
            return f"{scheme}://127.0.0.1:{known.port}/0"
        case "rabbitmq":
            return f"{scheme}://guest:guest@127.0.0.1:{known.port}/"
    return f"{scheme}://127.0.0.1:{known.port}"


def _by_prisma(unit: Unit, known: Known) -> list[str]:
    for name in unit.names:
        if name.endswith("schema.prisma"):
            provider = re.search(
                r"datasource\s+\w+\s*\{[^}]{0,400}?provider\s*=\s*\"(\w+)\"", unit.files.text(name)
            )
            return ["@prisma/client"] if provider and provider[1] == known.type else []
    return []


def _by_example(examples: Mapping[str, str], known: Known) -> list[str]:
    """Why a service is needed whose client is a part of another package: an example file leads to it."""
    return [
        f"{name} of an example file leads to it"
        for name, value in examples.items()
        if _leads_to(value) == known.type
    ][:1]


def _composed(files: Files) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for name in files.like(*COMPOSE, *(f"*/{pattern}" for pattern in COMPOSE)):
        for service, data in section(files.yaml(name), "services").items():
            image = section({"s": data}, "s").get("image")
            if isinstance(image, str):
                yield str(service), image, data


def _is_image(image: str, known: Known) -> bool:
    name = image.rsplit("/", 1)[-1].partition(":")[0]
    return any(name.startswith(one) for one in known.images) and "admin" not in name and "express" not in name


def _environment(data: Mapping[str, Any]) -> dict[str, str]:
    given = data.get("environment")
    pairs: Iterable[tuple[str, Any]] = ()
    if isinstance(given, dict):
        pairs = given.items()
    elif isinstance(given, list):
        pairs = [(str(item).partition("=")[0], str(item).partition("=")[2]) for item in given]
    return {str(name): str(value) for name, value in pairs}
