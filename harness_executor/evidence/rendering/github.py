"""The account for GitHub Actions: a step summary of at most a mebibyte."""

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering import markdown

LIMIT = 1024 * 1024 - 1024
"""What GitHub takes of one step."""


def render(account: Account, taken: int = 0) -> str:
    """The summary, when so many bytes are already taken."""
    return markdown.told(account, max(0, LIMIT - taken))
