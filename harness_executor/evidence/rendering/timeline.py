"""When each part of a verification happened, as a drawing."""

from collections.abc import Iterator

from harness_executor.evidence.rendering.markup import Html, tag
from harness_executor.evidence.watch import Span

_LEFT, _WIDTH, _ROW, _BAR = 215.0, 1000.0, 26.0, 14.0


def timeline(spans: tuple[Span, ...]) -> Html:
    """A bar for each span; the pale part is the time until a server was ready."""
    end = max((span.ended for span in spans), default=0.0) or 1.0
    height = _ROW * len(spans) + 24
    bars = [part for number, span in enumerate(spans) for part in _bar(number, span, end)]
    words = ", ".join(f"{span.name} {span.ended - span.began:.2f} s" for span in spans)
    look = {"viewBox": f"0 0 {_WIDTH:g} {height:g}", "role": "img", "aria_label": words}
    return tag("svg", *_scale(end, height), *bars, cls="time", **look)


def _scale(end: float, height: float) -> Iterator[Html]:
    for part in range(5):
        x = _LEFT + (_WIDTH - _LEFT - 60) * part / 4
        yield tag("line", cls="grid", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="0", y2=f"{height - 18:g}")
        yield tag("text", f"{end * part / 4:.1f} s", cls="scale", x=f"{x:.1f}", y=f"{height - 4:g}")


def _bar(number: int, span: Span, end: float) -> Iterator[Html]:
    scale = (_WIDTH - _LEFT - 60) / end
    x, y = _LEFT + span.began * scale, number * _ROW + (_ROW - _BAR) / 2
    width = max(2.0, (span.ended - span.began) * scale)
    waited = min(width, span.ready_after * scale)
    look = next((side for side in ("base", "change") if span.name.startswith(side)), "other")
    place = {"y": f"{y:.1f}", "height": f"{_BAR:g}", "rx": "3"}
    yield tag("text", span.name, x="0", y=f"{y + 11:.1f}")
    yield tag("rect", cls=f"{look}{' wait' if waited else ''}", x=f"{x:.1f}", width=f"{width:.1f}", **place)
    if waited:
        rest = max(1.0, width - waited)
        yield tag("rect", cls=look, x=f"{x + waited:.1f}", width=f"{rest:.1f}", **place)
    took = f"{span.ended - span.began:.2f} s"
    yield tag("text", took, cls="scale", x=f"{x + width + 6:.1f}", y=f"{y + 11:.1f}")
