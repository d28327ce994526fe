"""`harness init`: find out what a project is, try it, and write down how it is started and checked."""

import argparse
from dataclasses import replace
from typing import Any

from harness_executor.cli import interrupts
from harness_executor.cli.pages import Page, pages, put
from harness_executor.cli.parsing import (
    Parser,
    boxed_as_asked,
    print_json,
    print_text,
    with_json,
    with_project,
    with_sandbox,
)
from harness_executor.config import read_settings
from harness_executor.evidence.inferring import failures, lost
from harness_executor.evidence.telling import telling_line
from harness_executor.evidence.trying import Answered, Attempt, try_all
from harness_executor.evidence.unset import unset_in
from harness_executor.evidence.workbench import bench_over
from harness_executor.home import Home, open_home
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.choice import choose
from harness_executor.sandbox.process import watched_over
from harness_executor.ui.choice import progress
from harness_executor.workspace.detect.audit import audit
from harness_executor.workspace.detect.detection import Detection, detect
from harness_executor.workspace.detect.environment import Choice, environment
from harness_executor.workspace.detect.installed import has_environment
from harness_executor.workspace.detect.remedies import remedies
from harness_executor.workspace.export import Desk

_NO_SERVER = "what looks like a server in this project is a program of another kind: it takes no port"


@frozen
class Outcome:
    """What was found, tried and chosen."""

    found: Detection
    attempts: tuple[Attempt, ...]
    choice: Choice
    tried: bool

    @property
    def stands(self) -> bool:
        """Can the project be verified as it was found: a server answered, or there is none?"""
        return not self.found.candidates or self.choice.confirmed or not self.tried


def main(words: list[str]) -> int:
    """Find out what a project is."""
    options = _options(words[1:])
    home = open_home(options.repo)
    if options.check:
        return _check(home, as_json=options.json)
    desk = home.desk("init")
    interrupts.on_stop("run the command again", folder=desk.path)
    with watched_over(desk.path):
        try:
            outcome = _find(home, desk, options)
            return _write(home, outcome, options)
        finally:
            desk.clear()


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = Parser("harness init", description="Find out how a project is started, and write it down.")
    parser.add_argument(
        "--app", default="", metavar="PATH", help="the folder that is meant, where there are several programs"
    )
    parser.add_argument(
        "--no-try", action="store_true", help="read files only; nothing is confirmed by starting it"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be written, and write nothing"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write environment.json anew; keys that you added stay, and the old file is kept beside it",
    )
    parser.add_argument(
        "--check", action="store_true", help="only say what is missing; exit 1 when something needed is"
    )
    with_sandbox(parser)
    with_project(parser)
    with_json(parser)
    return parser.parse_args(arguments)


def _check(home: Home, *, as_json: bool) -> int:
    seen = audit(home.repository.root)
    if as_json:
        print_json(seen.plain())
    else:
        print_text(f"score: {seen.score} of 100")
        for recommendation in seen.recommendations:
            print_text(f"  missing: {recommendation}")
    return 1 if seen.plain()["bootstrap_needed"] else 0


def _find(home: Home, desk: Desk, options: argparse.Namespace) -> Outcome:
    root = home.repository.root
    tree = desk.snapshot(root, home.repository.tree_of("HEAD"))
    found = detect(desk.export(tree, desk.path / root.name), project=root, app=options.app)
    if options.no_try or not found.candidates:
        choice = Choice(found.candidates[0] if found.candidates else None, said="not tried")
        return Outcome(found, (), _with_steps(found, choice), tried=not options.no_try)
    settings = boxed_as_asked(read_settings(home.layout.harness, granted=home.trust.granted()), options)
    sandbox = choose(settings, root).sandbox()
    with progress() as audience:
        bench = bench_over(desk, tree, sandbox, home.clock, audience.note)
        attempts = try_all(found, replace(bench, addresses=settings.addresses))
    best = attempts[0]
    if all(one.is_misused for one in attempts):
        return Outcome(replace(found, candidates=(), notes=(_NO_SERVER,)), attempts, Choice(), tried=True)
    choice = best.choice()
    if best.answered >= Answered.SOMEHOW:
        choice = replace(choice, installs=has_environment(root, found.stack_of(best.candidate)))
    return Outcome(found, attempts, choice, tried=True)


def _with_steps(found: Detection, choice: Choice) -> Choice:
    if choice.candidate is None:
        return choice
    return replace(choice, steps=found.steps(found.stack_of(choice.candidate), choice.candidate))


def _write(home: Home, outcome: Outcome, options: argparse.Namespace) -> int:
    data = environment(outcome.found, outcome.choice, home.clock.now().isoformat(timespec="seconds"))
    planned = pages(home, outcome.found, data, force=options.force)
    if not options.dry_run:
        home.layout.prepare()
        for page in planned:
            put(home, page)
    if options.json:
        print_json(_plain(home, outcome, planned, data))
    else:
        _show(home, outcome, planned, options)
    return 0 if outcome.stands else 3


def _plain(home: Home, outcome: Outcome, planned: tuple[Page, ...], data: dict[str, Any]) -> dict[str, Any]:
    return {
        "project": data["project"],
        "confirmed": outcome.choice.confirmed,
        "environment": data,
        "candidates": data["_meta"]["candidates"],
        "tried": [_attempt(one) for one in outcome.attempts],
        "files": [_file(page) for page in planned],
        "missing": _missing(home, outcome),
        "notes": list(outcome.found.notes),
        "next": _next(home, outcome),
        "check": audit(home.repository.root).plain(),
    }


def _file(page: Page) -> dict[str, str]:
    return {"path": page.name, "action": page.action, "why": page.why, "before": page.before}


def _attempt(one: Attempt) -> dict[str, Any]:
    return {
        "command": one.candidate.command,
        "working_dir": one.candidate.folder,
        "steps": [step.command for step in one.steps],
        "answered": one.answered >= Answered.SOMEHOW,
        "quality": one.answered.name.lower(),
        "endpoint": one.endpoint,
        "said": one.said,
        "missing": one.missing,
    }


def _missing(home: Home, outcome: Outcome) -> list[str]:
    """What has to be mended before the project can be verified, each with the command."""
    candidate = outcome.choice.candidate
    if candidate is None or outcome.choice.confirmed:
        return []
    stack = outcome.found.stack_of(candidate)
    said = remedies(home.repository.root, stack, lost(outcome.attempts))
    best = next(iter(outcome.attempts), None)
    missed = [one for one in best.absent if one.is_meant(best.said)] if best else []
    return [*said, *(f"{one.said}: {one.fix}" for one in missed)]


def _next(home: Home, outcome: Outcome) -> str:
    if not outcome.stands:
        needed = _missing(home, outcome)
        return needed[0] if needed else _by_hand(outcome)
    return "`git add AGENTS.md docs harness/environment.json && git commit`, or just `harness verify`"


def _by_hand(outcome: Outcome) -> str:
    """What is left to do when the way to start is likely right, and the program fails."""
    best = outcome.attempts[0]
    if best.answered is Answered.BADLY:
        return f"it starts, and its own code fails: {telling_line(best.said)}"
    unset = ", ".join(unset_in(best.said))
    if unset:
        return f"it asks for {unset}: give a value under env_vars.required in harness/environment.json"
    other = "where another command starts it, write that as startup.command into harness/environment.json"
    return f"mend what it says ({telling_line(best.said)}); {other}"


def _show(home: Home, outcome: Outcome, planned: tuple[Page, ...], options: argparse.Namespace) -> None:
    found, choice = outcome.found, outcome.choice
    print_text(_found_line(found, choice))
    if choice.candidate:
        mark = "it answered" if choice.confirmed else "unconfirmed"
        print_text(f"start:  {choice.candidate.command}  ({mark})")
        for reason in choice.candidate.reasons:
            print_text(f"        because {reason}")
        print_text(f"tried:  {choice.said.splitlines()[0] if choice.said else 'not tried'}")
    else:
        print_text("start:  nothing to serve was found")
    for line in failures(outcome.attempts) if not choice.confirmed else ():
        print_text(f"  {line}")
    for note in (*found.notes, *_missing(home, outcome)):
        print_text(f"note:   {note}")
    for page in planned:
        why = f" ({page.why})" if page.why else ""
        print_text(f"{page.planned if options.dry_run else page.action}: {page.name}{why}")
        if options.dry_run and page.data:
            print_text(page.text)
    print_text(f"next:   {_next(home, outcome)}")


def _found_line(found: Detection, choice: Choice) -> str:
    stack = found.stack_of(choice.candidate) if choice.candidate else found.main
    if stack is None:
        return "found:  no program in a language that is known"
    framework = choice.candidate.framework if choice.candidate else stack.framework
    made = ", ".join(part for part in (stack.language, framework, stack.package_manager) if part)
    return f"found:  {found.kind.value} in {stack.folder}: {made}"
