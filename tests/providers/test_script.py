"""What a scripted model says: for each role, conversations chosen by what they are asked."""

import pytest

from harness_executor.demo.script import HONEST, LIES
from harness_executor.errors import ProviderError
from harness_executor.providers.script import Script

SCRIPT = Script(
    {
        "executor": [
            {"when": "What has to be mended", "replies": [{"text": "mended"}]},
            {"replies": [{"text": "first"}, {"text": "second"}]},
        ],
        "planner": [{"when": "stats", "replies": [{"text": "plan"}]}],
    }
)


def test_the_turn_chooses_the_reply() -> None:
    """After n replies comes the next one."""
    assert SCRIPT.reply("executor", "add", 0) == {"text": "first"}
    assert SCRIPT.reply("executor", "add", 1) == {"text": "second"}


def test_the_prompt_chooses_the_conversation() -> None:
    """The first conversation whose words stand in the prompt is played."""
    assert SCRIPT.reply("executor", "# What has to be mended\n- x", 0) == {"text": "mended"}


@pytest.mark.parametrize(("role", "prompt"), [("verifier", "stats"), ("planner", "health"), ("", "stats")])
def test_a_role_or_a_prompt_without_lines_is_an_error(role: str, prompt: str) -> None:
    """What nobody wrote is not said."""
    with pytest.raises(ProviderError, match="the script has nothing for"):
        SCRIPT.reply(role, prompt, 0)


def test_a_turn_after_the_last_is_an_error() -> None:
    """The error says how many replies there are and which was asked for."""
    with pytest.raises(ProviderError, match="the script of executor has 2 replies, reply 3 was asked for"):
        SCRIPT.reply("executor", "add", 2)


def test_a_chosen_conversation_that_ended_is_not_followed_by_another() -> None:
    """The words of another conversation are never mixed in."""
    with pytest.raises(ProviderError, match="has 1 replies"):
        SCRIPT.reply("executor", "What has to be mended", 1)


@pytest.mark.parametrize("script", [HONEST, *LIES.values()])
def test_the_scripts_of_the_demo_have_a_line_for_every_role_of_a_change(script: Script) -> None:
    """Who plans, writes scenarios and makes the change can answer a first prompt."""
    for role in ("planner", "verifier", "executor"):
        assert script.reply(role, "any", 0)
