"""One scenario on the page: its steps, before and after next to each other."""

import json
from collections.abc import Iterator, Mapping

from harness_executor.evidence.rendering.difference import Row, parted, rows
from harness_executor.evidence.rendering.markup import Html, Inner, joined, tag
from harness_executor.evidence.rendering.telling import (
    MEANS,
    Pair,
    answered,
    clipped,
    noticed,
    outcome,
    pairs,
    size,
)
from harness_executor.kernel.expect import Answer, Ended
from harness_executor.kernel.report import Exchange, Execution, Finding, Meaning, Observation, StepRun

_SENT = 4_000
_SHORT = 400
"""What is short enough to be seen without being opened."""
_VALUE = 300


def scenario(view: Observation, number: int) -> Html:
    """A scenario that can be folded; what failed and what proves is open."""
    finding = view.finding
    inside = [
        tag("p", MEANS[finding.meaning], ".", cls="soft small"),
        tag("blockquote", view.scenario.why),
        *_strength(finding),
        *(step(pair) for pair in pairs(view)),
    ]
    title = (
        badge(finding.meaning.value),
        tag("h3", finding.name),
        tag("span", finding.kind.value, cls="soft small"),
    )
    is_open = finding.is_against or (finding.meaning is Meaning.PROVES and number <= 3)
    more = {"open": ""} if is_open else {}
    body = tag("div", *inside, cls="inside")
    return tag("details", tag("summary", *title), body, id=f"s{number}", **more)


def badge(word: str) -> Html:
    """A word with the colour of its meaning."""
    return tag("span", word, cls=f"badge {word}")


def meter(finding: Finding) -> Html:
    """How many broken answers were noticed, as a bar and in words."""
    if not finding.mutants:
        return tag("span", "-", cls="soft")
    width = round(90 * finding.killed / finding.mutants)
    look = "weak" if finding.survived and finding.meaning is Meaning.PROVES else "full"
    bar = tag(
        "svg",
        tag("rect", cls="track", width="90", height="8", rx="4"),
        tag("rect", cls=look, width=str(width), height="8", rx="4"),
        cls="meter",
        viewBox="0 0 90 8",
        role="img",
        aria_label=noticed(finding),
    )
    return joined(bar, tag("span", noticed(finding), cls="small"))


def outcomes(view: Observation) -> tuple[str, str]:
    """Before and after in a word each."""
    return outcome(view.base), outcome(view.change)


def folded(title: Inner, *inner: Inner, note: str = "") -> Html:
    """Something to be opened by whoever wants it."""
    more = (tag("span", note, cls="note"),) if note else ()
    return tag("details", tag("summary", title, *more), tag("div", *inner, cls="inside"))


def step(pair: Pair) -> Html:
    """One step: what was sent, the two answers, and how their bodies differ."""
    made = pair.after or pair.before
    parts: list[Inner] = [tag("h3", f"{pair.number}. {pair.title.strip('`')}")]
    if made is None:
        parts.append(tag("p", "Not reached: an earlier step did not pass on either side.", cls="soft small"))
        return tag("section", *parts, cls="step")
    parts.append(tag("div", tag("code", _asked(made)), cls="ask"))
    parts += _sent(made)
    parts.append(tag("div", _side("before", pair.before), _side("after", pair.after), cls="two"))
    parts += _bodies(pair)
    return tag("section", *parts, cls="step")


def _asked(made: StepRun) -> str:
    deed = made.exchange
    return " ".join(deed.argv) if isinstance(deed, Execution) and not deed.title else deed.asked


def _sent(made: StepRun) -> Iterator[Html]:
    deed = made.exchange
    match deed:
        case Exchange():
            if deed.body:
                sent = tag("pre", clipped(deed.body, _SENT), cls="sent")
                yield sent if len(deed.body) <= _SHORT else folded("sent", sent, note=size(len(deed.body)))
            yield folded("request headers", tag("pre", _headers(tuple(deed.headers.items()))))
            for hop in deed.hops:
                yield tag("p", "redirected from ", tag("code", hop.asked), cls="soft small")
        case Execution():
            given = {
                "standard input": deed.stdin,
                "environment": _pairs(deed.env),
                "files": _pairs(deed.files),
            }
            for name, text in given.items():
                if text:
                    yield folded(name, tag("pre", clipped(text, _SENT)))


def _side(name: str, made: StepRun | None) -> Html:
    if made is None:
        top = tag("div", tag("b", name), tag("span", "not reached", cls="badge"), cls="top")
        return tag("div", top, cls="side")
    answer = made.exchange.answer
    look = "pass" if made.passed else "fail"
    words: list[Inner] = [tag("b", name), tag("span", answered(made), cls=f"badge {look}")]
    if answer is not None:
        words.append(tag("span", f"{answer.latency_ms:.1f} ms · {size(len(answer.body))}", cls="soft small"))
    inside = [tag("div", *words, cls="top"), _checks(made)]
    if answer is not None and answer.headers:
        inside.append(folded("response headers", tag("pre", _headers(answer.headers))))
    return tag("div", *inside, cls="side")


def _checks(made: StepRun) -> Html:
    items = []
    for check in made.assertions:
        expected, got = tag("code", _value(check.expected)), tag("code", _value(check.actual))
        said = (
            [tag("code", check.type), " is ", expected] if check.passed else _wrong(check.type, expected, got)
        )
        items.append(tag("li", *said, cls="on" if check.passed else "off"))
    return tag("ul", *items, cls="checks")


def _wrong(kind: str, expected: Html, got: Html) -> list[Inner]:
    return [tag("code", kind), ": expected ", expected, ", got ", got]


def _bodies(pair: Pair) -> Iterator[Html]:
    before, after = _answer(pair.before), _answer(pair.after)
    ran = isinstance(after or before, Ended)
    name = "standard output" if ran else "body"
    yield from _difference(name, before.body if before else "", after.body if after else "")
    errors = [answer.stderr if isinstance(answer, Ended) else "" for answer in (before, after)]
    yield from _difference("standard error", *errors)
    files = [_pairs(answer.files) if isinstance(answer, Ended) else "" for answer in (before, after)]
    yield from _difference("files", *files)


def _answer(made: StepRun | None) -> Answer | None:
    return made.exchange.answer if made else None


def _difference(name: str, before: str, after: str) -> Iterator[Html]:
    if not before and not after:
        return
    lines = tag("tbody", *(_line(row) for row in rows(before, after)))
    table = tag("table", lines, cls="diff", aria_label=f"{name}, before and after")
    box = tag("div", table, cls="diffbox", tabindex="0")
    yield folded(f"{name}: the same before and after", box) if before == after else box


def _line(row: Row) -> Html:
    if row.same:
        return tag("tr", tag("td", row.before or ""), tag("td", row.after or ""))
    return tag("tr", _cell(row.before, row.after, "gone"), _cell(row.after, row.before, "come"))


def _cell(text: str | None, other: str | None, look: str) -> Html:
    if text is None:
        return tag("td", cls="none")
    if other is None:
        return tag("td", text, cls=look)
    head, middle, tail = parted(text, other)
    return tag("td", head, *([tag("mark", middle)] if middle else []), tail, cls=look)


def _strength(finding: Finding) -> Iterator[Html]:
    if finding.survived and finding.meaning is Meaning.PROVES:
        said = f"Would also pass with {', '.join(finding.survived)}."
        yield tag("p", tag("span", "weak", cls="badge noisy"), f" {said}")


def _headers(found: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in found)


def _pairs(found: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in found.items())


def _value(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return clipped(text, _VALUE).replace("\n", " ")
