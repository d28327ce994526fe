"""Is what a scenario writes also read back?"""

from typing import Any

import pytest

from harness_executor.kernel.acts import Call, Language, Listening, Probe, Program, Query
from harness_executor.kernel.effects import ends_in_a_write, side_effects_verified, unread
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.scenario import Effect, Scenario, Step


def step(method: str, status: Any = 200, **fields: Any) -> Step:
    """A request with this method."""
    return Step(Call("/x", method, **fields), Expect(status))


def scenario(*steps: Step) -> Scenario:
    """A scenario of these steps."""
    return Scenario("s", "w", steps)


GET, POST = step("GET"), step("POST", 201)


@pytest.mark.parametrize(
    ("steps", "verified"),
    [
        ((GET,), None),
        ((POST,), False),
        ((POST, GET), True),
        ((GET, POST), False),
        ((POST, GET, POST), False),
        ((step("DELETE", 204), step("GET", 404)), True),
        ((step("put", None), step("HEAD")), True),
        ((step("POST", 400),), None),
        ((step("POST", "4xx"),), None),
        ((step("PATCH", "2xx"),), False),
        ((step("POST", (200, 409)),), False),
        ((step("POST", ()),), None),
        ((POST, Step(query=Query("db", "select 1"))), True),
        ((POST, Step(run=Program(("ls",)))), True),
        ((POST, Step(probe=Probe(Language.PYTHON, "1"))), True),
        ((POST, step("OPTIONS")), False),
        ((step("POST", listen=Listening()),), None),
        ((Step(Call("/login", "POST"), Expect(200), effect=Effect.NONE),), None),
    ],
)
def test_a_write_is_verified_by_a_later_read(steps: tuple[Step, ...], verified: bool | None) -> None:
    """A read after the last successful write verifies it; who writes nothing has nothing to verify."""
    assert side_effects_verified(scenario(*steps)) is verified
    assert (unread(scenario(*steps)) is not None) is (verified is False)


def test_says_what_is_missing() -> None:
    """The last step names its request, and how to mend it."""
    said = ends_in_a_write(scenario(GET, POST))
    assert said.startswith("after POST /x nothing reads it back: add a GET, or say `effect: none`")
    assert ends_in_a_write(scenario(POST, GET)) == ""
    assert ends_in_a_write(scenario()) == ""
