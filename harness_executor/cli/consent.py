"""A person's yes: asked for at a terminal, or given on the command line."""

import argparse
import sys

from harness_executor.errors import NeedsHuman


def with_yes(parser: argparse.ArgumentParser) -> None:
    """The option of a person who has looked already."""
    parser.add_argument("--yes", action="store_true", help="you have looked; do not ask")


def consents(question: str, *, yes: bool) -> bool:
    """Does the person agree? Refuses when there is nobody to ask."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise NeedsHuman(
            "standard input is not a terminal, so nobody can be asked",
            hint="look at it, then run the command again in a terminal, or with --yes",
        )
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
