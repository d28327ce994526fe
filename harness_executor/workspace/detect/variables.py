"""The variables of the environment: which are needed, and what they can be in a test."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from harness_executor.workspace.detect.given import found_by_itself, given, pairs_of
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.unit import Unit
from harness_executor.workspace.detect.values import Variable

EXAMPLES = (
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    "env.example",
    ".env.test",
    "example.env",
    ".env.defaults",
    ".env-example",
    "sample.env",
    ".env.local.example",
    ".env.development",
)
_SECRET = re.compile(
    r"SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PRIVATE|CREDENTIAL|SALT|(?:^|_)(?:API_?)?KEY(?:$|_)|(?:^|_)PASS$|DSN$"
)
_WORDS = """
PORT HOST HOME PATH PWD USER LANG TZ TMPDIR PYTHONPATH NODE_ENV CI DEBUG_COLORS TERM SHELL HOSTNAME
DJANGO_SETTINGS_MODULE
"""
_OURS = frozenset(_WORDS.split())
"""Names that the machine or the harness sets, or that need no value."""
_ASKED = ("NODE_ENV", "HOST")
"""Of these, names that get a value where the project asks for one."""
_SIGNS = re.compile(r"SECRET|JWT\w*KEY|TOKEN_KEY|SIGNING|SALT$")
"""Names of what signs something: without a value, only what is asked for later fails."""
_FAR_FILE = re.compile(r"/(?!tmp/)(?:[\w.-]+/){1,8}[\w.-]+\.(?:db3?|sqlite3?|log)")
_FAR_ADDRESS = re.compile(r"(sqlite(?:\+\w{1,20})?:///)/(?!tmp/)(?:[\w.-]+/){1,8}([\w.-]+)")
_FAR_FOLDER = re.compile(r"/(?!tmp/)(?:[\w.-]+/){0,7}[\w-]+/?")
_KEEPS = re.compile(
    r"(?:DATA|STORAGE|UPLOADS?|DB|DATABASE|CACHE|LOGS?)_?(?:DIR(?:ECTORY)?|PATH|FOLDER|ROOT)$"
)
"""Names of folders that a program writes to."""
_COPIED = re.compile(r"\b(?:cp|copy|mv)\s+(?:\./)?([\w.-]{1,60})\s+(?:\./)?\.env(?=[\s`]|$)", re.M)
_ELSEWHERE = re.compile(r"(?!sqlite)[\w+]+://|/")
"""Values that lead to another program, or to a place on the machine."""
_PURPOSES = (
    (re.compile(r"SECRET|JWT|SALT|SIGN"), "signs sessions or tokens"),
    (re.compile(r"(?:DATABASE|DB|POSTGRES|PG|MYSQL|MONGO|SQL)"), "leads to the database"),
    (re.compile(r"REDIS"), "leads to Redis"),
    (re.compile(r"AMQP|RABBIT|BROKER|CELERY"), "leads to the message broker"),
    (re.compile(r"MAIL|SMTP|SENDGRID"), "sends mail"),
    (re.compile(r"AWS|S3|BUCKET|GCP|AZURE"), "reaches a cloud service"),
    (re.compile(r"PASSWORD|TOKEN|KEY"), "a credential"),
    (re.compile(r"LOG"), "says how much is logged"),
    (re.compile(r"DEBUG|ENV$|ENVIRONMENT|STAGE"), "says which environment it is"),
    (re.compile(r"URL|URI|ENDPOINT|ORIGIN"), "an address"),
    (re.compile(r"PORT"), "a port"),
)


def merged(unit: Unit, read: Iterable[Variable]) -> tuple[Variable, ...]:
    """Each variable once, with a value that is safe in a test; examples that the project ships help."""
    examples = example_values(unit.files, unit.above())
    found: dict[str, Variable] = {}
    for variable in read:
        if _is_ours(variable) or not re.fullmatch(r"[A-Za-z_]\w{0,80}", variable.name):
            continue
        found[variable.name] = _joined(found.get(variable.name), variable)
    for name, value in examples.items():
        if ((name in _ASKED and value) or name not in _OURS) and not name.endswith("_PORT"):
            known = found.get(name, Variable(name, where="an example file"))
            found[name] = replace(known, required=known.required or bool(value))
    by_itself = found_by_itself(unit)
    for name in by_itself & found.keys():
        found[name] = replace(found[name], required=bool(found[name].fits))
    for name, value in given(unit).items():
        if name in found and name not in by_itself and _is_lacking(found[name], value):
            found[name] = replace(found[name], required=True, test_value=value)
    for name, known in found.items():
        if _SIGNS.search(name.upper()) and not known.default and name not in by_itself:
            found[name] = replace(known, required=True)
    return tuple(_completed(variable, examples) for _, variable in sorted(found.items()))


def _is_lacking(variable: Variable, value: str) -> bool:
    """Is it nothing without the value? One that may be unset is not led to what may not be there."""
    is_plain = not _ELSEWHERE.match(value) and not variable.name.endswith("_PORT")
    return not variable.default and (variable.required or is_plain) and bool(re.search(variable.fits, value))


def _is_ours(variable: Variable) -> bool:
    return variable.name in _OURS and not (variable.required and variable.name in _ASKED)


def _joined(before: Variable | None, variable: Variable) -> Variable:
    """What two places that read a variable say of it together."""
    if before is None:
        return variable
    return replace(
        before,
        required=variable.required or before.required,
        default=variable.default or before.default,
        test_value=before.test_value or variable.test_value,
        purpose=before.purpose or variable.purpose,
        fits=before.fits or variable.fits,
    )


def example_values(files: Files, folders: Iterable[str]) -> dict[str, str]:
    """What the example files of a project set."""
    values: dict[str, str] = {}
    for folder in folders:
        prefix = "" if folder == "." else f"{folder}/"
        for name in example_files(files, prefix):
            values = {**pairs_of(files.text(name)), **values}
    return values


def example_files(files: Files, prefix: str = "") -> list[str]:
    """The example files of a folder, the one first that everybody is told to copy."""
    usual = [prefix + name for name in EXAMPLES if files.has(prefix + name)]
    more = [name for name in files.names if name.startswith(prefix) and _is_example(name[len(prefix) :])]
    found = list(dict.fromkeys([*usual, *more]))
    copied = _copied(files) if len(found) > 1 else []
    order = [prefix + name for name in copied]
    return sorted(found, key=lambda name: order.index(name) if name in order else len(order))


def _copied(files: Files) -> list[str]:
    """Files that the pages of a project have everybody copy to `.env`, in their order."""
    pages = files.like("README*", "readme*", "docs/*.md", "*.md")
    return [name for page in pages for name in _COPIED.findall(files.text(page))]


def _is_example(name: str) -> bool:
    """Is it a file of variables that a project ships for developers, under a name of its own?"""
    is_named = re.fullmatch(
        r"\.?[\w-]{1,40}\.env|\.?env[._-](?:\w{1,20}[._-])?\w{1,20}|\.envs/\.local/\.\w{1,20}", name
    )
    return bool(is_named) and not re.search(r"prod|stag|\.(?:py|js|ts|sh|json|ya?ml|toml|d)$", name)


def is_sensitive(name: str) -> bool:
    """Is a variable of this name kept from people?"""
    return bool(_SECRET.search(name.upper()))


def test_value(variable: Variable, examples: Mapping[str, str]) -> str:
    """A value that is safe in a test and looks like the real one."""
    name, example = variable.name.upper(), examples.get(variable.name, "")
    if name in _ASKED:
        return "127.0.0.1" if name == "HOST" else variable.test_value or "development"
    if (
        example
        and "<" not in example
        and "$" not in example
        and not re.search("your|change|xxx", example, re.I)
        and re.search(variable.fits, example)
    ):
        return example
    if variable.test_value:
        return variable.test_value
    kind = variable.purpose
    if re.search(r"type .*\bint\b", kind):
        return "1"
    if re.search(r"type .*\bbool\b", kind):
        return "false"
    if _LEVEL.search(name):
        return "INFO" if PurePosixPath(variable.where).suffix in ("", ".py") else "info"
    for pattern, value in _VALUES:
        if pattern.search(name):
            return value
    return "test-only"


_LEVEL = re.compile(r"LOG(?:GING)?_?LEVEL$")
"""What Python knows in capitals only, and loggers of JavaScript in small letters only."""
_VALUES = (
    (re.compile(r"(?:^|_)ALGO(?:RITHM)?$"), "HS256"),
    (re.compile(r"(?:^|_)(?:TIME_?ZONE|TZ)$"), "UTC"),
    (re.compile(r"(?:ENCRYPTION|CIPHER|CRYPTO|AES)_?KEY$"), "0123456789abcdef0123456789abcdef"),
    (
        re.compile(r"SECRET|JWT|SALT|(?:^|_)(?:APP|COOKIE|SESSION|MASTER|SIGNING)_KEYS?$"),
        "test-only-0123456789abcdef0123456789abcdef",
    ),
    (re.compile(r"PASSWORD|PASSWD|TOKEN|KEY$|PASS$"), "test-only"),
    (re.compile(r"EMAIL|MAIL_FROM|SENDER"), "test@example.com"),
    (re.compile(r"(?:^|_)(?:DATABASE|DB|SQLALCHEMY\w*)_?(?:URL|URI)$"), "sqlite:///./harness-test.db"),
    (re.compile(r"URL|URI|ENDPOINT|ORIGIN"), "http://127.0.0.1:9"),
    (re.compile(r"HOST$|SERVER$"), "127.0.0.1"),
    (re.compile(r"EXPIR|MINUTES|SECONDS|TTL|TIMEOUT|DAYS|HOURS|LIMIT|SIZE|COUNT|ROUNDS|MAX|MIN"), "60"),
    (re.compile(r"PORT$"), "9"),
    (re.compile(r"DEBUG|ENABLE|DISABLE|(?:^|_)USE(?:_|$)"), "false"),
)


def _completed(variable: Variable, examples: Mapping[str, str]) -> Variable:
    purpose = next(
        (said for pattern, said in _PURPOSES if pattern.search(variable.name.upper())), "a setting"
    )
    value = test_value(variable, examples) if variable.required or not variable.default else variable.default
    made = replace(variable, purpose=purpose, sensitive=is_sensitive(variable.name), test_value=value)
    return _brought_home(made, value)


def _brought_home(variable: Variable, value: str) -> Variable:
    """Data that lies somewhere on the machine is kept in the project instead, where it can be written."""
    if _FAR_FILE.fullmatch(value):
        return replace(variable, required=True, test_value=f"./{PurePosixPath(value).name}")
    if address := _FAR_ADDRESS.fullmatch(value):
        return replace(variable, required=True, test_value=f"{address[1]}./{address[2]}")
    if _FAR_FOLDER.fullmatch(value) and _KEEPS.search(variable.name.upper()):
        return replace(variable, required=True, test_value=f"./{PurePosixPath(value).name}")
    return variable
