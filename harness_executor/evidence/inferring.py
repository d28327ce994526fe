"""How a base is started that does not say so: as `harness init` wrote it, or as its files show when tried."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from harness_executor.errors import UsageError
from harness_executor.evidence.knowing import Knower
from harness_executor.evidence.telling import telling_line
from harness_executor.evidence.trying import Answered, Attempt, try_all
from harness_executor.workspace.detect.detection import Detection, detect
from harness_executor.workspace.detect.environment import Choice, environment
from harness_executor.workspace.detect.installed import has_environment
from harness_executor.workspace.detect.remedies import remedies
from harness_executor.workspace.project import environment_file, load

_HINT = "`harness init` tries to start it and says what is missing; or give --start 'COMMAND --port {port}'"


def infer(base: Path, knower: Knower, *, server: bool = True) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What an environment.json of the base would say, and where that comes from."""
    found = detect(base, project=knower.root)
    data, note = _remembered(found, knower)
    if data is None and found.candidates and not server:
        said = "the base has no environment.json; no scenario needs a server, so none is tried"
        return environment(found, Choice(installs=False)), (*_aside(knower), said)
    if data is None:
        data, note = _tried(found, knower)
    return data, (*_aside(knower), note)


def guess(base: Path, knower: Knower) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The same without trying anything: the way to start that looks best, and how it is checked."""
    found = detect(base, project=knower.root)
    data, note = _remembered(found, knower)
    if data is None:
        data = environment(found, Choice(candidate=next(iter(found.candidates), None), installs=False))
        note = "the base has no environment.json; how it is checked is taken from its files"
    return data, (*_aside(knower), note)


def _remembered(found: Detection, knower: Knower) -> tuple[dict[str, Any] | None, str]:
    """What `harness init` wrote on this machine, if the base's own files lead to the same command."""
    path = environment_file(knower.root)
    if path is None or not knower.written.is_ours(path):
        return None, ""
    data = load(path)
    startup = data.get("startup") or {}
    key = (startup.get("command"), startup.get("working_dir"))
    ways: set[tuple[str | None, str | None]] = {(one.command, one.folder) for one in found.candidates}
    ways = ways or {(None, None)}
    if key not in ways:
        return None, ""
    place = path.relative_to(knower.root)
    return (
        data,
        f"the base has no environment.json; {place} of your working tree is used, as `harness init` wrote it",
    )


def _aside(knower: Knower) -> tuple[str, ...]:
    path = environment_file(knower.root)
    if path is None or knower.written.is_ours(path):
        return ()
    place = path.relative_to(knower.root)
    said = f"{place} of your working tree is not used: it is not in the base, nor as `harness init` wrote it"
    return (f"{said}; commit it, or give --environment {place}",)


def _tried(found: Detection, knower: Knower) -> tuple[dict[str, Any], str]:
    if not found.candidates:
        data = environment(found, Choice(installs=False))
        return data, "the base has no environment.json, and nothing in its files starts a server"
    attempts = try_all(found, replace(knower.bench(), addresses=knower.addresses))
    best = attempts[0]
    if all(one.is_misused for one in attempts):
        data = environment(replace(found, candidates=()), Choice(installs=False))
        return data, "the base has no environment.json, and what looks like a server in it takes no port"
    if best.answered < Answered.SOMEHOW:
        raise UsageError(
            "nothing says how the server is started, and what the base's files show does not work\n"
            + "\n".join(failures(attempts)[:3]),
            hint=_fix(found, attempts, knower) or _HINT,
        )
    stack = found.stack_of(best.candidate)
    choice = replace(best.choice(), installs=has_environment(knower.root, stack))
    return environment(
        found, choice
    ), f"the base has no environment.json; `{best.candidate.command}` was tried: {best.said}"


def failures(attempts: tuple[Attempt, ...]) -> list[str]:
    """Each way that did not work, with the end of what it said."""
    return [
        f"- `{one.candidate.command}` in {one.candidate.folder}: {_last(one.said)}"
        for one in attempts
        if one.answered < Answered.SOMEHOW
    ]


def _last(text: str) -> str:
    first = text.strip().partition("\n")[0][:160]
    return " … ".join(dict.fromkeys((first, telling_line(text)))) if first else "it said nothing"


def lost(attempts: tuple[Attempt, ...]) -> str:
    """What the likeliest way did not find; a way that is only a guess may well lack its own program."""
    same = [one for one in attempts if one.candidate.command == attempts[0].candidate.command]
    return next((one.missing for one in same if one.missing), "")


def _fix(found: Detection, attempts: tuple[Attempt, ...], knower: Knower) -> str:
    """The one command that mends it, if packages are what is missing."""
    said = remedies(knower.root, found.stack_of(attempts[0].candidate), lost(attempts))
    return said[0] if said else attempts[0].hint
