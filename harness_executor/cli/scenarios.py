"""`harness scenarios`: scenario files from other tools' formats, and for them."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness_executor.cli.parsing import Parser, print_text
from harness_executor.errors import UsageError
from harness_executor.evidence.documents import data_of, text_of
from harness_executor.evidence.formats.har import read_har
from harness_executor.evidence.formats.http_export import http_file
from harness_executor.evidence.formats.http_file import read_http
from harness_executor.evidence.formats.openapi import read_openapi
from harness_executor.evidence.formats.postman import read_postman
from harness_executor.evidence.formats.postman_export import postman
from harness_executor.evidence.formats.secrets import hide_secrets
from harness_executor.evidence.formats.taken import Taken
from harness_executor.evidence.scenario_file import load_scenarios
from harness_executor.store.files import write_atomically

_READERS: Mapping[str, Callable[[Any], Taken]] = {
    "openapi": read_openapi,
    "postman": read_postman,
    "har": read_har,
    "http": read_http,
}


def main(words: list[str]) -> int:
    """Import or export scenarios."""
    options = _options(words[1:])
    text, left = _imported(options) if options.action == "import" else _exported(options)
    if options.output:
        write_atomically(options.output, text)
    else:
        print_text(text)
    for line in left:
        sys.stderr.write(f"not taken over: {line}\n".encode(errors="backslashreplace").decode())
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = Parser("harness scenarios", description="Import scenarios from other tools, or export them.")
    parser.add_argument("action", choices=("import", "export"))
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--format", choices=tuple(_READERS), default="", help="of the other tool (default: as FILE looks)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="write there (default: standard output)"
    )
    return parser.parse_args(arguments)


def _imported(options: argparse.Namespace) -> tuple[str, list[str]]:
    if not options.file.is_file():
        raise UsageError(f"there is no file {options.file}", hint="name a file to import")
    text = text_of(options.file)
    name = options.format or ("http" if options.file.suffix in (".http", ".rest") else "")
    data = text if name == "http" else data_of(options.file, text)
    taken = _READERS[name or _looks_like(data)](data)
    hide_secrets(taken)
    taken.checked()
    return json.dumps(
        {"version": 1, "scenarios": taken.scenarios}, indent=2, ensure_ascii=False
    ) + "\n", taken.left


def _looks_like(data: Any) -> str:
    keys = {"paths": "openapi", "item": "postman", "log": "har"}
    found = next((name for key, name in keys.items() if isinstance(data, Mapping) and key in data), "")
    if not found:
        raise UsageError("nobody knows this format", hint="name it with --format")
    return found


def _exported(options: argparse.Namespace) -> tuple[str, list[str]]:
    scenarios = load_scenarios(options.file)
    if options.format == "http":
        return http_file(scenarios)
    if options.format != "postman":
        raise UsageError(
            f"scenarios are not exported as {options.format or 'nothing'}",
            hint="--format postman or http; `harness report` writes HAR",
        )
    collection, left = postman(scenarios, options.file.stem)
    return json.dumps(collection, indent=2, ensure_ascii=False) + "\n", left
