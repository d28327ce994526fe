"""A base that does not start with the command of the change, started with its own and asked the same."""

from collections.abc import Callable
from dataclasses import replace

from harness_executor.errors import ServerExited, ServerNotReady
from harness_executor.evidence.differential import Lab, Observed, Place, observe
from harness_executor.kernel.report import ServerRecord, Side
from harness_executor.workspace.project import Start


def on_own_terms(
    lab: Lab,
    observed: tuple[Observed, ...],
    otherwise: Callable[[], Start | None],
    places: Callable[[Lab], tuple[Place, ...]],
) -> tuple[Lab, tuple[Observed, ...]]:
    """What was observed, with a base that is healthy by its own command where it died on the one given.

    What comes before the start stays the same, and the change has to start with the command given. A base
    that starts with neither leaves everything as it was.
    """
    base = [one for one in observed if one.place.side is Side.BASE]
    if lab.start.base_command or not base or not all(map(_did_not_start, base)):
        return lab, observed
    found = otherwise()
    if found is None or not found.command or found.command == lab.start.command:
        return lab, observed
    own = replace(found, chores=lab.start.chores, services=lab.start.services, base_command="")
    died = (
        f"base does not start with `{lab.start.command}` ({_reason(base[0])}), "
        f"and was started with its own command, `{own.command}`"
    )
    lab.notify(died)
    again = replace(lab, own=own, died=died)
    asked = observe(again, places(again))
    if any(one.problem for one in asked):
        return lab, observed
    return again, (*asked, *(one for one in observed if one.place.side is Side.CHANGE))


def _did_not_start(one: Observed) -> bool:
    """Was it the start itself that failed, after everything that comes before it?"""
    is_about_start = isinstance(one.problem, ServerExited | ServerNotReady) and one.place.problem is None
    return is_about_start and isinstance(one.record, ServerRecord) and not one.record.started


def _reason(one: Observed) -> str:
    lines = one.problem.message.splitlines() if one.problem else []
    said = [line.strip() for line in lines if line.strip()]
    first = said[0].partition(": `")[0] if said else "it did not start"
    return f"{first}: {said[-1][:200]}" if len(said) > 1 else first
