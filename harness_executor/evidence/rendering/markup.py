"""Elements of a page; a text that goes into one can be nothing but text there."""

from html import escape

from harness_executor.evidence.rendering.telling import visible
from harness_executor.kernel.frozen import frozen

_VOID = ("meta", "link")


@frozen
class Html:
    """A piece of a page."""

    text: str


Inner = Html | str


def tag(name: str, /, *inner: Inner, **attributes: str) -> Html:
    """An element; `cls` is its class, and an underscore in a name is a hyphen."""
    said = "".join(f' {_name(key)}="{escape(visible(value))}"' for key, value in attributes.items())
    opening = f"<{name}{said}>"
    return Html(opening if name in _VOID else f"{opening}{joined(*inner).text}</{name}>")


def joined(*inner: Inner) -> Html:
    """Pieces one after the other."""
    return Html("".join(one.text if isinstance(one, Html) else escape(visible(one)) for one in inner))


def _name(key: str) -> str:
    return "class" if key == "cls" else key.rstrip("_").replace("_", "-")
