"""Where a Python program gets its port from."""

import ast
import re

from harness_executor.workspace.detect.pysource import Source, argument, literal, words
from harness_executor.workspace.detect.values import Place, Port

_ENVIRONMENT = (
    "os.environ.get",
    "os.getenv",
    "environ.get",
    "getenv",
    "decouple.config",
    "config",
    "env",
    "env.int",
    "env.str",
    "environs.Env.int",
)
_PORTS = range(1, 65_536)
_FLAGS = ("--port", "-p", "--http-port", "--api-port", "--server-port", "--web-port", "--listen-port")
"""Options that set the port of a server, the plainest first."""


def port_of(source: Source, node: ast.AST | None, depth: int = 4) -> Port:
    """Where the value of an expression comes from, if it is a port."""
    if node is None or depth == 0:
        return Port()
    value = literal(node)
    if value is not None:
        return _number(value)
    if isinstance(node, ast.Name | ast.Attribute):
        return _named(source, node, depth)
    if isinstance(node, ast.Subscript):
        return _subscript(source, node)
    if isinstance(node, ast.Call):
        return _called(source, node, depth)
    if isinstance(node, ast.BoolOp | ast.IfExp):
        parts = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
        return best(*(port_of(source, part, depth - 1) for part in parts))
    return Port()


def best(*found: Port) -> Port:
    """The most useful of several: one that can be set, with the number of another as its default."""
    numbers = [port.number for port in found if port.number]
    for place in (Place.OPTION, Place.ENVIRONMENT, Place.FILE, Place.FIXED):
        port = next((port for port in found if port.place is place), None)
        if port:
            return Port(port.place, port.number or (numbers[0] if numbers else None), port.name)
    return Port()


def option_of(source: Source, named: str = "") -> Port:
    """The option for a port that a command line of argparse, click, typer or tornado has.

    One that is named, such as `api_port`, is meant before others. Those of tornado take their value behind
    a `=` only.
    """
    own = f"--{named.replace('_', '-')}"
    found: list[Port] = []
    for name, call in source.calls():
        if name.rsplit(".", 1)[-1] == "define" and words(argument(call, 0)) == "port":
            return Port(Place.OPTION, port_of(source, argument(call, 1, "default")).number, "--port=")
        if name.rsplit(".", 1)[-1] in ("add_argument", "option", "Option"):
            flags = [words(given) for given in call.args]
            flag = next((flag for flag in (own, *_FLAGS) if flag in flags), "")
            if flag:
                default = next((given.value for given in call.keywords if given.arg == "default"), None)
                found.append(Port(Place.OPTION, port_of(source, default).number, flag))
    return min(found, key=lambda port: (own, *_FLAGS).index(port.name), default=Port())


def _number(value: object) -> Port:
    text = str(value)
    is_port = bool(re.fullmatch(r"[0-9]{1,5}", text)) and int(text) in _PORTS
    return Port(Place.FIXED, int(text)) if is_port else Port()


def _named(source: Source, node: ast.Name | ast.Attribute, depth: int) -> Port:
    if isinstance(node, ast.Attribute):
        owner = source.meaning(node.value).rsplit(".", 1)[-1]
        if owner in ("args", "options", "opts", "arguments", "parsed", "ns"):
            return option_of(source, node.attr if node.attr.endswith("port") else "")
        return Port()
    if node.id in source.values:
        return port_of(source, source.values[node.id], depth - 1)
    local = (
        part.value
        for part in source.nodes
        if isinstance(part, ast.Assign)
        and any(isinstance(to, ast.Name) and to.id == node.id for to in part.targets)
    )
    found = best(*(port_of(source, value, depth - 1) for value in list(local)[:4]))
    return found if found.place is not Place.UNKNOWN else option_of(source)


def _subscript(source: Source, node: ast.Subscript) -> Port:
    owner, key = source.meaning(node.value), literal(node.slice)
    if owner in ("os.environ", "environ") and isinstance(key, str):
        return Port(Place.ENVIRONMENT, None, key)
    if owner == "sys.argv" and isinstance(key, int) and key > 0:
        return Port(Place.OPTION, None, "")
    return Port()


def _called(source: Source, call: ast.Call, depth: int) -> Port:
    name = source.meaning(call.func)
    if name in ("int", "str"):
        return port_of(source, argument(call, 0), depth - 1)
    if name in _ENVIRONMENT or name.endswith(("environ.get", ".getenv")):
        key = words(argument(call, 0))
        fallback = port_of(source, argument(call, 1, "default"), depth - 1)
        return Port(Place.ENVIRONMENT, fallback.number, key) if key else Port()
    return Port()
