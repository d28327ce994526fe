"""`harness report`: a verification that was recorded, in the form somebody wants to read."""

import argparse
import json
import shutil
import sys
from pathlib import Path

from harness_executor.cli.parsing import Parser, print_text, with_project
from harness_executor.config import wants_colour
from harness_executor.errors import UsageError
from harness_executor.evidence.account import Account, read_account
from harness_executor.evidence.rendering import table
from harness_executor.evidence.rendering.formats import FORMATS, rendered
from harness_executor.evidence.reporting import unrun_report
from harness_executor.home import Home, open_home
from harness_executor.kernel.gate import Claim, judge_unrun
from harness_executor.kernel.invisible import escaped
from harness_executor.kernel.survey import ChangeSurveyed
from harness_executor.kernel.task import replay
from harness_executor.steps.present import unrun_lines
from harness_executor.store.files import LONE, write_atomically
from harness_executor.store.runs import find_run, recorded


def main(words: list[str]) -> int:
    """Render a verification."""
    forms = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
    parser = Parser("harness report", description=f"Show a verification that was recorded. {forms}.")
    parser.add_argument(
        "which", nargs="?", default="", metavar="TASK|RUN", help="a task or a run (default: the last run)"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="(default: table)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="(default: standard output)")
    with_project(parser)
    options = parser.parse_args(words[1:])
    home = open_home(options.repo)
    if seen := _unrun(home, options.which):
        return _tell(seen, home, options)
    account = read_account(find_run(home.layout, options.which), home.seal)
    if options.output:
        write_atomically(options.output, rendered(options.format, account))
        print_text(f"{options.format}: {options.output}")
    elif options.format == "table" and sys.stdout.isatty():
        _show(account)
    else:
        sys.stdout.write(rendered(options.format, account).encode(errors=LONE).decode())
    return 0


def _unrun(home: Home, named: str) -> ChangeSurveyed | None:
    """What was found of a task that was not run, if it was not."""
    task_id = named or home.layout.current_id() or ""
    if task_id not in home.layout.task_ids() or recorded(home.layout, task_id):
        return None
    return replay(record.fact for record in home.records(task_id)).surveyed


def _tell(seen: ChangeSurveyed, home: Home, options: argparse.Namespace) -> int:
    verdict = judge_unrun(_claim(seen), seen, seal_is_valid=home.seal.fits(seen))
    texts = {"json": json.dumps(unrun_report(seen, verdict), indent=2, ensure_ascii=False)}
    texts |= dict.fromkeys(("table", "markdown"), "\n".join(unrun_lines(seen)))
    if options.format not in texts:
        raise UsageError(
            f"nothing was run, so there is no {options.format} report", hint=f"--format {' or '.join(texts)}"
        )
    text = escaped(texts[options.format]) + "\n"
    if options.output:
        write_atomically(options.output, text)
    else:
        print_text(text.removesuffix("\n"))
    return 0


def _claim(seen: ChangeSurveyed) -> Claim:
    return Claim(seen.task_id, seen.base_commit, seen.base_tree, seen.tree)


def _show(account: Account) -> None:
    """The table as the terminal can show it."""
    screen = table.Screen(shutil.get_terminal_size().columns, wants_colour())
    sys.stdout.write(table.render(account, screen) + "\n")
