"""`harness verify`: prove or refuse a change that anybody made, with no model."""

import argparse
from pathlib import Path

from harness_executor.cli.beginning import begin
from harness_executor.cli.parsing import Parser, with_json, with_project, with_sandbox
from harness_executor.errors import UsageError


def main(words: list[str]) -> int:
    """Verify a change."""
    options = _options(words[1:])
    with begin(options) as beginning:
        # the box is tried in processes of its own, while this one loads what comes after
        from harness_executor.cli.verifying import verify  # noqa: PLC0415 - as above

        return verify(options, beginning)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(
        "harness verify", description="Start base and change, send the scenarios to both, and judge."
    )
    parser.add_argument(
        "--base", default="", metavar="REF", help="the code before (default: where the current task began)"
    )
    parser.add_argument(
        "--head", default="", metavar="REF", help="the code after (default: the working tree)"
    )
    parser.add_argument(
        "--scenarios",
        type=Path,
        metavar="FILE",
        help="what a client must see, JSON or YAML (default: those the project keeps must hold)",
    )
    _with_start(parser)
    parser.add_argument(
        "--task-id", default="", help="the task this is evidence for (default: the current one)"
    )
    parser.add_argument(
        "--refactor", action="store_true", help="nothing changes for a client: all scenarios must hold"
    )
    parser.add_argument(
        "--fuzz",
        action="store_true",
        help="send requests drawn from the OpenAPI document to both sides, with Schemathesis",
    )
    _with_checks(parser)
    _with_reports(parser)
    with_sandbox(parser)
    with_project(parser)
    with_json(parser)
    options = parser.parse_args(arguments)
    options.report = _wanted(options.report)
    if options.fuzz:
        from harness_executor.evidence.fuzzing import require  # noqa: PLC0415 - few ask for it

        require()
    return options


def _with_start(parser: argparse.ArgumentParser) -> None:
    """How both sides are started, and beside what."""
    parser.add_argument(
        "--start", default="", metavar="CMD", help="how the server is started; {port} is filled in"
    )
    parser.add_argument(
        "--start-base", default="", metavar="CMD", help="how the old code is started, when that differs"
    )
    parser.add_argument(
        "--service",
        action="append",
        default=[],
        metavar="NAME=URL",
        help="a service of the project at an address of yours, instead of one that is thrown away",
    )
    parser.add_argument(
        "--environment",
        type=Path,
        metavar="FILE",
        help="an environment.json of yours, not the base's",
    )


def _with_checks(parser: argparse.ArgumentParser) -> None:
    """The options that say which checks are run, and what the change may do to tests and kept scenarios."""
    parser.add_argument(
        "--checks",
        default="all",
        metavar="NAMES",
        help="checks of the project to run on both sides: all (default), none, or names with commas between",
    )
    parser.add_argument(
        "--allow-tests",
        action="append",
        default=[],
        metavar="PATTERN",
        help="tests that the change may remove, skip or alter; again for more, '*' for all",
    )
    parser.add_argument(
        "--allow-scenarios",
        action="append",
        default=[],
        metavar="PATTERN",
        help="files of harness/scenarios whose scenarios the change may alter or remove; again for more",
    )


def _with_reports(parser: argparse.ArgumentParser) -> None:
    """The option that asks for reports."""
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="also write a report, such as html=report.html; may be given again",
    )
    parser.add_argument("--attest", action="store_true", help="sign the verification if it is accepted")


def _wanted(words: list[str]) -> tuple[tuple[str, Path], ...]:
    """The reports that were asked for as FORMAT=FILE."""
    if not words:
        return ()
    from harness_executor.evidence.rendering.formats import FORMATS  # noqa: PLC0415 - start-up is a feature

    found: list[tuple[str, Path]] = []
    for word in words:
        name, _, place = word.partition("=")
        if name not in FORMATS or not place:
            raise UsageError(
                f"{word!r} does not say which report goes where",
                hint=f"FORMAT=FILE, where FORMAT is one of {', '.join(FORMATS)}",
            )
        found.append((name, Path(place)))
    return tuple(found)
