from slugs.core import slugify


class Slugs:
    """Slugs that are all different."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def add(self, text: str) -> str:
        """A slug of the text; with a number when it is taken."""
        wanted = found = slugify(text)
        number = 1
        while found in self._taken:
            number += 1
            found = f"{wanted}-{number}"
        self._taken.add(found)
        return found
