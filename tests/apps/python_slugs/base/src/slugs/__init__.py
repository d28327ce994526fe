"""Readable names for addresses."""

from slugs.core import slugify

__all__ = ["slugify"]
