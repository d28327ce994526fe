"""The account as one page that asks for nothing else: no script, no font, no picture from elsewhere."""

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering.markup import Html, Inner, joined, tag
from harness_executor.evidence.rendering.panels import badge, folded, meter, outcomes, scenario
from harness_executor.evidence.rendering.telling import headline
from harness_executor.evidence.rendering.timeline import timeline
from harness_executor.kernel.caution import cautions
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.report import Evidence, Observation, YardRecord

_LOG = 20_000


def render(account: Account) -> str:
    """The whole page."""
    title = account.request or f"Verification of {account.evidence.tree[:12]}"
    page = tag("html", _head(title, account), tag("body", *_body(title, account)), lang="en")
    return f"<!doctype html>\n{page.text}"


def _head(title: str, account: Account) -> Html:
    look = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(look.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    word = "accepted" if account.verdict.accepted else "refused"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{word}: {title}"),
        tag("style", Html(look)),
    )


def _body(title: str, account: Account) -> Iterator[Html]:
    yield tag("header", tag("h1", title), _verdict(account), _facts(account))
    yield tag("main", *_sections(account))
    said = "Only what the harness sent and received is shown here."
    yield tag("footer", f"Recorded by harness-executor {account.program}. {said}")


def _sections(account: Account) -> Iterator[Html]:
    yield from (tag("h2", "Scenarios"), _table(account.observations))
    yield from (scenario(view, number) for number, view in enumerate(account.observations, 1))
    if account.checks:
        yield from (tag("h2", "Checks"), _checks(account.checks))
    if account.evidence.control:
        yield from (tag("h2", "Control files"), _control(account))
    if account.evidence.servers:
        yield from (tag("h2", "Servers"), _servers(account.evidence))
    if account.evidence.yards:
        yield from (tag("h2", "Programs"), _yards(account.evidence.yards))
    yield from _logs(account)
    if account.spans:
        yield from (tag("h2", "Timeline"), tag("div", timeline(account.spans), cls="wrap pad"))
    yield from (tag("h2", "What this is bound to"), _binding(account))


def _verdict(account: Account) -> Html:
    accepted = account.verdict.accepted
    reasons = [tag("li", reason) for reason in account.verdict.reasons]
    words: list[Inner] = [tag("strong", headline(account))]
    if reasons:
        words.append(tag("ul", *reasons))
    words += [
        tag("p", tag("span", "note", cls="badge noisy"), " ", said) for said in cautions(account.evidence)
    ]
    sign = tag("div", "✓" if accepted else "✗", cls="sign", aria_hidden="true")
    look = f"verdict {'yes' if accepted else 'no'}"
    return tag("div", sign, tag("div", *words), cls=look, role="status")


def _facts(account: Account) -> Html:
    evidence = account.evidence
    took = max((span.ended for span in account.spans), default=0.0)
    sent = sum(len(run.steps) for view in account.observations for run in (*view.base, *view.change))
    known = {
        "base": evidence.base_commit[:12],
        "tree": evidence.tree[:12],
        "assurance": evidence.assurance.value,
        "steps carried out": str(sent),
        "took": f"{took:.1f} s" if took else "",
        "began": account.began[:19].replace("T", " "),
        "secrets taken out": str(account.redacted) if account.redacted else "",
    }
    cells = [tag("div", tag("dt", name), tag("dd", value)) for name, value in known.items() if value]
    return tag("dl", *cells, cls="facts")


def _grid(head: tuple[str, ...], lines: list[tuple[Inner, ...]]) -> Html:
    names = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head)))
    body = [
        tag("tr", tag("th", line[0], scope="row"), *(tag("td", cell) for cell in line[1:])) for line in lines
    ]
    return tag("div", tag("table", names, tag("tbody", *body)), cls="wrap")


def _table(views: tuple[Observation, ...]) -> Html:
    lines: list[tuple[Inner, ...]] = []
    for number, view in enumerate(views, 1):
        before, after = outcomes(view)
        link = tag("a", view.finding.name, href=f"#s{number}")
        meaning = badge(view.finding.meaning.value)
        lines.append((link, badge(before), badge(after), meaning, meter(view.finding)))
    return _grid(("scenario", "before", "after", "meaning", "broken answers noticed"), lines)


def _checks(results: tuple[CheckResult, ...]) -> Html:
    words = {True: "pass", False: "fail"}
    lines: list[tuple[Inner, ...]] = [
        (
            result.name,
            badge(words[result.base_passed]),
            badge(words[result.change_passed]),
            joined(tag("code", result.command), *_shown(result)),
        )
        for result in results
    ]
    return _grid(("check", "before", "after", "command"), lines)


def _shown(result: CheckResult) -> Iterator[Html]:
    if result.findings:
        yield tag("ul", *(tag("li", str(found), cls="off") for found in result.findings), cls="checks")
    if result.base_tests:
        yield tag("p", f"{result.base_tests} tests before, {result.change_tests} after", cls="soft small")
    if result.output:
        yield folded("output", tag("pre", result.output[-_LOG:]))


def _control(account: Account) -> Html:
    lines: list[tuple[Inner, ...]] = [
        (tag("code", file.path), "created" if file.created else "changed", file.runs)
        for file in account.evidence.control
    ]
    return _grid(("file", "", "can make something run"), lines)


def _servers(evidence: Evidence) -> Html:
    lines: list[tuple[Inner, ...]] = []
    for server in evidence.servers:
        gone = server.stopped and server.port_free
        ready = f"{server.ready_in_seconds:.2f} s" if server.started else server.detail or "never"
        marks = (_mark(known) for known in (server.started, server.owns_port, gone))
        lines.append((f"{server.side.value} {server.run}", *marks, ready))
    grid = _grid(("server", "started", "proved ours", "proved gone", "ready after"), lines)
    return joined(*(tag("p", str(launch), cls="soft small") for launch in evidence.started), grid)


def _yards(yards: tuple[YardRecord, ...]) -> Html:
    lines: list[tuple[Inner, ...]] = [
        (f"{yard.side.value} {yard.run}", str(yard.ran), _mark(yard.gone), yard.detail) for yard in yards
    ]
    return _grid(("copy of the code", "programs run", "proved gone", ""), lines)


def _mark(known: bool) -> Html:  # noqa: FBT001 - it is the one thing it is about
    return tag("span", "yes" if known else "no", cls=f"badge {'pass' if known else 'fail'}")


def _logs(account: Account) -> Iterator[Html]:
    for name, text in sorted(account.logs.items()):
        over = len(text) - _LOG
        note = (
            f"the last {_LOG:,} of {len(text):,} characters; all of it is in {name}.log\n" if over > 0 else ""
        )
        inside = tag("pre", note, text[-_LOG:]) if text.strip() else tag("p", "It said nothing.", cls="soft")
        yield folded(f"log of {name}", inside, note=f"{len(text.splitlines())} lines")


def _binding(account: Account) -> Html:
    evidence = account.evidence
    known = {
        "run": evidence.run_id,
        "task": evidence.task_id,
        "base commit": evidence.base_commit,
        "base tree": evidence.base_tree,
        "tree": evidence.tree,
        "scenarios": evidence.scenario_digest,
        "exchanges": evidence.exchange_digest,
        **evidence.kept,
    }
    lines: list[tuple[Inner, ...]] = [(name, tag("code", value)) for name, value in known.items() if value]
    return folded("ids and digests", _grid(("what", "digest or id"), lines), note=f"run {evidence.run_id}")
