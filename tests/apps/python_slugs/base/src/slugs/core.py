import re
import unicodedata


def slugify(text: str, separator: str = "-") -> str:
    """Lower-case letters and digits, the rest replaced by separators."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.lower())
    if not words:
        raise ValueError("nothing is left of the text")
    return separator.join(words)
