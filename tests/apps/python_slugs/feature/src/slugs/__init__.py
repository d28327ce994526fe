"""Readable names for addresses."""

from slugs.core import slugify
from slugs.unique import Slugs

__all__ = ["Slugs", "slugify"]
