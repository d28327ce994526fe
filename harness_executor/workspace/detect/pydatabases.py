"""The addresses of databases that are written into Python code."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import partial
from urllib.parse import quote

from harness_executor.workspace.detect.pysource import Source, argument, assigned, keyword, literal, words

_ADDRESS = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb)(?:\+\w{1,20})?://[^\s/@]{1,120}@[^\s/]{1,120}/\w[^\s]{0,120}"
)
_CONNECTS = {
    "psycopg2": "postgresql",
    "psycopg": "postgresql",
    "asyncpg": "postgresql",
    "aiopg": "postgresql",
    "pg8000": "postgresql",
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mysql": "mysql",
    "aiomysql": "mysql",
    "mariadb": "mysql",
}
"""What drivers connect to."""
_NAMES = {
    "user": ("user", "username", "USER", "MYSQL_USER", "MYSQL_DATABASE_USER"),
    "password": ("password", "passwd", "PASSWORD", "MYSQL_PASSWORD", "MYSQL_DATABASE_PASSWORD"),
    "host": ("host", "HOST", "MYSQL_HOST", "MYSQL_DATABASE_HOST"),
    "port": ("port", "PORT", "MYSQL_PORT", "MYSQL_DATABASE_PORT"),
    "database": ("database", "dbname", "db", "NAME", "MYSQL_DB", "MYSQL_DATABASE_DB"),
}
_DEEPEST = 6


def addresses(source: Source) -> Iterator[str]:
    """Every address in a file whose parts can be read: texts, settings of Django, calls that connect."""
    for node in source.nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
            said = resolved(source, node) or ""
            if _ADDRESS.fullmatch(said):
                yield said
        elif isinstance(node, ast.Dict):
            yield from _of_django(source, node)
        elif isinstance(node, ast.Call):
            yield from _of_call(source, node)
    yield from _of_settings(source)


def resolved(source: Source, node: ast.AST | None, depth: int = _DEEPEST) -> str | None:
    """The text of an expression, as far as the file itself says it; a variable counts with its default."""
    if node is None or depth == 0:
        return None
    inner = partial(resolved, source, depth=depth - 1)
    value = literal(node)
    if value is not None:
        return str(value)
    match node:
        case ast.Name():
            return inner(source.values.get(node.id) or _in_class(source).get(node.id))
        case ast.FormattedValue():
            return inner(node.value)
        case ast.JoinedStr():
            return _joined([inner(part) for part in node.values])
        case ast.BinOp(op=ast.Add()):
            return _joined([inner(node.left), inner(node.right)])
        case ast.BoolOp(op=ast.Or()):
            return next((said for said in map(inner, node.values) if said), None)
        case ast.Call():
            return _called(source, node, depth)
    return None


def _called(source: Source, call: ast.Call, depth: int) -> str | None:
    name = source.meaning(call.func).rsplit(".", 1)[-1]
    if name in ("str", "int", "quote_plus", "quote", "SecretStr"):
        return resolved(source, argument(call, 0), depth - 1)
    if name in ("get", "getenv", "config", "env", "str", "Field"):
        return resolved(source, keyword(call, "default") or argument(call, 1), depth - 1)
    return None


def _in_class(source: Source) -> dict[str, ast.expr]:
    """What the names in the bodies of classes are set to."""
    lines = (line for node in source.nodes if isinstance(node, ast.ClassDef) for line in node.body)
    return {name: value for line in lines for name, value in assigned(line)}


def _joined(parts: list[str | None]) -> str | None:
    return None if None in parts else "".join(part or "" for part in parts)


def _of_django(source: Source, node: ast.Dict) -> Iterator[str]:
    given = {words(key): value for key, value in zip(node.keys, node.values, strict=True) if words(key)}
    engine = resolved(source, given.get("ENGINE")) or ""
    kind = "postgresql" if re.search("postg", engine) else "mysql" if "mysql" in engine else ""
    if kind:
        yield from _made(kind, {name: resolved(source, value) for name, value in given.items()})


def _of_call(source: Source, call: ast.Call) -> Iterator[str]:
    name = source.meaning(call.func)
    kind = _CONNECTS.get(name.split(".")[0], "")
    is_one = name.rsplit(".", 1)[-1] in ("connect", "create_pool", "Connection", "SimpleConnectionPool")
    given = {one.arg: resolved(source, one.value) for one in call.keywords if one.arg}
    if kind and is_one:
        dsn = re.findall(r"(\w+)=([^\s'\"]+)", resolved(source, argument(call, 0, "dsn")) or "")
        yield from _made(kind, {**dict(dsn), **given})
    driver = given.get("drivername") or ""
    if name.endswith("URL.create") and driver.startswith(("postgres", "mysql")):
        yield from _made(driver, given)


def _of_settings(source: Source) -> Iterator[str]:
    """Keys of a configuration, such as those of Flask-MySQLdb."""
    given = {
        words(target.slice): resolved(source, node.value)
        for node in source.nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript) and words(target.slice).startswith("MYSQL_")
    }
    yield from _made("mysql", given)


def _made(scheme: str, given: Mapping[str, str | None]) -> Iterator[str]:
    parts = {
        part: next((value for name in names if (value := given.get(name))), "")
        for part, names in _NAMES.items()
    }
    if parts["user"] and parts["database"]:
        secret = f":{quote(parts['password'], safe='')}" if parts["password"] else ""
        port = f":{parts['port']}" if parts["port"].isdigit() else ""
        host = parts["host"] or "localhost"
        yield f"{scheme}://{quote(parts['user'], safe='')}{secret}@{host}{port}/{parts['database']}"
