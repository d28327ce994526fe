"""Command lines, with errors in the program's own words."""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from harness_executor.config import Settings, speakable_passwords, speakable_secrets
from harness_executor.errors import UsageError
from harness_executor.kernel.invisible import escaped
from harness_executor.redaction import Redactor
from harness_executor.tables import BOXES
from harness_executor.ui.plain import plain_lines

_GIVEN: list[str] = []
"""Passwords of the command line."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows how it is called")


def with_project(parser: argparse.ArgumentParser) -> None:
    """The option that names the project."""
    parser.add_argument(
        "--repo",
        "--project-root",
        type=Path,
        default=Path(),
        metavar="PATH",
        help="the project (default: here)",
    )


def with_sandbox(parser: argparse.ArgumentParser) -> None:
    """The option that says how commands are boxed."""
    parser.add_argument(
        "--sandbox",
        choices=BOXES,
        default="",
        help="where commands run (default: auto, the best box that holds); none: as you, with your files",
    )


def boxed_as_asked(settings: Settings, options: argparse.Namespace) -> Settings:
    """The settings, with the sandbox of the command line if it names one."""
    return replace(settings, sandbox=options.sandbox) if options.sandbox else settings


def with_json(parser: argparse.ArgumentParser) -> None:
    """The option for programs."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def print_json(value: Any) -> None:
    """Data for programs, on standard output."""
    text = escaped(json.dumps(redactor().clean_data(value), indent=2, ensure_ascii=False)) + "\n"
    sys.stdout.write(text.encode(errors="backslashreplace").decode())


def print_text(text: str) -> None:
    """Words for people, on standard output; control characters in them are shown, not obeyed."""
    sys.stdout.write(plain_lines(redactor().clean(text).rstrip("\n")) + "\n")


def redactor() -> Redactor:
    """What takes the user's secrets out of everything that is said."""
    return _knowing(speakable_secrets(), (*speakable_passwords(), *_GIVEN))


def keep_secret(passwords: Iterable[str]) -> None:
    """Say none of these either, as long as this program runs."""
    _GIVEN.extend(passwords)


@cache
def _knowing(values: tuple[str, ...], passwords: tuple[str, ...]) -> Redactor:
    return Redactor(values, passwords)
