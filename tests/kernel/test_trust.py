"""What a project's own settings ask for beyond what the user gave."""

from dataclasses import replace

import pytest

from harness_executor.kernel.budget import Budget, Caps
from harness_executor.kernel.trust import GRANTABLE, USERS_OWN, Wish, too_dear, too_high, unanswered, unheard

WISH = Wish(("pypi.org", "example.com"), ("/opt/data",))


@pytest.mark.parametrize(
    "other",
    [
        replace(WISH, network=("pypi.org", "example.org")),
        replace(WISH, network=(*WISH.network, "evil.example")),
        replace(WISH, network=()),
        replace(WISH, network=("pypi.org, example.com",)),
        replace(WISH, readable=("/opt",)),
        Wish((), ("pypi.org", "example.com", "/opt/data")),
    ],
)
def test_a82_a_grant_is_for_exactly_one_wish(other: Wish) -> None:
    """Whatever is added, taken away or moved makes another digest."""
    assert other.digest != WISH.digest
    assert replace(WISH).digest == WISH.digest


def test_a_wish_says_what_it_is_for() -> None:
    """One line for each thing; an empty wish is none."""
    assert str(WISH) == "network.allow: pypi.org\nnetwork.allow: example.com\nsandbox.read: /opt/data"
    assert WISH
    assert not Wish()
    (said,) = unanswered(WISH)
    assert "sandbox.read: /opt/data" in said
    assert "harness trust" in said
    assert list(unanswered(Wish())) == []


def test_a03_what_is_the_users_alone_is_named() -> None:
    """Each table that no project can have, and each key beside the one it may ask for, has a sentence."""
    project = {
        **{table: {} for table in USERS_OWN},
        "sandbox": {"use": "none", "read": []},
        "network": {"allow": []},
    }
    said = list(unheard(project))
    assert len(said) == len(USERS_OWN) + 1
    assert "sandbox.use in the project's config.toml is ignored" in said[-1]
    assert list(unheard({"caps": {}, **{table: {key: []} for table, key in GRANTABLE.items()}})) == []


def test_a03_caps_above_the_users_are_named_as_people_write_them() -> None:
    """What is lower is the project's right; what is higher, or without a cap of the user's, is told apart."""
    assert list(too_high({"respawn": 2}, {"respawn": 9}, "caps.")) == [
        "caps.respawn = 9 in the project's config.toml is ignored: yours is 2"
    ]
    assert list(too_high({"respawn": 2}, {"respawn": 2, "other": 9}, "caps.")) == []
    mine = Budget(task=Caps(micros=10_000_000, seconds=600))
    wanted = Budget(task=Caps(micros=99_500_000, seconds=60, tokens=5), day=Caps(micros=1))
    assert list(too_dear(mine, wanted)) == [
        "budget.task.usd = 99.5 in the project's config.toml is ignored: yours is 10"
    ]
