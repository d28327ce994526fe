"""Text that a terminal shows as it is, and never obeys."""


def plain(text: str) -> str:
    """A text on one line that shows control characters instead of obeying them."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def plain_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(plain(line.expandtabs(4)) for line in text.split("\n"))
