"""Which forms an account can have; each is loaded only when it is asked for."""

from importlib import import_module
from typing import Protocol, cast

from harness_executor.evidence.account import Account

FORMATS = {
    "table": "a table for the terminal",
    "markdown": "for a comment on a pull request",
    "html": "a page that needs nothing else: before and after side by side",
    "har": "the exchanges as HAR 1.2, for browsers and other tools",
    "junit": "scenarios and checks as JUnit XML, for CI",
    "sarif": "the findings as SARIF 2.1.0, for code scanning",
    "github": "a step summary for GitHub Actions",
    "annotations": "workflow commands for GitHub Actions",
    "json": "everything, for programs",
}


class _Renderer(Protocol):
    def render(self, account: Account) -> str:
        """The account in this form."""
        ...


def rendered(name: str, account: Account) -> str:
    """An account in the form of this name, ending with a line break."""
    module = cast(_Renderer, import_module(f"{__package__}.{name}"))
    return module.render(account).rstrip("\n") + "\n"
