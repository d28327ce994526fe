"""The variables of the environment that Python code reads."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from harness_executor.workspace.detect.pysource import Source, argument, keyword, literal, words, written
from harness_executor.workspace.detect.values import Variable

_GETS = ("os.environ.get", "os.getenv", "environ.get", "getenv", "os.environ.setdefault")
_ENVIRON = ("os.environ", "environ")
_KINDS = ("int", "float")
"""What a text of any other kind cannot be made."""
_STRICT = ("decouple.config", "starlette.config.Config", "environs.Env", "environ.Env")


def settings_classes(sources: tuple[Source, ...]) -> frozenset[str]:
    """The classes whose fields are variables: pydantic's, and those of the project made from them."""
    bases = {
        node.name: {source.meaning(base).rsplit(".", 1)[-1] for base in node.bases}
        for source in sources
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    }
    found = {"BaseSettings"}
    for _ in range(4):
        found |= {name for name, above in bases.items() if above & found}
    return frozenset(found)


def variables(source: Source, settings: frozenset[str] = frozenset({"BaseSettings"})) -> Iterator[Variable]:
    """Every variable that a file reads; required when it is read without a default."""
    readers, asked = _readers(source), frozenset(_asked(source))
    kinds = {id(argument(call, 0)): name for name, call in source.calls() if name in _KINDS}
    for node in source.nodes:
        if isinstance(node, ast.Call):
            kind = _cast(source, node) or kinds.get(id(node), "")
            yield from (_of_kind(one, kind) for one in _called(source, node, readers))
        elif isinstance(node, ast.Subscript) and source.meaning(node.value) in _ENVIRON:
            name = words(node.slice)
            if isinstance(node.ctx, ast.Load) and name:
                read = Variable(name, required=name not in asked, where=source.path)
                yield _of_kind(read, kinds.get(id(node), ""))
        elif isinstance(node, ast.ClassDef) and _is_settings(source, node, settings):
            yield from _fields(source, node)


def _cast(source: Source, call: ast.Call) -> str:
    """The type that a reader makes of a variable: `config("A", cast=int)`, `env.int("A")`."""
    said = source.meaning(keyword(call, "cast")) or source.meaning(call.func).rpartition(".")[2]
    return said if said in (*_KINDS, "bool") else ""


def _of_kind(variable: Variable, kind: str) -> Variable:
    made = replace(variable, purpose=_typed(kind), test_value=sample(kind, variable.name))
    return made if kind else variable


def _asked(source: Source) -> Iterator[str]:
    """The variables that a file looks for first: `if "NAME" in os.environ`, `if os.getenv("NAME")`."""
    tests = [node.test for node in source.nodes if isinstance(node, ast.If | ast.IfExp)]
    for part in (part for test in tests if not isinstance(test, ast.UnaryOp) for part in ast.walk(test)):
        if isinstance(part, ast.Call) and source.meaning(part.func) in _GETS:
            yield words(argument(part, 0))
        elif isinstance(part, ast.Compare) and _is_lookup(source, part):
            yield words(part.left)


def _is_lookup(source: Source, part: ast.Compare) -> bool:
    return isinstance(part.ops[0], ast.In) and source.meaning(part.comparators[0]) in _ENVIRON


def _readers(source: Source) -> set[str]:
    """Names that read a variable strictly, such as an `env` of environs."""
    made = {
        name
        for name, value in source.values.items()
        if isinstance(value, ast.Call) and source.meaning(value.func) in _STRICT
    }
    return made | ({"decouple.config"} if "decouple.config" in source.aliases.values() else set())


def _called(source: Source, call: ast.Call, readers: set[str]) -> Iterator[Variable]:
    name, key = source.meaning(call.func), words(argument(call, 0))
    if not key or not key.replace("_", "").isalnum():
        return
    default = argument(call, 1, "default")
    if name in _GETS:
        yield Variable(key, default=_said(default), where=source.path)
    elif name in readers or name.split(".")[0] in readers:
        required = keyword(call, "default") is None and (name != "decouple.config" or len(call.args) < 2)
        yield Variable(key, required=required, default=_said(keyword(call, "default")), where=source.path)


def _is_settings(source: Source, node: ast.ClassDef, settings: frozenset[str]) -> bool:
    return bool({source.meaning(base).rsplit(".", 1)[-1] for base in node.bases} & settings)


def _fields(source: Source, node: ast.ClassDef) -> Iterator[Variable]:
    prefix = _prefix(node)
    for line in node.body:
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        name = line.target.id
        kind = written(line.annotation)
        if name == "model_config" or name.startswith("_") or "ClassVar" in kind:
            continue
        alias, required = _field(source, line.value)
        yield Variable(
            (alias or f"{prefix}{name}").upper(),
            required,
            _said(line.value),
            sample(kind, name),
            where=source.path,
            purpose=_typed(kind),
        )


def _field(source: Source, value: ast.expr | None) -> tuple[str, bool]:
    """The name that a field is read by, if it is another one, and whether it must be given."""
    if value is None:
        return "", True
    if isinstance(value, ast.Call) and source.meaning(value.func).rsplit(".", 1)[-1] == "Field":
        alias = next(
            (
                words(keyword(value, key))
                for key in ("env", "validation_alias", "alias")
                if keyword(value, key)
            ),
            "",
        )
        first = argument(value, 0, "default")
        has_default = (first is not None and literal_or(first)) or keyword(
            value, "default_factory"
        ) is not None
        return alias, not has_default
    return "", isinstance(value, ast.Constant) and value.value is Ellipsis


def literal_or(node: ast.expr) -> bool:
    """Is a default given, and not the three dots that stand for none?"""
    return not (isinstance(node, ast.Constant) and node.value is Ellipsis)


def _prefix(node: ast.ClassDef) -> str:
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and keyword(part, "env_prefix") is not None:
            return words(keyword(part, "env_prefix"))
        if isinstance(part, ast.Assign) and any(
            isinstance(to, ast.Name) and to.id == "env_prefix" for to in part.targets
        ):
            return words(part.value)
    return ""


_LISTS = re.compile(r"(?:list|set|tuple|frozenset|Sequence|Iterable)\b\[?(.*)", re.I)
_SAMPLES = (
    (re.compile(r"EmailStr"), "test@example.com"),
    (re.compile(r"RedisDsn"), "redis://127.0.0.1:6379/0"),
    (re.compile(r"AmqpDsn"), "amqp://guest:guest@127.0.0.1:5672/"),
    (re.compile(r"MongoDsn"), "mongodb://127.0.0.1:27017/app"),
    (re.compile(r"(?:Any|Http|AnyHttp|File)Url"), "http://127.0.0.1:9"),
    (re.compile(r"\bfloat\b"), "1.0"),
    (re.compile(r"timedelta"), "60"),
    (re.compile(r"\b(?:dict|Mapping)\b", re.I), "{}"),
)


def sample(annotation: str, name: str) -> str:
    """A value that a type takes, where its name says more than the name of the variable."""
    bare = re.sub(r"^(?:typing\.)?(?:Optional|Annotated|Union)\[", "", annotation)
    listed = _LISTS.match(bare.removeprefix("typing."))
    if listed:
        inner = "http" if re.search("url|origin", f"{listed[1]} {name}", re.I) else ""
        return (
            '["http://127.0.0.1:9"]'
            if inner
            else "[1]"
            if re.search(r"\bint\b", listed[1])
            else '["test-only"]'
        )
    chosen = re.match(r"(?:typing\.)?Literal\[['\"]?([^'\",\]]{1,60})", bare)
    if chosen:
        return chosen[1]
    return next((value for pattern, value in _SAMPLES if pattern.search(bare)), "")


def _typed(annotation: str) -> str:
    return f"a setting of type {annotation}"[:80]


def _said(node: ast.expr | None) -> str:
    value = literal(node)
    if value is None and isinstance(node, ast.Call):
        value = literal(argument(node, 0, "default"))
    return "" if value is None else str(value)
