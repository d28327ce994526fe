"""The addresses of databases that JavaScript and its files of settings insist on."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote

from harness_executor.workspace.detect.values import Variable

_SCHEMES = {"postgres": "postgresql", "postgresql": "postgresql", "pg": "postgresql"} | dict.fromkeys(
    ("mysql", "mysql2", "mariadb"), "mysql"
)
_PORTS = {"postgresql": 5432, "mysql": 3306}
_DIALECT = re.compile(
    r"\b(?:[tT]ype|[dD]ialect|[cC]lient|TYPE|DIALECT|CLIENT)['\"]?\s*:\s*[^,\n]{0,80}?['\"](postgres(?:ql)?|pg|mysql2?|mariadb)['\"]"
)
_MADE = re.compile(r"\b(?:new\s+(?:pg\.)?(?:Pool|Client)|(mysql2?)\.create(?:Pool|Connection))\s*\(\s*\{")
_SEQUELIZE = re.compile(r"new\s+Sequelize\s*\(\s*([^,(){}]{1,160}),([^,(){}]{1,160}),([^,(){}]{1,160}),\s*\{")
_URL = re.compile(
    r"['\"`]((?:postgres(?:ql)?|mysql|mariadb)://[^\s'\"`$<>{}@]{1,120}@(?:localhost|127\.0\.0\.1)[^\s'\"`$<>{}]{0,80})"
)
_PART = r"\b(?:{names})['\"]?\s*:\s*([^,\n}}]{{1,160}})"
_USER = re.compile(_PART.format(names="user|username"), re.I)
_PASSWORD = re.compile(_PART.format(names="password"), re.I)
_DATABASE = re.compile(_PART.format(names="database|db"), re.I)
_PORT = re.compile(_PART.format(names="port"), re.I)
_NAMES_DIALECT = re.compile(r"(?:DIALECT|DRIVER|CLIENT|DB_TYPE|DATABASE_TYPE|DB_CONNECTION|CONNECTION)$")
_REACH = 1500
"""How far around a word the object that it stands in is looked for."""

_DRIVERS = {"pg": "postgres", "mysql2": "mysql", "mysql": "mysql", "mariadb": "mariadb"}
_FILES = {"sqlite3", "better-sqlite3", "tedious", "oracledb"}


def spoken(variables: tuple[Variable, ...], dependencies: frozenset[str]) -> tuple[Variable, ...]:
    """The variables with the one dialect that a driver is installed for, where an example names another."""
    spoken_here = {dialect for driver, dialect in _DRIVERS.items() if driver in dependencies}
    if len(spoken_here) != 1 or _FILES & dependencies:
        return variables
    only = spoken_here.pop()
    own = "pg" if only == "postgres" and "knex" in dependencies else only
    return tuple(
        replace(one, test_value=own)
        if _NAMES_DIALECT.search(one.name) and _SCHEMES.get(one.test_value) not in (None, _SCHEMES[only])
        else one
        for one in variables
    )


def addresses(texts: Mapping[str, str]) -> Iterator[str]:
    """Whole addresses on this machine, with the user, the password and the database that the code names."""
    for text in texts.values():
        yield from _URL.findall(text)
        for match in _SEQUELIZE.finditer(text):
            dialect = _DIALECT.search(text[match.end() : match.end() + _REACH])
            if dialect:
                database, user, password = (_literal(match[number], "app") for number in (1, 2, 3))
                yield _address(_SCHEMES[dialect[1]], user, password, database)
        for match in _DIALECT.finditer(text):
            yield from _of_object(_SCHEMES[match[1]], _around(text, match.start()))
        for match in _MADE.finditer(text):
            if match[1] or re.search(r"['\"]pg['\"]", text):
                yield from _of_object("mysql" if match[1] else "postgresql", _around(text, match.end()))


def _of_object(scheme: str, text: str) -> Iterator[str]:
    """The address that an object of settings gives, if it names anything itself."""
    found = [pattern.search(text) for pattern in (_USER, _PASSWORD, _DATABASE)]
    if any(match and re.search(r"['\"`]", _without_names(match[1])) for match in found):
        user, password, database = (_literal(match[1], "app") if match else "app" for match in found)
        port = _PORT.search(text)
        number = re.search(r"\b(\d{4,5})\b", port[1]) if port else None
        yield _address(scheme, user, password, database, int(number[1]) if number else 0)


def _address(scheme: str, user: str, password: str, database: str, port: int = 0) -> str:
    secret = f":{quote(password, safe='')}" if password else ""
    where = f"localhost:{port or _PORTS[scheme]}"
    return f"{scheme}://{quote(user or 'app', safe='')}{secret}@{where}/{quote(database or 'app', safe='')}"


def _literal(text: str, otherwise: str) -> str:
    """The text that an expression falls back on: nothing for null, something else for a variable alone."""
    found = re.findall(r"['\"`]([^'\"`]{0,80})['\"`]", _without_names(text))
    if found:
        return str(found[-1])
    return "" if re.search(r"\bnull\b|\bundefined\b", text) else otherwise


def _without_names(text: str) -> str:
    """An expression without the names of variables that it reads and the texts it compares with."""
    return re.sub(r"\[\s*['\"]\w+['\"]\s*\]|[=!]==?\s*['\"][^'\"]*['\"]", "", text)


def _around(text: str, place: int) -> str:
    """The object that a place stands in."""
    depth, begin = 0, place
    while begin > max(0, place - _REACH) and depth < 1:
        begin -= 1
        depth += (text[begin] == "{") - (text[begin] == "}")
    depth, end = 1, begin + 1
    while end < min(len(text), begin + 2 * _REACH) and depth > 0:
        depth += (text[end] == "{") - (text[end] == "}")
        end += 1
    return text[begin:end]
