"""The findings as workflow commands of GitHub Actions, at most ten of each kind."""

from collections.abc import Iterator

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering.telling import headline, untold, visible
from harness_executor.kernel.caution import cautions
from harness_executor.kernel.report import Meaning

MOST = 10
"""What GitHub shows of each kind for one step."""


def render(account: Account) -> str:
    """One command for each line; nothing that was recorded can become a command of its own."""
    errors, warnings = list(_errors(account)), list(_warnings(account))
    said = [*_commands("error", errors), *_commands("warning", warnings)]
    return "\n".join([*said, _command("notice", "harness verify", headline(account))])


def _errors(account: Account) -> Iterator[tuple[str, str]]:
    for finding in account.evidence.findings:
        if finding.is_against:
            yield f"{finding.meaning.value}: {finding.name}", finding.reason
    yield from (("refused", reason) for reason in untold(account))


def _warnings(account: Account) -> Iterator[tuple[str, str]]:
    for finding in account.evidence.findings:
        if finding.meaning is Meaning.NOISY:
            yield f"noisy: {finding.name}", finding.reason
        if finding.survived and finding.meaning is Meaning.PROVES:
            yield f"weak: {finding.name}", f"would also pass with {', '.join(finding.survived)}"
    yield from (("control file", str(file)) for file in account.evidence.control)
    yield from (("caution", said) for said in cautions(account.evidence))


def _commands(kind: str, found: list[tuple[str, str]]) -> Iterator[str]:
    shown = found if len(found) <= MOST else found[: MOST - 1]
    yield from (_command(kind, title, message) for title, message in shown)
    if len(found) > MOST:
        yield _command(kind, "more", f"and {len(found) - len(shown)} more; the summary has them all")


def _command(kind: str, title: str, message: str) -> str:
    name = _data(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{_data(message or title)}"


def _data(value: str) -> str:
    return visible(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
