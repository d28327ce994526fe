"""Is what a scenario writes also read back?"""

from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.scenario import Effect, Scenario, Step

_WRITES = ("POST", "PUT", "PATCH", "DELETE")


def side_effects_verified(scenario: Scenario) -> bool | None:
    """Whether something is read after the last write; nothing when the scenario writes nothing."""
    if not any(map(writes, scenario.steps)):
        return None
    return unread(scenario) is None


def unread(scenario: Scenario) -> Step | None:
    """The last successful write, when no later step reads anything."""
    for step in reversed(scenario.steps):
        if writes(step):
            return step
        if _reads(step):
            return None
    return None


def ends_in_a_write(scenario: Scenario) -> str:
    """What to say of a scenario whose last step is a successful write, or nothing."""
    last = scenario.steps[-1] if scenario.steps else None
    if last is None or not writes(last) or last.request is None:
        return ""
    asked = f"{last.request.method.upper()} {last.request.path}"
    return (
        f"after {asked} nothing reads it back: add a GET, or say `effect: none` at the step when it changes"
        " nothing (search, login, conversion)"
    )


def writes(step: Step) -> bool:
    """Does it ask a server to change something, and expect that it does?"""
    call = step.request
    if call is None or call.method.upper() not in _WRITES or step.effect is Effect.NONE:
        return False
    return call.listen is None and _expects_success(step.expect)


def _reads(step: Step) -> bool:
    act = step.act
    return not isinstance(act, Call) or act.method.upper() in ("GET", "HEAD")


def _expects_success(expect: Expect) -> bool:
    match expect.status:
        case None:
            return True
        case str():
            return expect.status == "2xx"
        case int():
            return 200 <= expect.status < 300
    return any(200 <= status < 300 for status in expect.status)
