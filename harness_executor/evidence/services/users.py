"""Who a service runs as: databases refuse to be root."""

import os

from harness_executor.sandbox.base import Box

_ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")


def ordinary(box: Box) -> tuple[str, ...]:
    """The words that make a command of root's look like anybody's; in a box everybody is nobody already."""
    return () if box.is_private or os.geteuid() else _ORDINARY
